package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
)

func TestPriceSignal(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, bolt := e.twoTenants()
	got := e.ask(acme, signalPath, "").ok(t)
	if got["homeId"] != "home1" || got["startTime"] != "2026-07-01T12:00:00.000Z" || got["endTime"] != "2026-07-02T12:00:00.000Z" {
		t.Errorf("signal from %v to %v", got["startTime"], got["endTime"])
	}
	for _, field := range []string{"data", "prices", "import", "export"} {
		if n := len(got[field].([]any)); n != 96 {
			t.Errorf("%s has %d", field, n)
		}
	}
	metadata := got["metadata"].(map[string]any)
	if metadata["generatedAt"] != "2026-07-01T12:07:30.000Z" || metadata["sequence"].(float64) == 0 {
		t.Errorf("metadata %v", metadata)
	}
	if again := e.ask(acme, signalPath, "{}").ok(t); fmt.Sprint(again) != fmt.Sprint(got) {
		t.Error("no body and {} have different responses")
	}
	short := e.ask(acme, signalPath, `{"startTime":"2026-07-01T14:01:00+02:00","endTime":"2026-07-01T14:16:00+02:00"}`).ok(t)
	if short["startTime"] != "2026-07-01T12:00:00.000Z" || len(short["data"].([]any)) != 2 {
		t.Errorf("a widened window: %v", short)
	}
	e.load(`{"resource":"solar","organizationId":"acme","homeId":"home1","solarSystemSizeKw":5}`)
	if newer := e.ask(acme, signalPath, "").ok(t)["metadata"].(map[string]any); newer["sequence"].(float64) <= metadata["sequence"].(float64) {
		t.Errorf("the sequence went from %v to %v", metadata["sequence"], newer["sequence"])
	}
	foreign, absent := e.ask(bolt, signalPath, ""), e.ask(bolt, "/v1/homes/nobody/price_signal", "")
	if foreign.expect(t, 404, rest.CodeNotFound); anonymous(foreign) != anonymous(absent) {
		t.Errorf("foreign home: %s, unknown home: %s", foreign.body, absent.body)
	}
	if fields := e.ask(bolt, "/v1/homes/home2/price_signal", "").expect(t, 400, rest.CodeValidationFailed).fields(t); !slices.Equal(fields, []string{"ratePlanId"}) {
		t.Errorf("a home without a plan: fields %v", fields)
	}
}

func TestWindows(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.twoTenants()
	for window, want := range map[string][]string{
		`"startTime":"2026-07-01T12:00:00Z"`:                                           {"endTime"},
		`"endTime":"2026-07-01T12:00:00Z"`:                                             {"startTime"},
		`"startTime":"2026-07-01T12:00:00Z","endTime":"2026-07-01T12:00:00Z"`:          {"endTime"},
		`"startTime":"2026-07-01T13:00:00Z","endTime":"2026-07-01T12:00:00Z"`:          {"endTime"},
		`"startTime":"2026-06-01T00:00:00Z","endTime":"2026-07-02T00:00:01Z"`:          {"endTime"},
		`"startTime":"2026-07-01T00:00:00Z","endTime":"2026-08-01T12:15:01Z"`:          {"endTime"},
		`"startTime":"2024-07-01T11:59:00Z","endTime":"2024-07-02T00:00:00Z"`:          {"startTime"},
		`"startTime":"yesterday","endTime":7`:                                          {"endTime", "startTime"},
		`"startTime":"yesterday"`:                                                      {"endTime", "startTime"},
		`"endTime":"0001-01-01T00:00:00Z"`:                                             {"endTime", "startTime"},
		`"startTime":"yesterday","endTime":"2026-07-02T00:00:00Z"`:                     {"startTime"},
		`"startTime":"yesterday","endTime":"2026-08-01T12:15:01Z"`:                     {"endTime", "startTime"},
		`"startTime":"2024-07-01T11:59:00Z","endTime":"tomorrow"`:                      {"endTime", "startTime"},
		`"startTime":"2026-07-01T12:00:00","endTime":"2026-07-01T13:00:00Z"`:           {"startTime"},
		`"startTime":"2026-07-01T12:00:00Z","endTime":"2026-07-01T13:00:00Z","days":1`: {"days"},
	} {
		for _, path := range []string{signalPath, triggerPath} {
			got := e.ask(acme, path, "{"+window+"}").expect(t, 400, rest.CodeValidationFailed).fields(t)
			if slices.Sort(got); !slices.Equal(slices.Compact(got), want) {
				t.Errorf("%s with %s: fields %v, want %v", path, window, got, want)
			}
		}
	}
	for _, window := range []string{
		`"startTime":"2026-06-01T00:00:00Z","endTime":"2026-07-02T00:00:00Z"`,
		`"startTime":"2026-07-02T00:00:00Z","endTime":"2026-08-01T12:15:00Z"`,
		`"startTime":"2026-07-01T12:00:00.001Z","endTime":"2026-07-01T12:00:00.002Z"`,
	} {
		for _, path := range []string{signalPath, triggerPath} {
			e.ask(acme, path, "{"+window+"}").ok(t)
		}
	}
	e.ask(acme, triggerPath, `{"startTime":null,"endTime":null}`).ok(t)
	e.ask(acme, signalPath, `{"startTime":null,"endTime":null}`).expect(t, 400, rest.CodeValidationFailed)
}

