package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// everything is a line of each resource, in an order that works only if the importer
// sorts the lines.
const everything = `
{"resource":"webhookEndpoint","organizationId":"acme","id":"ep1","url":"https://acme.example/hooks"}
{"resource":"webhookEndpoint","organizationId":"acme","id":"ep2","url":"https://acme.example/own","secret":"whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}
{"resource":"userPreferences","organizationId":"acme","deviceId":"dev1","name":"Always","scheduleBlocks":[{"startTimeMinutes":0,"endTimeMinutes":60,"mode":"COOL","targetCoolSetpoint":null,"targetHeatSetpoint":60,"maxTemp":80,"minTemp":55,"daysOfWeek":[0,6],"scheduleType":"RECURRING"}]}
{"resource":"hvacDevice","organizationId":"acme","deviceId":"dev1","homeId":"home1","systemDetails":{"name":"Upstairs","tempUnits":"F","defaultMode":"AUTO"},"lastSetPointSchedule":{"a":1}}
{"resource":"onboarding","organizationId":"acme","homeId":"home1","zipcode":"60614"}

{"resource":"solar","organizationId":"acme","homeId":"home1","solarSystemSizeKw":7.5}
{"resource":"home","organizationId":"acme","id":"home1","ratePlanId":"later","timezone":"America/Chicago","createdAt":"2020-01-01T00:00:00Z"}
{"resource":"ratePlan","id":"plan1","tariff":{"energyratestructure":[[{"rate":0.1}]]}}
{"resource":"ratePlan","organizationId":"acme","id":"plan1","name":"Own","tariff":{"energyratestructure":[[{"rate":0.2}]]}}
{"resource":"organization","organizationId":"acme","name":"Acme"}
`

func (e *env) imported(ndjson string) wire.Imported {
	e.t.Helper()
	a := e.importLines(ndjson)
	a.ok(e.t)
	var got wire.Imported
	must(e.t, json.Unmarshal(a.body, &got))
	return got
}

func TestImport_Idempotent(t *testing.T) {
	e := newEnv(t, rest.Options{})
	first := e.imported(everything)
	if first.Lines != 10 || first.Created != 10 || first.Failed != 0 {
		t.Fatalf("first: %+v", first)
	}
	if len(first.Secrets) != 1 || first.Secrets[0].ID != "ep1" || first.Secrets[0].Line != 2 {
		t.Errorf("the new secrets are %+v", first.Secrets)
	}
	if got := e.secrets("ep1"); !slices.Equal(got, []string{first.Secrets[0].Secret}) {
		t.Errorf("stored %v, response %v", got, first.Secrets)
	}
	revision := e.store.Revision()
	e.pass(time.Hour)
	for _, again := range []string{everything, everything + everything, strings.ReplaceAll(everything, "\n", "\r\n")} {
		got := e.imported(again)
		if got.Unchanged != got.Lines || got.Created+got.Updated+got.Failed != 0 || len(got.Secrets) != 0 {
			t.Errorf("again: %+v", got)
		}
	}
	if e.store.Revision() != revision {
		t.Errorf("the second import wrote %d records", e.store.Revision()-revision)
	}
	home, err := storage.Get[storage.Home](e.store, storage.KindHome.Ref("acme", "home1"))
	must(t, err)
	if !home.CreatedAt.Equal(start) || !home.UpdatedAt.Equal(start) {
		t.Errorf("the home's times are %v and %v", home.CreatedAt, home.UpdatedAt)
	}
}

func TestImport_Updates(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.imported(everything)
	own := e.secrets("ep2")[0]
	e.pass(time.Hour)
	got := e.imported(`{"resource":"organization","id":"acme","name":"Acme & Sons"}
{"resource":"webhookEndpoint","organizationId":"acme","id":"ep2","url":"https://acme.example/moved"}
{"resource":"webhookEndpoint","organizationId":"acme","id":"ep1","url":"https://acme.example/hooks","secret":"whsec_` + own32 + `"}`)
	if got.Updated != 3 || got.Failed != 0 || len(got.Secrets) != 0 {
		t.Fatalf("updated: %+v", got)
	}
	if now := e.secrets("ep2"); !slices.Equal(now, []string{own}) {
		t.Errorf("a line without a secret changed it to %v", now)
	}
	if now := e.secrets("ep1"); len(now) != 2 || now[0] != "whsec_"+own32 {
		t.Errorf("a line with another secret changed it to %v", now)
	}
}

