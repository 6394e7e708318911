package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
)

// failures returns the fields that an import of one line refuses.
func (e *env) failures(line string) (names []string) {
	e.t.Helper()
	got := e.imported(line)
	for _, wrong := range got.Errors {
		for _, f := range wrong.Fields {
			names = append(names, f.Field)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// An import creates a key with a new secret for an operator with the role admin. It never
// changes a stored key, so that an old file does not restore permissions.
func TestImport_Keys(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.load(`{"resource":"organization","id":"acme","name":"A"}`, `{"resource":"organization","id":"bolt","name":"B"}`)
	line := `{"resource":"key","organizationId":"acme","keyId":"key_1","scopes":["write","read","read"]}`
	_, operate := e.operatorKey(storage.RoleOperate)
	refused := e.send(request{url: e.admin.URL + "/v1/admin/import", body: line, header: http.Header{rest.KeyHeader: {operate}, "Content-Type": {"application/x-ndjson"}}})
	if got := refused.ok(t); got["failed"] != 1.0 || len(got["secrets"].([]any)) != 0 || !strings.Contains(string(refused.body), `"resource","message":"requires`) {
		t.Errorf("an operator without the role admin imports %s", refused.body)
	}
	_, admin := e.operatorKey(storage.RoleAdmin)
	other := strings.ReplaceAll(line, "key_1", "key_admin")
	if got := e.send(request{url: e.admin.URL + "/v1/admin/import", body: other, header: http.Header{rest.KeyHeader: {admin}, "Content-Type": {"application/x-ndjson"}}}).ok(t); got["created"] != 1.0 {
		t.Errorf("an operator with the role admin imports %v", got)
	}
	got := e.imported(line + "\n" + line)
	if got.Created != 1 || got.Unchanged != 1 || len(got.Secrets) != 1 || got.Secrets[0].ID != "key_1" {
		t.Fatalf("imported %+v", got)
	}
	e.ask(got.Secrets[0].Secret, endpointsPath+"list", "").ok(t)
	for _, c := range []struct {
		line  string
		wrong []string
	}{
		{line, nil},
		{`{"resource":"key","organizationId":"acme","keyId":"key_1","scopes":["read","write","trigger"]}`, []string{"keyId"}},
		{`{"resource":"key","organizationId":"acme","keyId":"key_1","scopes":["read","write"],"expiresAt":"2027-01-01T00:00:00Z"}`, []string{"keyId"}},
		{`{"resource":"key","organizationId":"bolt","keyId":"key_1","scopes":["read"]}`, []string{"keyId"}},
		{`{"resource":"key","organizationId":"bolt","keyId":"key_2","scopes":["read"],"expiresAt":"2026-01-01T00:00:00Z"}`, []string{"expiresAt"}},
		{`{"resource":"key","organizationId":"acme","keyId":"operator","scopes":["read"]}`, []string{"keyId"}},
		{`{"resource":"key","organizationId":"none","keyId":"key_2","scopes":[]}`, []string{"organizationId", "scopes"}},
		{`{"resource":"key","organizationId":"acme","keyId":"key_2","scopes":["read"],"secretHash":"00"}`, []string{"secretHash"}},
	} {
		if wrong := e.failures(c.line); !slices.Equal(wrong, c.wrong) {
			t.Errorf("%s: wrong fields %v, want %v", c.line, wrong, c.wrong)
		}
	}
	both := e.imported(strings.ReplaceAll(line, "key_1", "key_3") + "\n" + strings.ReplaceAll(strings.ReplaceAll(line, "key_1", "key_3"), "acme", "bolt"))
	if both.Created != 1 || both.Failed != 1 {
		t.Errorf("a key of two organizations: %+v", both)
	}
	e.operate("/v1/admin/keys/key_1/revoke", "").ok(t)
	if wrong := e.failures(line); !slices.Equal(wrong, []string{"keyId"}) {
		t.Errorf("a revoked key: wrong fields %v", wrong)
	}
	if text := strings.Join(e.exported("acme", "100"), "\n"); strings.Contains(text, "key_1") || !strings.Contains(text, "key_3") {
		t.Errorf("the export has the keys\n%s", text)
	}
}

// An import of OpenADR objects makes the checks of the OpenADR interface.
func TestImport_OpenADR(t *testing.T) {
	e := newEnv(t, rest.Options{})
	ven := storage.VENID("key_1")
	object := func(kind, id, more, object string) string {
		return fmt.Sprintf(`{"resource":"openadr%s","organizationId":"acme","id":"%s"%s,"object":{%s}}`, kind, id, more, object)
	}
	client := `,"clientId":"key_1"`
	program := object("Program", "program_1", "", `"programName":"Peak"`)
	callback := func(url string) string {
		return `"clientName":"c","objectOperations":[{"objects":["EVENT"],"operations":["CREATE"],"callbackUrl":"` + url + `"}]`
	}
	resource := `"objectType":"BL_RESOURCE_REQUEST","clientID":"key_1","resourceName":"pump","venID":"` + ven + `"`
	e.load(`{"resource":"organization","id":"acme","name":"A"}`, program, object("Subscription", "sub_1", client, callback("https://acme.example/")),
		object("Ven", ven, "", `"objectType":"BL_VEN_REQUEST","clientID":"key_1","venName":"meter"`), object("Resource", ven+"_1", "", resource))
	for _, c := range []struct {
		line  string
		wrong []string
	}{
		{program, nil},
		{object("Program", "p", "", `"programName":"P"`), []string{"id"}},
		{object("Program", "program_2", "", `"programName":"Peak"`), []string{"object"}},
		{object("Program", "program_2", "", `"programName":7`), []string{"object.programName"}},
		{object("Program", "program_2", client, `"programName":"P"`), []string{"clientId"}},
		{object("Program", "program_2", "", `"programName":"P","payloadDescriptors":[],"attributes":[{"type":"`+strings.Repeat("x", 300<<10)+`","values":[]}]`), []string{"object"}},
		{object("Event", "event_1", "", `"programID":"none","intervals":[]`), []string{"object.programID"}},
		{object("Report", "report_1", "", `"eventID":"none","clientName":"c","resources":[]`), []string{"clientId"}},
		{object("Subscription", "sub_1", `,"clientId":"key_2"`, callback("https://acme.example/")), []string{"clientId"}},
		{object("Subscription", "sub_1-1", client, callback("https://acme.example/")), []string{"id"}},
		{object("Subscription", "sub_2", client, callback("https://localhost/")), []string{"object.objectOperations[0].callbackUrl"}},
		{object("Ven", "ven_1", "", `"objectType":"BL_VEN_REQUEST","clientID":"key_9","venName":"m9"`), []string{"id"}},
		{object("Ven", ven, "", `"objectType":"BL_VEN_REQUEST","clientID":"key_9","venName":"m9"`), []string{"object"}},
		{object("Resource", "ven_1_1", "", strings.ReplaceAll(resource, "pump", "fan")), []string{"id"}},
		{object("Resource", ven+"_2", "", resource), []string{"object"}},
		{object("Resource", ven+"_2", "", strings.ReplaceAll(resource, ven, "ven_1")), []string{"object"}},
		{`{"resource":"openadrEvent","organizationId":"none","id":"event_1","object":{}}`, []string{"organizationId"}},
	} {
		if wrong := e.failures(c.line); !slices.Equal(wrong, c.wrong) {
			t.Errorf("%.300s: wrong fields %v, want %v", c.line, wrong, c.wrong)
		}
	}
	twice := e.imported(object("Program", "program_3", "", `"programName":"Same"`) + "\n" + object("Program", "program_4", "", `"programName":"Same"`))
	if twice.Created != 1 || twice.Failed != 1 {
		t.Errorf("two programs of one name: %+v", twice)
	}
	refused := e.imported(object("Program", "program_5", "", `"programName":"New","attributes":[{"type":"x","values":[null]}]`) + "\n" + object("Program", "program_6", "", `"programName":"New"`))
	if refused.Created != 1 || refused.Failed != 1 {
		t.Errorf("a program with the name of a refused one: %+v", refused)
	}
	renamed := e.imported(object("Program", "program_3", "", `"programName":"Other"`) + "\n" + object("Program", "program_4", "", `"programName":"Same"`))
	if renamed.Updated != 1 || renamed.Created != 1 {
		t.Errorf("a program with the former name of another: %+v", renamed)
	}
}

// The schema of a line alone bounds these fields: package storage does not check them again.
func TestImport_Bounds(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.load(`{"resource":"organization","id":"acme","name":"A"}`, `{"resource":"home","organizationId":"acme","id":"home1"}`)
	device := func(equipment string) string {
		return `{"resource":"hvacDevice","organizationId":"acme","deviceId":"dev1","homeId":"home1","equipment":{` + equipment + `}}`
	}
	operations := strings.TrimSuffix(strings.Repeat(`{"objects":["EVENT"],"operations":["CREATE"],"callbackUrl":"https://acme.example/"},`, 11), ",")
	for _, c := range []struct {
		line  string
		wrong []string
	}{
		{device(`"heatSource":"","capacityKw":0,"auxiliaryKw":0`), nil},
		{device(`"heatSource":"COAL","capacityKw":101,"auxiliaryKw":101,"internalGainsKw":21`),
			[]string{"equipment.auxiliaryKw", "equipment.capacityKw", "equipment.heatSource", "equipment.internalGainsKw"}},
		{device(`"capacityKw":0.4,"seer2":4,"hspf2":2,"afue":0.2,"gasPrice":0.001`),
			[]string{"equipment.afue", "equipment.capacityKw", "equipment.gasPrice", "equipment.hspf2", "equipment.seer2"}},
		{`{"resource":"source","organizationId":"acme","id":"s","adapter":"csv","url":"https://prices.example/","parameters":{"node":"HUB"},"everySeconds":59,"planId":"a b"}`,
			[]string{"everySeconds", "planId"}},
		{`{"resource":"openadrSubscription","organizationId":"acme","id":"sub_1","clientId":"key_1","object":{"clientName":"c","objectOperations":[` + operations + `]}}`,
			[]string{"object.objectOperations"}},
		{`{"resource":"webhookEndpoint","organizationId":"acme","id":"ep","url":"https://acme.example/","clientCertificate":{"certificate":"` + strings.Repeat("x", 16385) + `","privateKey":"` + strings.Repeat("x", 16385) + `"}}`,
			[]string{"clientCertificate.certificate", "clientCertificate.privateKey"}},
	} {
		if wrong := e.failures(c.line); !slices.Equal(wrong, c.wrong) {
			t.Errorf("%.200s: wrong fields %v, want %v", c.line, wrong, c.wrong)
		}
	}
}