func TestSolar(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, bolt := e.twoTenants()
	create := "/v1/homes/solar/create"
	if got := e.ask(acme, create, `{"homeId":"home1","solarSystemSizeKw":5,"isNonNetMetered":true}`).ok(t); got["id"] != "home1" || got["timezone"] != "America/Los_Angeles" {
		t.Errorf("response %v", got)
	}
	e.ask(acme, create, `{"homeId":"home1","solarSystemSizeKw":1000}`).ok(t)
	solar, err := storage.Get[storage.Solar](e.store, storage.KindSolar.Ref("acme", "home1"))
	must(t, err)
	if solar.SizeKw != 1000 || solar.NonNetMetered {
		t.Errorf("the second creation left %+v", solar)
	}
	e.ask(acme, create, `{"homeId":"home1","solarSystemSizeKw":4,"applicationDate":"2024-06-01"}`).ok(t)
	want := map[string]any{"solarSystemSizeKw": 4.0, "isNonNetMetered": false, "applicationDate": "2024-06-01"}
	if got := e.ask(acme, "/v1/homes/home1/get", `{}`).ok(t)["solar"]; !reflect.DeepEqual(got, want) {
		t.Errorf("the home has the solar %v, want %v", got, want)
	}
	foreign, absent := e.ask(bolt, create, `{"homeId":"home1","solarSystemSizeKw":5}`), e.ask(bolt, create, `{"homeId":"nobody","solarSystemSizeKw":5}`)
	if foreign.expect(t, 404, rest.CodeNotFound); anonymous(foreign) != anonymous(absent) {
		t.Errorf("foreign home: %s, unknown home: %s", foreign.body, absent.body)
	}
	for body, want := range map[string][]string{
		`{}`: {"homeId", "solarSystemSizeKw"},
		`{"homeId":"home1","solarSystemSizeKw":0}`:                        {"solarSystemSizeKw"},
		`{"homeId":"home1","solarSystemSizeKw":1000.001}`:                 {"solarSystemSizeKw"},
		`{"homeId":"home1","solarSystemSizeKw":"5"}`:                      {"solarSystemSizeKw"},
		`{"homeId":"a.b","solarSystemSizeKw":5,"isNonNetMetered":1}`:      {"homeId", "isNonNetMetered"},
		`{"homeId":"home1","solarSystemSizeKw":5,"solarSystemSizeKW":5}`:  {"solarSystemSizeKW"},
		`{"homeId":"home1","solarSystemSizeKw":5,"isNonNetMetered":null}`: {"isNonNetMetered"},
	} {
		got := e.ask(acme, create, body).expect(t, 400, rest.CodeValidationFailed).fields(t)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: fields %v, want %v", body, got, want)
		}
	}
}