func TestImport_RepeatedEndpoint(t *testing.T) {
	e := newEnv(t, rest.Options{})
	line := `{"resource":"webhookEndpoint","organizationId":"acme","id":"ep9","url":"https://acme.example/"}` + "\n"
	got := e.imported(`{"resource":"organization","id":"acme","name":"A"}` + "\n" + line + line)
	if got.Created != 2 || got.Unchanged != 1 || len(got.Secrets) != 1 || !slices.Equal(e.secrets("ep9"), []string{got.Secrets[0].Secret}) {
		t.Errorf("imported %+v, stored %v", got, e.secrets("ep9"))
	}
}

func TestImport_Errors(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.load(everything)
	for _, c := range []struct {
		line     string
		resource string
		fields   []string
	}{
		{`nonsense`, "", []string{"line"}},
		{`[]`, "", []string{"line"}},
		{`[{"resource":"organization","id":"acme","name":"A"}]`, "", []string{"line"}},
		{`7`, "", []string{"line"}},
		{`{"resource":"home"} {}`, "", []string{"line"}},
		{`{}`, "", []string{"resource"}},
		{`{"resource":7}`, "", []string{"resource"}},
		{`{"resource":"toaster"}`, "toaster", []string{"resource"}},
		{`{"resource":"replay","organizationId":"acme"}`, "replay", []string{"resource"}},
		{`{"resource":"vault","organizationId":"acme"}`, "vault", []string{"resource"}},
		{`{"RESOURCE":"home","organizationId":"acme","id":"h"}`, "", []string{"resource"}},
		{`{"resource":"home","resource":"home","organizationId":"acme","id":"h"}`, "home", []string{"resource"}},
		{`{"resource":"home","id":"h"}`, "home", []string{"organizationId"}},
		{`{"resource":"home","organizationId":"_","id":"h"}`, "home", []string{"organizationId"}},
		{`{"resource":"home","organizationId":"nobody","id":"h.h","zipcode":7,"timezone":"x"}`, "home", []string{"id", "organizationId", "timezone", "zipcode"}},
		{`{"resource":"home","organizationId":"acme","id":"h","color":"red"}`, "home", []string{"color"}},
		{`{"resource":"solar","organizationId":"acme","homeId":"none","solarSystemSizeKw":0}`, "solar", []string{"homeId", "solarSystemSizeKw"}},
		{`{"resource":"solar","organizationId":"acme","homeId":"home1","solarSystemSizeKw":1000.1}`, "solar", []string{"solarSystemSizeKw"}},
		{`{"resource":"hvacDevice","organizationId":"acme","deviceId":"d","homeId":"none","maxTemp":200,"lastSetPointSchedule":[]}`, "hvacDevice", []string{"homeId", "lastSetPointSchedule", "maxTemp"}},
		{`{"resource":"userPreferences","organizationId":"acme","deviceId":"none","name":"","weeks":[52]}`, "userPreferences", []string{"deviceId", "name", "weeks[0]"}},
		{`{"resource":"webhookEndpoint","organizationId":"acme","id":"sub_1","url":"https://acme.example/hooks"}`, "webhookEndpoint", []string{"id"}},
		{`{"resource":"onboarding","organizationId":"acme","homeId":"none","status":"LATE"}`, "onboarding", []string{"homeId", "status"}},
		{`{"resource":"organization","organizationId":"acme","id":"other","name":"x"}`, "organization", []string{"organizationId"}},
		{`{"resource":"organization","id":"_","name":"x"}`, "organization", []string{"id"}},
		{`{"resource":"ratePlan","organizationId":"nobody","id":"p","tariff":{}}`, "ratePlan", []string{"organizationId", "tariff.energyratestructure"}},
		{`{"resource":"webhookEndpoint","organizationId":"acme","id":"e","url":"https://localhost/","secret":"x"}`, "webhookEndpoint", []string{"secret", "url"}},
		{`{"resource":"webhookEndpoint","organizationId":"acme","url":"https://a.example/"}`, "webhookEndpoint", []string{"id"}},
	} {
		good := `{"resource":"home","organizationId":"acme","id":"home1","ratePlanId":"later","timezone":"America/Chicago"}`
		got := e.imported("\n" + good + "\n" + c.line + "\n" + good)
		if got.Lines != 3 || got.Unchanged != 2 || got.Failed != 1 || len(got.Errors) != 1 {
			t.Errorf("%s: %+v", c.line, got)
			continue
		}
		names := []string{}
		for _, f := range got.Errors[0].Fields {
			names = append(names, f.Field)
		}
		slices.Sort(names)
		if e := got.Errors[0]; e.Line != 3 || e.Resource != c.resource || !slices.Equal(slices.Compact(names), c.fields) {
			t.Errorf("%s: %+v, want fields %v", c.line, e, c.fields)
		}
	}
}

