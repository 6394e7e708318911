package api_test

import (
	"strings"
	"testing"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
)

// A list leaves out a record that does not decode, shows the others, and the log names it. A
// request for the record itself names it too.
func TestLists_DamagedRecord(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.twoTenants()
	e.load(
		`{"resource":"home","organizationId":"acme","id":"bad"}`,
		`{"resource":"hvacDevice","organizationId":"acme","deviceId":"bad","homeId":"home1"}`,
		`{"resource":"hvacDevice","organizationId":"acme","deviceId":"good","homeId":"home1"}`,
		`{"resource":"webhookEndpoint","organizationId":"acme","id":"bad","url":"https://acme.example/a"}`,
		`{"resource":"webhookEndpoint","organizationId":"acme","id":"good","url":"https://acme.example/b"}`,
		`{"resource":"organization","id":"bad","name":"Bad"}`,
	)
	partner := func(path, body string) answer { return e.ask(acme, path, body) }
	for _, c := range []struct {
		ref       storage.Ref
		list, get string
		ask       func(path, body string) answer
		want      int // records in the list
	}{
		{storage.KindHome.Ref("acme", "bad"), "/v1/homes/list", "/v1/homes/bad/get", partner, 1},
		{storage.KindHVACDevice.Ref("acme", "bad"), "/v1/devices/hvac/list", "/v1/devices/hvac/bad/get", partner, 1},
		{storage.KindWebhookEndpoint.Ref("acme", "bad"), endpointsPath + "list", endpointsPath + "bad/get", partner, 1},
		{storage.OrganizationRef("bad"), "/v1/admin/organizations/list", "/v1/admin/organizations/bad/get", e.operate, 2},
	} {
		e.damage(c.ref)
		if page := c.ask(c.list, "").ok(t); len(page["data"].([]any)) != c.want {
			t.Errorf("%s has %v, want %d without the damaged one", c.list, page["data"], c.want)
		}
		if line := "stored record left out of a list"; !strings.Contains(e.log.String(), line) || !strings.Contains(e.log.String(), "stored "+c.ref.String()+" ") {
			t.Errorf("%s: the log does not name %s", c.list, c.ref)
		}
		if got := c.ask(c.get, "").expect(t, 500, rest.CodeInternal); !strings.Contains(string(got.body), `\"bad\" cannot be decoded`) {
			t.Errorf("%s responds %s", c.get, got.body)
		}
	}
}

// An export names the record that it cannot write. It leaves out a damaged key like a revoked one.
func TestExport_DamagedRecord(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.twoTenants()
	id, _, _ := storage.SplitKey(storage.KeyPrefix, acme)
	e.damage(storage.KindKey.Ref("acme", id))
	for _, line := range e.exported("acme", "100") {
		if strings.Contains(line, `"resource":"key"`) {
			t.Errorf("the export has %s", line)
		}
	}
	ref := storage.KindHome.Ref("acme", "home1")
	was, err := e.bus.StateLog().Read(t.Context(), ref)
	must(t, err)
	_, err = e.bus.StateLog().AppendBatch(t.Context(), []storage.Write{{Ref: ref, Expect: was.Revision, First: was.First, At: start, Value: []byte(`[]`)}})
	must(t, err)
	must(t, e.store.CatchUp(t.Context()))
	if got := e.operate("/v1/admin/organizations/acme/export", "").expect(t, 500, rest.CodeInternal); !strings.Contains(string(got.body), `home \"home1\" cannot be decoded`) {
		t.Errorf("the export responds %s", got.body)
	}
}

// A damaged key, or a damaged last use, leaves the organization's other keys in the list. The
// link that a damaged key has created is refused like that of a revoked key.
func TestLists_DamagedKey(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.twoTenants()
	id, link := e.link(acme, "")
	e.ask(link, "/v1/homes/list", "").ok(t)
	own, _, _ := storage.SplitKey(storage.KeyPrefix, acme)
	e.damage(storage.KindKey.Ref("acme", own))
	e.damage(storage.KindKeyUse.Ref("acme", id))
	e.ask(link, "/v1/homes/list", "").expect(t, 401, rest.CodeInvalidAPIKey)
	if got := e.operate("/v1/admin/keys/"+own+"/revoke", "").expect(t, 500, rest.CodeInternal); !strings.Contains(string(got.body), "This one is refused") {
		t.Errorf("the revocation responds %s", got.body)
	}
	page := e.operate("/v1/admin/keys/list", `{"organizationId":"acme"}`).ok(t)
	keys := page["data"].([]any)
	if len(keys) != 1 {
		t.Fatalf("the list has %v, want the link", keys)
	}
	if shown := keys[0].(map[string]any); shown["keyId"] != id || shown["revokedAt"] == nil {
		t.Errorf("the list has %v, want the link as revoked", shown)
	}
}
