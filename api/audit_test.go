package api_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
)

// audited lists the audit log by a filter, as operation, organization, key and object.
func (e *env) audited(filter string) (entries []string) {
	e.t.Helper()
	for _, v := range e.operate("/v1/admin/audit/list", filter).ok(e.t)["data"].([]any) {
		o := v.(map[string]any)
		entries = append(entries, strings.Join([]string{o["operation"].(string), o["organizationId"].(string), o["keyId"].(string), o["objectId"].(string)}, " "))
	}
	return entries
}

func TestAudit(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, bolt := e.twoTenants()
	acmeKey, _, _ := storage.SplitKey(storage.KeyPrefix, acme)
	boltKey, _, _ := storage.SplitKey(storage.KeyPrefix, bolt)
	endpoint := e.ask(acme, endpointsPath+"create", `{"url":"https://example.com/hook"}`).ok(t)["id"].(string)
	e.ask(acme, endpointsPath+endpoint+"/update", `{"description":"new"}`).ok(t)
	e.ask(acme, endpointsPath+"list", "").ok(t)
	e.ask(acme, endpointsPath+endpoint+"/update", `{"url":7}`).expect(t, 400, rest.CodeValidationFailed)
	e.operateFor("bolt", endpointsPath+"create", `{"url":"https://example.com/hook"}`).ok(t)
	e.operate("/v1/admin/organizations/bolt/update", `{"name":"Bolt 2"}`).ok(t)
	e.operate("/v1/admin/homes/home2/update", `{"organizationId":"bolt","name":"By the sea"}`).ok(t)
	e.operate("/v1/admin/homes/home2/delete", `{"organizationId":"bolt"}`).ok(t)
	e.operate("/v1/admin/plans/plan1/delete", "").ok(t)
	e.ask(bolt, "/v1/webhook/price_signal/trigger", `{}`).ok(t)

	for filter, want := range map[string][]string{
		`{"organizationId":"acme"}`: {
			"updateEndpoint acme " + acmeKey + " " + endpoint, "createEndpoint acme " + acmeKey + " " + endpoint, "createKey acme operator " + acmeKey,
		},
		`{"organizationId":"bolt","keyId":"` + boltKey + `"}`:                  nil,
		`{"organizationId":"bolt","operation":"updateOrganization"}`:           {"updateOrganization bolt operator bolt"},
		`{"operation":"updateHome"}`:                                           {"updateHome bolt operator home2"},
		`{"operation":"deleteHome"}`:                                           {"deleteHome bolt operator home2"},
		`{"operation":"deletePlan"}`:                                           {"deletePlan  operator plan1"},
		`{"organizationId":"_"}`:                                               {"deletePlan  operator plan1", "import  operator "},
		`{"organizationId":"none"}`:                                            nil,
		`{"organizationId":"acme","until":"2026-07-01T12:00:00Z"}`:             nil,
		`{"operation":"createKey","since":"2026-07-01T12:00:00Z","limit":1}`:   {"createKey bolt operator " + boltKey},
		`{"operation":"createKey","since":"2026-07-02T00:00:00Z","limit":100}`: nil,
	} {
		if got := e.audited(filter); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", filter, got, want)
		}
	}
	e.pass(time.Minute)
	_, operator := e.operatorKey(storage.RoleOperate)
	changed := e.operateBy(operator, "/v1/admin/homes/home1/update", `{"organizationId":"acme","name":"By the lake"}`)
	changed.ok(t)
	operatorID, _, _ := storage.SplitKey(storage.OperatorKeyPrefix, operator)
	entry := e.operate("/v1/admin/audit/list", `{"operation":"updateHome","limit":1}`).ok(t)["data"].([]any)[0].(map[string]any)
	if id, _ := entry["id"].(string); !strings.HasPrefix(id, "aud_") {
		t.Errorf("the entry has the identifier %q", id)
	}
	delete(entry, "id")
	if want := map[string]any{
		"time": e.clock().Format("2006-01-02T15:04:05.000Z"), "organizationId": "acme", "keyId": operatorID, "keyName": "ada",
		"operation": "updateHome", "kind": "homes", "objectId": "home1", "status": 200.0, "requestId": changed.header.Get("X-Request-Id"), "client": "127.0.0.1",
	}; !maps.Equal(entry, want) {
		t.Errorf("the entry is %v, want %v", entry, want)
	}
	text := string(e.operate("/v1/admin/audit/list", "").body)
	for _, secret := range []string{acme, "https://example.com", "new"} {
		if strings.Contains(text, secret) {
			t.Errorf("the audit log contains %q", secret)
		}
	}
}