// Facts about solar that can only be wrong are refused by the operation and by an import.
func TestSolar_ImpossibleFacts(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.twoTenants()
	e.load(
		`{"resource":"home","organizationId":"acme","id":"sf","zipcode":"94103"}`,
		`{"resource":"home","organizationId":"acme","id":"chicago","zipcode":"60614"}`,
		`{"resource":"home","organizationId":"acme","id":"nowhere"}`,
	)
	for _, tt := range []struct {
		home, facts string
		want        map[string]string
	}{
		{"sf", `"applicationDate":"2027-07-01","connectionYear":2030,"losses":0,"exportValues":"PG&E NBT26"`, nil},
		{"sf", `"applicationDate":"2024-12-31","connectionYear":2024,"losses":1`, nil},
		{"nowhere", `"exportValues":"SCE NBT24"`, nil},
		{"sf", `"applicationDate":"2030-01-01"`, map[string]string{"applicationDate": "must be at most a year ahead, not 2030-01-01"}},
		{"sf", `"connectionYear":2099`, map[string]string{"connectionYear": "must be at most 2030, four years ahead, not 2099"}},
		{"sf", `"applicationDate":"2024-06-01","connectionYear":2023,"losses":0.14`, map[string]string{
			"connectionYear": "must not be before the year of applicationDate, 2024: a system is connected after its application",
			"losses":         "must be in percent: 0.14 looks like a fraction, which is 14 percent",
		}},
		{"sf", `"exportValues":"SCE NBT24"`, map[string]string{"exportValues": "are of a utility that does not serve the home's zipcode 94103"}},
		{"chicago", `"exportValues":"PG&E NBT24"`, map[string]string{"exportValues": "are of a utility that does not serve the home's zipcode 60614"}},
		{"sf", `"exportValues":"NBT24"`, map[string]string{
			"exportValues": "must be one of PG&E NBT00, PG&E NBT23, PG&E NBT24, PG&E NBT25, PG&E NBT26, SCE NBT23, SCE NBT24, SDG&E NBT23, SDG&E NBT24",
		}},
	} {
		body := `"homeId":"` + tt.home + `","solarSystemSizeKw":5,` + tt.facts + `}`
		got := e.ask(acme, "/v1/homes/solar/create", "{"+body)
		if tt.want == nil {
			got.ok(t)
			continue
		}
		var refused struct {
			Fields []storage.FieldError `json:"field_errors"`
		}
		must(t, json.Unmarshal(got.expect(t, 400, rest.CodeValidationFailed).body, &refused))
		report := e.imported(`{"resource":"solar","organizationId":"acme",` + body)
		if len(report.Errors) != 1 {
			t.Fatalf("the import of %s reports %+v", body, report)
		}
		for _, fields := range [][]storage.FieldError{refused.Fields, report.Errors[0].Fields} {
			wrong := map[string]string{}
			for _, f := range fields {
				wrong[f.Field] = f.Message
			}
			if !maps.Equal(wrong, tt.want) {
				t.Errorf("%s: %v, want %v", body, wrong, tt.want)
			}
		}
	}
	// Solar that was stored earlier can be exported and imported again.
	losses := 0.5
	old := storage.Solar{HomeID: "chicago", SizeKw: 5, SolarSettings: storage.SolarSettings{Losses: &losses}}
	old.OrganizationID = "acme"
	must(t, e.store.Create(t.Context(), &old))
	if report := e.imported(`{"resource":"solar","organizationId":"acme","homeId":"chicago","solarSystemSizeKw":6,"losses":0.5}`); len(report.Errors) != 0 {
		t.Errorf("the import of stored solar reports %+v", report)
	}
}

