package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
)

// exported returns the lines of all pages of an export.
func (e *env) exported(org, limit string) (lines []string) {
	e.t.Helper()
	for after := ""; ; {
		page := e.operate("/v1/admin/organizations/"+org+"/export", `{"limit":`+limit+`,"after":"`+after+`"}`)
		page.ok(e.t)
		var o struct {
			Data []json.RawMessage `json:"data"`
			Next string            `json:"next"`
		}
		must(e.t, json.Unmarshal(page.body, &o))
		for _, line := range o.Data {
			lines = append(lines, string(line))
		}
		if after = o.Next; after == "" {
			return lines
		}
	}
}

// An export that is imported into another server exports the same there, in one page and
// page by page. It has no object of another organization.
func TestExport_RoundTrip(t *testing.T) {
	e := newEnv(t, rest.Options{})
	ven := storage.VENID("key_ven")
	e.load(
		`{"resource":"organization","id":"acme","name":"Acme","childOrganizationIds":["bolt"]}`,
		`{"resource":"organization","id":"bolt","name":"Bolt"}`,
		`{"resource":"ratePlan","organizationId":"acme","id":"own","name":"Own","tariff":{"energyratestructure":[[{"rate":0.2}]]}}`,
		`{"resource":"ratePlan","organizationId":"acme","id":"care","tariff":{"energyratestructure":[[{"rate":0}]]}}`,
		`{"resource":"ratePlan","organizationId":"acme","id":"composed","parts":[{"planId":"own","role":"DELIVERY"},{"planId":"care","role":"ADJUSTMENT","appliesTo":["own"]}]}`,
		`{"resource":"planEvent","organizationId":"acme","planId":"own","kind":"CRITICAL_PEAK","from":"2026-07-02T21:00:00Z","to":"2026-07-03T01:00:00Z","adder":0.6}`,
		`{"resource":"planEvent","organizationId":"acme","planId":"own","kind":"PEAK_REBATE","from":"2026-07-04T21:00:00Z","to":"2026-07-05T01:00:00Z","adder":1}`,
		`{"resource":"marketSeries","organizationId":"acme","node":"COMED","market":"REAL_TIME","timezone":"America/Chicago","startTime":"2026-06-30T22:00:00Z","prices":[0.03,null,0.05,0.04]}`,
		`{"resource":"home","organizationId":"acme","id":"h1","ratePlanId":"own","timezone":"America/Chicago","zipcode":"60614"}`,
		`{"resource":"home","organizationId":"acme","id":"h2","timezone":"America/Chicago","enabled":false}`,
		`{"resource":"home","organizationId":"bolt","id":"foreign","timezone":"America/Chicago"}`,
		`{"resource":"solar","organizationId":"acme","homeId":"h1","solarSystemSizeKw":7.5}`,
		`{"resource":"usage","organizationId":"acme","homeId":"h1","assumedMonthlyKwh":700}`,
		measuredLine("acme", "h1", 500, "2025-05", "2025-06"),
		`{"resource":"homeMarket","organizationId":"acme","homeId":"h1","node":"COMED","market":"REAL_TIME"}`,
		`{"resource":"hvacDevice","organizationId":"acme","deviceId":"dev1","homeId":"h1","systemDetails":{"name":"Up","tempUnits":"F","defaultMode":"AUTO"},"lastSetPointSchedule":{"a":1}}`,
		`{"resource":"userPreferences","organizationId":"acme","deviceId":"dev1","name":"Always","scheduleBlocks":[{"startTimeMinutes":0,"endTimeMinutes":60,"mode":"COOL","targetCoolSetpoint":null,"targetHeatSetpoint":60,"maxTemp":80,"minTemp":55,"daysOfWeek":[0,6],"scheduleType":"RECURRING"}]}`,
		`{"resource":"onboarding","organizationId":"acme","homeId":"h1","zipcode":"60614"}`,
		`{"resource":"webhookEndpoint","organizationId":"acme","id":"ep1","url":"https://acme.example/hooks","batchSize":10}`,
		`{"resource":"key","organizationId":"acme","keyId":"key_ven","description":"VEN","scopes":["openadr:ven"],"expiresAt":"2027-01-01T00:00:00Z"}`,
		`{"resource":"key","organizationId":"bolt","keyId":"key_foreign","scopes":["read"]}`,
		`{"resource":"channel","organizationId":"acme","id":"oncall","kind":"EMAIL","address":"ops@acme.example","events":["endpoint.failing"],"enabled":false}`,
		`{"resource":"schedule","organizationId":"acme","id":"quarter","description":"each quarter hour"}`,
		`{"resource":"schedule","organizationId":"acme","id":"noon","cron":"30 13 * * *","timezone":"America/Chicago","enabled":false,"window":{"offsetMinutes":630,"lengthMinutes":1440}}`,
		`{"resource":"schedule","organizationId":"acme","id":"prices","onPriceChange":true}`,
		`{"resource":"openadrProgram","organizationId":"acme","id":"program_1","object":{"programName":"Peak","targets":["group"],"attributes":[{"type":"A<B","values":[1.5,"x",true]}]}}`,
		`{"resource":"openadrEvent","organizationId":"acme","id":"event_1","object":{"programID":"program_1","eventName":"Today","priority":0,"intervals":[{"id":0,"payloads":[{"type":"PRICE","values":[0.17]}]}]}}`,
		`{"resource":"openadrVen","organizationId":"acme","id":"`+ven+`","object":{"objectType":"BL_VEN_REQUEST","clientID":"key_ven","venName":"meter","targets":["group"]}}`,
		`{"resource":"openadrResource","organizationId":"acme","id":"`+ven+`_1","object":{"objectType":"BL_RESOURCE_REQUEST","clientID":"key_ven","venID":"`+ven+`","resourceName":"pump","targets":["pumps"]}}`,
		`{"resource":"openadrReport","organizationId":"acme","id":"report_1","clientId":"key_ven","object":{"eventID":"event_1","clientName":"meter","resources":[{"resourceName":"pump","intervals":[{"id":0,"payloads":[{"type":"USAGE","values":[1]}]}]}]}}`,
		`{"resource":"openadrSubscription","organizationId":"acme","id":"sub_1","clientId":"key_ven","object":{"clientName":"meter","programID":"program_1","objectOperations":[{"objects":["EVENT"],"operations":["CREATE"],"callbackUrl":"https://acme.example/events"}]}}`,
		`{"resource":"source","organizationId":"acme","id":"hub","adapter":"csv","url":"https://prices.example/","parameters":{"node":"HUB"},"everySeconds":900,"enabled":false}`,
		`{"resource":"source","id":"foreign","adapter":"csv","url":"https://prices.example/","parameters":{"node":"HUB"}}`,
	)
	want := e.exported("acme", "1000")
	if text := strings.Join(want, "\n"); len(want) != 30 || strings.Contains(text, "foreign") || strings.Contains(text, "createdAt") {
		t.Errorf("%d lines:\n%s", len(want), text)
	}
	if paged := e.exported("acme", "1"); !slices.Equal(paged, want) {
		t.Errorf("page by page it has %d lines", len(paged))
	}
	again := e.importLines(strings.Join(want, "\n")).ok(t)
	if again["unchanged"] != float64(len(want)) {
		t.Errorf("imported into the same server: %v", again)
	}
	other := startEnv(t, rest.Options{})
	other.load(want...)
	if got := other.exported("acme", "1000"); !slices.Equal(got, want) {
		t.Errorf("another server exports\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	receipt := other.operate("/v1/admin/organizations/acme/delete", `{"confirm":"acme"}`).ok(t)
	if records := receipt["records"].(map[string]any); receipt["complete"] != true || records["openadrSubscription"] != 1.0 || records["schedule"] != 3.0 {
		t.Errorf("the deletion's receipt is %v", receipt)
	}
}

// An export has no secret. Imported into the same server it keeps the secrets, and on
// another server the lines with masks are refused.
func TestExport_Secrets(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.load(
		`{"resource":"organization","id":"acme","name":"Acme"}`,
		`{"resource":"webhookEndpoint","organizationId":"acme","id":"ep1","url":"https://acme.example/hooks?token=quiet1","headers":{"X-Key":"quiet2"},"authentication":{"type":"bearer","token":"quiet3"}}`,
		`{"resource":"channel","organizationId":"acme","id":"oncall","kind":"SLACK","address":"https://hooks.example/quiet4"}`,
		`{"resource":"openadrSubscription","organizationId":"acme","id":"sub_1","clientId":"key_1","object":{"clientName":"meter","objectOperations":[{"objects":["EVENT"],"operations":["CREATE"],"callbackUrl":"https://acme.example/events?token=quiet5","bearerToken":"quiet6"},{"objects":["VEN"],"operations":["DELETE"],"callbackUrl":"https://acme.example/vens","bearerToken":"quiet7"}]}}`,
	)
	secret := e.imported(`{"resource":"key","organizationId":"acme","keyId":"key_1","scopes":["read"]}`).Secrets[0].Secret
	e.ask(secret, endpointsPath+"list", "").ok(t)
	lines := e.exported("acme", "100")
	if text := strings.Join(lines, "\n"); strings.Contains(text, "quiet") || strings.Contains(text, "whsec_") || strings.Contains(text, "secretHash") {
		t.Errorf("the export has a secret:\n%s", text)
	}
	if again := e.importLines(strings.Join(lines, "\n")).ok(t); again["unchanged"] != 5.0 {
		t.Errorf("imported into the same server: %v", again)
	}
	other := startEnv(t, rest.Options{})
	if got := other.importLines(strings.Join(lines, "\n")).ok(t); got["created"] != 2.0 || got["failed"] != 3.0 {
		t.Errorf("imported into another server: %v", got)
	}
	e.ask(secret, endpointsPath+"list", "").ok(t) // the same secrets as before
	o, err := storage.Get[storage.OpenADRObject](e.store, storage.OpenADRRef(storage.OpenADRSubscription, "acme", "sub_1"))
	must(t, err)
	for n, want := range []string{"quiet6", "quiet7"} {
		callback := o.Endpoint(n)
		if token, err := e.vault.Open("acme", callback.ID, callback.Authentication.Sealed); token != want || err != nil {
			t.Errorf("callback %d has the token %q, %v", n, token, err)
		}
	}
	if a := e.operate("/v1/admin/organizations/none/export", "").expect(t, 404, rest.CodeNotFound); !strings.Contains(string(a.body), `There is no organization \"none\".`) {
		t.Errorf("the response for an unknown organization is %s", a.body)
	}
	e.operate("/v1/admin/organizations/acme/export", `{"after":"home"}`).expect(t, 400, rest.CodeValidationFailed)
}

// An export of OpenADR objects imports without a change: also a report and a subscription whose
// event and program are deleted, and texts that the store escapes.
func TestExport_OpenADR(t *testing.T) {
	e := newEnv(t, rest.Options{})
	object := func(kind, id, more, object string) string {
		return fmt.Sprintf(`{"resource":"openadr%s","organizationId":"acme","id":"%s"%s,"object":{%s}}`, kind, id, more, object)
	}
	const client = `,"clientId":"key_1"`
	e.load(`{"resource":"organization","id":"acme","name":"A"}`,
		object("Program", "program_1", "", `"programName":"Peak"`),
		object("Program", "program_2", "", `"programName":"Long","attributes":[{"type":"xml","values":["`+strings.Repeat("<", 60<<10)+`"]}]`),
		object("Event", "event_1", "", `"programID":"program_1","intervals":[]`),
		object("Report", "report_1", client, `"eventID":"event_1","clientName":"c","resources":[]`),
		object("Subscription", "sub_1", client, `"programID":"program_1","clientName":"c","objectOperations":[{"objects":["EVENT"],"operations":["CREATE"],"callbackUrl":"https://acme.example/"}]`))
	for _, ref := range []storage.Ref{storage.OpenADRRef(storage.OpenADREvent, "acme", "event_1"), storage.OpenADRRef(storage.OpenADRProgram, "acme", "program_1")} {
		_, err := storage.Update(t.Context(), e.store, ref, func(o *storage.OpenADRObject) error { o.Removed = true; return nil })
		must(t, err)
	}
	lines := e.exported("acme", "100")
	if got := e.imported(strings.Join(lines, "\n")); got.Unchanged != len(lines) || len(lines) != 4 {
		t.Errorf("the import of %d lines ends as %+v", len(lines), got)
	}
}