func TestAudit_Pages(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.twoTenants()
	all := e.audited(`{}`)
	var paged []string
	for after := ""; ; {
		page := e.operate("/v1/admin/audit/list", `{"limit":1,"after":"`+after+`"}`).ok(t)
		for _, v := range page["data"].([]any) {
			paged = append(paged, v.(map[string]any)["objectId"].(string))
		}
		next, more := page["next"].(string)
		if after = next; !more {
			break
		}
	}
	if len(all) != 3 || len(paged) != len(all) {
		t.Errorf("%d entries, %d on pages", len(all), len(paged))
	}
	e.operate("/v1/admin/audit/list", `{"after":"key_1"}`).expect(t, 400, rest.CodeValidationFailed)
}

// The entry of an import names the organization of its lines, if all lines have the same one. So
// does the entry of an import that was cut off.
func TestAudit_Import(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.twoTenants()
	home := func(org string) string { return `{"resource":"home","organizationId":"` + org + `","id":"home9"}` }
	for _, c := range []struct{ lines, org string }{
		{home("acme") + "\n" + home("acme") + "\n" + `{"resource":"schedule","organizationId":"acme","id":"sch1"}`, "acme"},
		{home("acme") + "\n" + home("none"), "acme"},
		{home("acme") + "\n" + home("bolt"), ""},
		{`{"resource":"organization","id":"zeta","name":"Zeta"}` + "\n" + home("zeta"), "zeta"},
		{`{"resource":"area","area":"945","state":"CA","utilities":["14328"]}`, ""},
	} {
		e.imported(c.lines)
		if got, want := e.audited(`{"operation":"import","limit":1}`)[0], "import "+c.org+" operator "; got != want {
			t.Errorf("%s: the entry %q, want %q", c.lines, got, want)
		}
	}
}

// brokenAudit stores no entry.
type brokenAudit struct{ storage.AuditLog }

func (brokenAudit) PutAudit(context.Context, storage.AuditEntry) error {
	return errors.New("disk gone")
}

// A change or a backup stands although its audit entry was not stored. The process's log has
// the entry, and a metric counts it.
func TestAudit_StoreUnavailable(t *testing.T) {
	e := newEnv(t, rest.Options{})
	var log syncBuffer
	deps := e.process(slog.New(slog.NewTextHandler(&log, nil)))
	deps.Audit, deps.Registerer = brokenAudit{}, prometheus.NewRegistry()
	deps.Backup = func(_ http.ResponseWriter, _ *http.Request, audit func()) { audit() }
	admin := e.serve(adminAPI(deps, rest.Options{}))
	key := http.Header{rest.KeyHeader: {operatorKey}}
	e.send(request{url: admin.URL + "/v1/admin/organizations/create", body: `{"id":"zeta","name":"Zeta"}`, header: key}).ok(t)
	e.send(request{url: admin.URL + api.BackupPath, header: key}).expect(t, 200, "")
	admin.Close()
	text := log.String()
	for _, want := range []string{"audit entry not stored", "createOrganization", "backup", "disk gone"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the log: %s", want, text)
		}
	}
	found, err := deps.Registerer.(*prometheus.Registry).Gather()
	must(t, err)
	for _, m := range found {
		if n := m.GetMetric()[0].GetCounter().GetValue(); m.GetName() == "gridhook_audit_failures_total" && n != 2 {
			t.Errorf("the metric counts %v entries", n)
		}
	}
}

// The audit log has a hundredth for each operation of an organization's API keys. With the three
// of the OpenADR interface, these operations take at most a quarter.
func TestAudit_PartnerOperations(t *testing.T) {
	audited := 0
	for _, r := range api.AudiencePartner.Routes() {
		if !r.Open && !r.Unaudited && r.Needs() != storage.RoleRead {
			audited++
		}
	}
	if audited == 0 || audited+3 > 25 {
		t.Errorf("partners have %d operations with audit entries", audited)
	}
}