func TestDevices(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, bolt := e.twoTenants()
	e.load(
		`{"resource":"hvacDevice","organizationId":"acme","deviceId":"dev1","homeId":"home1","systemDetails":{"name":"Up","tempUnits":"C","defaultMode":"HEAT"}}`,
		`{"resource":"hvacDevice","organizationId":"acme","deviceId":"bare","homeId":"home1"}`,
		`{"resource":"hvacDevice","organizationId":"acme","deviceId":"gone","homeId":"home1","deleted":true}`,
		`{"resource":"userPreferences","organizationId":"acme","deviceId":"dev1","name":"Always"}`,
		`{"resource":"userPreferences","organizationId":"acme","deviceId":"gone","name":"Never"}`,
	)
	got := e.ask(acme, "/v1/devices/hvac/dev1/get", "").ok(t)
	for field, want := range map[string]any{
		"deviceId": "dev1", "homeId": "home1", "linked": true, "deleted": false, "lastSetPointSchedule": nil, "lastOptimizationRunData": nil, "targetCoolSetpoint": 75.0,
	} {
		if v, ok := got[field]; !ok || v != want {
			t.Errorf("%s is %v (%v), want %v", field, v, ok, want)
		}
	}
	if got := e.ask(acme, "/v1/devices/hvac/dev1/linked", `{"linked":false}`).ok(t); got["linked"] != false || got["deviceId"] != "dev1" {
		t.Errorf("unlinked: %v", got)
	}
	if got := e.ask(acme, "/v1/devices/hvac/dev1/get", "{}").ok(t); got["linked"] != false {
		t.Errorf("then: %v", got)
	}
	if got := e.ask(acme, "/v1/devices/hvac/dev1/user_preferences/get", "").ok(t); got["name"] != "Always" || fmt.Sprint(got["weeks"]) != "[]" || fmt.Sprint(got["scheduleBlocks"]) != "[]" || got["enabled"] != true {
		t.Errorf("preferences: %v", got)
	}
	none := e.ask(acme, "/v1/devices/hvac/bare/user_preferences/get", "").expect(t, 404, rest.CodeNotFound)
	if got := none.object(t)["message"]; got != `The HVAC device "bare" has no user preferences.` {
		t.Errorf("the message is %v", got)
	}
	for path, body := range map[string]string{"get": "", "linked": `{"linked":true}`, "user_preferences/get": ""} {
		absent := anonymous(e.ask(bolt, "/v1/devices/hvac/none/"+path, body).expect(t, 404, rest.CodeNotFound))
		for _, a := range []answer{e.ask(acme, "/v1/devices/hvac/gone/"+path, body), e.ask(bolt, "/v1/devices/hvac/dev1/"+path, body)} {
			if a.expect(t, 404, rest.CodeNotFound); anonymous(a) != absent {
				t.Errorf("%s: %s, want %s", path, a.body, absent)
			}
		}
	}
	for _, body := range []string{`{}`, `{"linked":null}`, `{"linked":"true"}`, `{"linked":1}`, `{"linked":true,"linked":true}`} {
		if fields := e.ask(acme, "/v1/devices/hvac/dev1/linked", body).expect(t, 400, rest.CodeValidationFailed).fields(t); !slices.Equal(fields, []string{"linked"}) {
			t.Errorf("%s: fields %v", body, fields)
		}
	}
}