// TestImport_ScheduleBounds checks the first and the last value of each field of a device and
// its schedule: temperatures between -50 and 200, minutes of the day, weeks and days.
func TestImport_ScheduleBounds(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.load(everything)
	device := func(temperature float64) string {
		return fmt.Sprintf(`{"resource":"hvacDevice","organizationId":"acme","deviceId":"bounds","homeId":"home1",`+
			`"targetCoolSetpoint":%[1]v,"targetHeatSetpoint":%[1]v,"maxTemp":%[1]v,"minTemp":%[1]v,"currentTemp":%[1]v}`, temperature)
	}
	schedule := func(name string, temperature float64, week, from, to, day int) string {
		return fmt.Sprintf(`{"resource":"userPreferences","organizationId":"acme","deviceId":"bounds","name":%q,"weeks":[%d],`+
			`"defaultMaxTemp":%[3]v,"defaultMinTemp":%[3]v,"defaultCoolSetpoint":%[3]v,"defaultHeatSetpoint":%[3]v,`+
			`"scheduleBlocks":[{"startTimeMinutes":%[4]d,"endTimeMinutes":%[5]d,"daysOfWeek":[%[6]d],"mode":"AUTO","scheduleType":"RECURRING",`+
			`"targetCoolSetpoint":%[3]v,"targetHeatSetpoint":%[3]v,"maxTemp":%[3]v,"minTemp":%[3]v}]}`, name, week, temperature, from, to, day)
	}
	e.load(device(-49.99), device(199.99), schedule("a", -49.99, 0, 0, 1, 0), schedule("a", 199.99, 51, 1439, 1440, 6))
	const block = "scheduleBlocks[0]."
	ofDevice := []string{"currentTemp", "maxTemp", "minTemp", "targetCoolSetpoint", "targetHeatSetpoint"}
	ofSchedule := []string{"defaultCoolSetpoint", "defaultHeatSetpoint", "defaultMaxTemp", "defaultMinTemp",
		block + "maxTemp", block + "minTemp", block + "targetCoolSetpoint", block + "targetHeatSetpoint"}
	for _, c := range []struct {
		line string
		want []string
	}{
		{device(-50), ofDevice},
		{device(200), ofDevice},
		{schedule("a", -50, 0, 0, 1, 0), ofSchedule},
		{schedule("a", 200, 0, 0, 1, 0), ofSchedule},
		{schedule("", 70, 52, -1, 1441, 7), []string{"name", block + "daysOfWeek[0]", block + "endTimeMinutes", block + "startTimeMinutes", "weeks[0]"}},
		{schedule("a", 70, -1, 1440, 1440, -1), []string{block + "daysOfWeek[0]", block + "endTimeMinutes", block + "startTimeMinutes", "weeks[0]"}},
	} {
		names := []string{}
		for _, failed := range e.imported(c.line).Errors {
			for _, f := range failed.Fields {
				names = append(names, f.Field)
			}
		}
		if slices.Sort(names); !slices.Equal(names, c.want) {
			t.Errorf("%s: fields %v, want %v", c.line, names, c.want)
		}
	}
}

func TestImport_ReportOrder(t *testing.T) {
	e := newEnv(t, rest.Options{})
	got := e.imported(`{"resource":"webhookEndpoint"}` + "\n" + `{"resource":"home"}` + "\n{\n" + `{"resource":"organization"}`)
	lines := []int{}
	for _, e := range got.Errors {
		lines = append(lines, e.Line)
	}
	if !slices.Equal(lines, []int{1, 2, 3, 4}) {
		t.Errorf("lines %v", lines)
	}
}

func TestImport_ManyHomes(t *testing.T) {
	e := newEnv(t, rest.Options{})
	const homes = 2500 // more than two batches of the log
	var b strings.Builder
	b.WriteString(`{"resource":"organization","id":"acme","name":"A"}` + "\n")
	for i := range homes {
		fmt.Fprintf(&b, `{"resource":"home","organizationId":"acme","id":"h%d"}`+"\n", i)
	}
	if got := e.imported(b.String()); got.Created != homes+1 {
		t.Errorf("created %d", got.Created)
	}
	must(t, e.store.View(func(v storage.View) error {
		if n := v.Count(storage.KindHome, "acme"); n != homes {
			t.Errorf("%d homes", n)
		}
		return nil
	}))
}

func TestImport_Limits(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.importLines(strings.Repeat("\n", 200_001)).expect(t, 400, rest.CodeValidationFailed)
	e.importLines("").expect(t, 400, rest.CodeValidationFailed)
	if got := e.imported("{\"resource\":\"home\",\"name\":\"" + strings.Repeat("a", 1<<20) + "\"}"); got.Failed != 1 || got.Errors[0].Fields[0].Field != "line" {
		t.Errorf("a long line: %+v", got)
	}
}