func TestOnboarding(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, bolt := e.twoTenants()
	e.operate("/v1/admin/homes/create", `{"organizationId":"acme","id":"home3","zipcode":"60614"}`).ok(t)
	home := `{"homeId":"home3"}`
	do := func(operation, body string) answer { return e.ask(acme, "/v1/onboarding/"+operation, body) }
	state := func(a answer, status string, step float64) {
		t.Helper()
		if o := a.ok(t); o["status"] != status || o["step"] != step || o["homeId"] != "home3" || o["id"] == "" {
			t.Errorf("it is %v, want %s at step %v", o, status, step)
		}
	}
	state(do("status/get", home), "NOT_STARTED", 0)
	do("step/complete", home).expect(t, 409, rest.CodeConflict)
	do("fail", home).expect(t, 409, rest.CodeConflict)
	if o := do("start", `{"homeId":"home3","thermostatBrandCode":"acme-t1"}`).ok(t); o["zipcode"] != "60614" || o["eligibilityStatus"] != "eligible" || o["thermostatBrandCode"] != "acme-t1" {
		t.Errorf("started %v", o)
	}
	do("start", home).expect(t, 409, rest.CodeConflict)
	state(do("step/complete", home), "IN_PROGRESS", 1)
	state(do("step/complete", `{"homeId":"home3","step":4}`), "IN_PROGRESS", 4)
	state(do("step/complete", `{"homeId":"home3","step":4}`), "IN_PROGRESS", 4)
	do("step/complete", `{"homeId":"home3","step":3}`).expect(t, 409, rest.CodeConflict)
	state(do("fail", home), "ERROR", 4)
	do("step/complete", home).expect(t, 409, rest.CodeConflict)
	state(do("start", `{"homeId":"home3","zipcode":"00000"}`), "IN_PROGRESS", 4)
	if o := do("status/get", home).ok(t); o["eligibilityStatus"] != "notEligible" || o["zipcode"] != "00000" {
		t.Errorf("after a move: %v", o)
	}
	state(do("step/complete", `{"homeId":"home3","completed":true}`), "COMPLETED", 5)
	for _, operation := range []string{"start", "step/complete", "fail"} {
		do(operation, home).expect(t, 409, rest.CodeConflict)
	}
	state(do("status/get", home), "COMPLETED", 5)
	for _, operation := range []string{"status/get", "start", "step/complete", "fail"} {
		foreign, absent := e.ask(bolt, "/v1/onboarding/"+operation, home), e.ask(bolt, "/v1/onboarding/"+operation, `{"homeId":"nobody"}`)
		if foreign.expect(t, 404, rest.CodeNotFound); anonymous(foreign) != anonymous(absent) {
			t.Errorf("foreign %s: %s, unknown: %s", operation, foreign.body, absent.body)
		}
		if fields := do(operation, `{"homeId":"*"}`).expect(t, 400, rest.CodeValidationFailed).fields(t); !slices.Equal(fields, []string{"homeId"}) {
			t.Errorf("%s: fields %v", operation, fields)
		}
	}
	for body, field := range map[string]string{`{"homeId":"home3","zipcode":"6061"}`: "", `{"homeId":"home3","zipcode":"x"}`: "zipcode", `{"homeId":"home3","step":-1}`: "step", `{"homeId":"home3","step":1001}`: "step"} {
		operation := "start"
		if field == "step" {
			operation = "step/complete"
		}
		if a := do(operation, body); field != "" && !slices.Equal(a.expect(t, 400, rest.CodeValidationFailed).fields(t), []string{field}) {
			t.Errorf("%s: %s", body, a.body)
		}
	}
}

func TestEligibility(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.load(`{"resource":"organization","id":"acme","name":"A"}`, `{"resource":"organization","id":"bolt","name":"B"}`)
	acme, bolt := e.key("acme"), e.key("bolt")
	check := func(key, zipcode string) map[string]any {
		return e.ask(key, "/v1/onboarding/eligibility/check", `{"zipcode":"`+zipcode+`"}`).ok(t)
	}
	got := check(acme, "60614")
	for _, field := range []string{"supported", "wholesaleMarket", "tariffData", "demandResponsePrograms", "reason"} {
		if _, ok := got[field]; !ok {
			t.Errorf("%s is missing from %v", field, got)
		}
	}
	if got["supported"] != true || got["wholesaleMarket"] != true || got["tariffData"] != false {
		t.Errorf("60614 is %v", got)
	}
	if got := check(acme, "00000"); got["supported"] != false || got["reason"] == "" {
		t.Errorf("an unknown zipcode is %v", got)
	}
	// A rate plan of the utility there (Commonwealth Edison, EIA number 4110).
	e.operate("/v1/admin/plans/import", `{"id":"p","organizationId":"acme","tariff":{"eiaid":4110,"energyratestructure":[[{"rate":0.1}]]}}`).ok(t)
	if mine, theirs := check(acme, "60614"), check(bolt, "60614"); mine["tariffData"] != true || theirs["tariffData"] != false {
		t.Errorf("with acme's own plan: %v, for bolt: %v", mine, theirs)
	}
	e.pass(time.Second)
	e.operate("/v1/admin/plans/p/delete", `{"organizationId":"acme"}`).ok(t)
	if mine := check(acme, "60614"); mine["tariffData"] != false {
		t.Errorf("without it: %v", mine)
	}
	for _, bad := range []string{"", "6061A", "606144", "60614-", "12345-12345"} {
		if fields := e.ask(acme, "/v1/onboarding/eligibility/check", `{"zipcode":"`+bad+`"}`).expect(t, 400, rest.CodeValidationFailed).fields(t); !slices.Equal(fields, []string{"zipcode"}) {
			t.Errorf("%q: fields %v", bad, fields)
		}
	}
}