// TestImport_KeepsState checks that a line keeps the state that it does not name: the
// progress of an onboarding, an unlinked device, a disabled endpoint with its reason.
func TestImport_KeepsState(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.imported(everything)
	e.load(`{"resource":"onboarding","organizationId":"acme","homeId":"home1","zipcode":"60614","status":"COMPLETED","step":3}`,
		`{"resource":"hvacDevice","organizationId":"acme","deviceId":"dev1","homeId":"home1","linked":false}`)
	for _, id := range []string{"ep1", "ep2"} {
		_, err := storage.Update(t.Context(), e.store, storage.KindWebhookEndpoint.Ref("acme", id), func(w *storage.WebhookEndpoint) error {
			w.Enabled, w.Disabled = false, &storage.Disabled{Reason: "410"}
			return nil
		})
		must(t, err)
	}
	e.imported(everything)
	e.load(`{"resource":"webhookEndpoint","organizationId":"acme","id":"ep2","url":"https://acme.example/own","enabled":false}`)
	flow, err := storage.Get[storage.Onboarding](e.store, storage.KindOnboarding.Ref("acme", "home1"))
	if err != nil || flow.Status != storage.OnboardingCompleted || flow.Step != 3 {
		t.Errorf("the onboarding is %+v, %v", flow, err)
	}
	if d, err := storage.Get[storage.HVACDevice](e.store, storage.KindHVACDevice.Ref("acme", "dev1")); err != nil || d.Linked {
		t.Errorf("the device is linked: %t, %v", d.Linked, err)
	}
	for _, id := range []string{"ep1", "ep2"} {
		if w := e.stored(id); w.Enabled || w.Disabled == nil || w.Disabled.Reason != "410" {
			t.Errorf("%s is enabled: %t, disabled for %+v", id, w.Enabled, w.Disabled)
		}
	}
	e.load(`{"resource":"onboarding","organizationId":"acme","homeId":"home1","status":"NOT_STARTED"}`,
		`{"resource":"hvacDevice","organizationId":"acme","deviceId":"dev1","homeId":"home1","linked":true}`,
		`{"resource":"webhookEndpoint","organizationId":"acme","id":"ep1","url":"https://acme.example/hooks","enabled":true}`)
	flow, err = storage.Get[storage.Onboarding](e.store, storage.KindOnboarding.Ref("acme", "home1"))
	if err != nil || flow.Status != storage.OnboardingNotStarted || flow.Zipcode != "60614" {
		t.Errorf("a line that names the status: %+v, %v", flow, err)
	}
	if d, _ := storage.Get[storage.HVACDevice](e.store, storage.KindHVACDevice.Ref("acme", "dev1")); !d.Linked {
		t.Error("a line that names linked does not set it")
	}
	if w := e.stored("ep1"); !w.Enabled || w.Disabled != nil {
		t.Errorf("a line that names enabled: %t, %+v", w.Enabled, w.Disabled)
	}
}

// TestImport_RepeatedLines checks that two lines of one import that name the same resource
// have the result of two imports: the second line keeps what the first one has set.
func TestImport_RepeatedLines(t *testing.T) {
	e := newEnv(t, rest.Options{})
	inBolt := func(lines string) string { return strings.ReplaceAll(lines, "acme", "bolt") }
	e.load(everything + inBolt(strings.ReplaceAll(everything, `{"resource":"ratePlan","id"`, `{"resource":"ratePlan","organizationId":"acme","id"`)))
	for _, c := range []struct{ first, second string }{
		{`{"resource":"hvacDevice","organizationId":"acme","deviceId":"dev2","homeId":"home1","linked":false}`,
			`{"resource":"hvacDevice","organizationId":"acme","deviceId":"dev2","homeId":"home1","maxTemp":79}`},
		{`{"resource":"onboarding","organizationId":"acme","homeId":"home1","status":"COMPLETED","step":3}`,
			`{"resource":"onboarding","organizationId":"acme","homeId":"home1","zipcode":"94110"}`},
		{`{"resource":"channel","organizationId":"acme","id":"ch1","kind":"SLACK","address":"https://hooks.example/secret","enabled":false}`,
			`{"resource":"channel","organizationId":"acme","id":"ch1","kind":"SLACK","address":"https://hooks.example/********"}`},
		{`{"resource":"schedule","organizationId":"acme","id":"sch1","enabled":false}`,
			`{"resource":"schedule","organizationId":"acme","id":"sch1","description":"hourly"}`},
		{`{"resource":"source","organizationId":"acme","id":"src1","adapter":"pjm","secret":"abc","parameters":{"node":"51291"}}`,
			`{"resource":"source","organizationId":"acme","id":"src1","adapter":"pjm","secret":"********","parameters":{"node":"51291"},"description":"new"}`},
		{`{"resource":"webhookEndpoint","organizationId":"acme","id":"ep3","url":"https://hooks.example/?key=abc","headers":{"X-Key":"abc"},"enabled":false}`,
			`{"resource":"webhookEndpoint","organizationId":"acme","id":"ep3","url":"https://hooks.example/?********","headers":{"X-Key":"********"}}`},
		{`{"resource":"measuredLoad","organizationId":"acme","homeId":"home1","months":[{"month":"2026-05","kwh":5,"watts":[` + strings.Repeat("7,", 23) + `7]}]}`,
			`{"resource":"measuredLoad","organizationId":"acme","homeId":"home1","months":[{"month":"2026-06","kwh":6,"watts":[` + strings.Repeat("8,", 23) + `8]}]}`},
	} {
		if got := e.imported(c.first + "\n" + c.second); got.Failed > 0 {
			t.Errorf("%s: imported %+v", c.second, got)
		}
		e.load(inBolt(c.first))
		e.load(inBolt(c.second))
	}
	got, want := e.exported("acme", "100"), e.exported("bolt", "100")
	for i := range want {
		if got[i] = inBolt(got[i]); got[i] != want[i] {
			t.Errorf("one import stores\n%s\ntwo imports store\n%s", got[i], want[i])
		}
	}
}

// TestImport_SharedPlan checks that the error of an event without an organization says that
// only shared plans were looked up.
func TestImport_SharedPlan(t *testing.T) {
	e := newEnv(t, rest.Options{})
	got := e.imported(`{"resource":"planEvent","planId":"plan1","kind":"CRITICAL_PEAK","from":"2026-07-02T21:00:00Z","to":"2026-07-03T01:00:00Z","adder":0.6}`)
	want := `no shared rate plan "plan1": if an organization has it, add organizationId`
	if got.Failed != 1 || got.Errors[0].Fields[0].Message != want {
		t.Errorf("imported %+v, want the error %s", got, want)
	}
}

// TestImport_DamagedRecords checks that an import repairs records that do not decode. It
// cannot repair the events of a plan, and reports only that line.
func TestImport_DamagedRecords(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.imported(everything)
	for _, ref := range []storage.Ref{
		storage.OrganizationRef("acme"), storage.KindHome.Ref("acme", "home1"), storage.KindHVACDevice.Ref("acme", "dev1"),
		storage.KindOnboarding.Ref("acme", "home1"), storage.KindWebhookEndpoint.Ref("acme", "ep1"), storage.KindPlanEvent.Ref("acme", "plan1"),
	} {
		e.damage(ref)
	}
	event := `{"resource":"planEvent","organizationId":"acme","planId":"plan1","kind":"CRITICAL_PEAK","from":"2026-07-02T21:00:00Z","to":"2026-07-03T01:00:00Z","adder":0.6}`
	got := e.imported(everything + event)
	if got.Updated != 5 || got.Failed != 1 || got.Errors[0].Resource != "planEvent" || len(got.Secrets) != 1 {
		t.Errorf("imported %+v", got)
	}
	if w := e.stored("ep1"); w.URL != "https://acme.example/hooks" || len(w.Secrets) != 1 {
		t.Errorf("the endpoint is %+v", w)
	}
}

// An import reports every wrong line, but beyond 100,000 wrong fields only the first of a line.
func TestImport_ManyWrongFields(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.twoTenants()
	var unknown strings.Builder
	for i := range 101 {
		fmt.Fprintf(&unknown, `,"x%d":1`, i)
	}
	const lines = 1_100
	body := strings.Repeat(`{"resource":"home","organizationId":"acme","id":"home1"`+unknown.String()+"}\n", lines)
	report, fields := e.imported(body), 0
	for _, wrong := range report.Errors {
		fields += len(wrong.Fields)
	}
	if report.Failed != lines || len(report.Errors) != lines || fields > 100_000+lines {
		t.Errorf("%d lines failed, %d are reported with %d fields", report.Failed, len(report.Errors), fields)
	}
	if first, last := report.Errors[0], report.Errors[lines-1]; len(first.Fields) != 101 || len(last.Fields) != 1 {
		t.Errorf("the first line has %d errors and the last %d", len(first.Fields), len(last.Fields))
	}
}
