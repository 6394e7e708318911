package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
)

// A key that has ended, or whose organization has, is refused by every operation, without an
// effect.
func TestTenancy_EndedKeys(t *testing.T) {
	e := newEnv(t, rest.Options{Rate: 1e6, Burst: 1e6})
	acme, _ := e.twoTenants()
	victims := e.victims(acme)
	e.load(`{"resource":"organization","id":"gone","name":"Gone"}`, `{"resource":"organization","id":"suspended","name":"Suspended"}`,
		`{"resource":"organization","id":"parent","name":"Parent","childOrganizationIds":["acme"]}`)
	_, link := e.link(acme, `{"scopes":["read","write","trigger"],"expiresMinutes":1}`)
	soon := e.clock().Add(time.Minute).UTC().Format(time.RFC3339)
	ended := map[string]string{
		"expired": e.operate("/v1/admin/keys/create", `{"organizationId":"acme","expiresAt":"`+soon+`"}`).ok(t)["key"].(string),
		"revoked": e.key("acme"), "of a deleted organization": e.key("gone"), "of a suspended organization": e.key("suspended"), "of an expired link": link,
	}
	parent := e.key("parent")
	id, _, _ := storage.SplitKey(storage.KeyPrefix, ended["revoked"])
	e.operate("/v1/admin/keys/"+id+"/revoke", "").ok(t)
	e.operate("/v1/admin/organizations/gone/delete", `{"confirm":"gone"}`).ok(t)
	e.operate("/v1/admin/organizations/suspended/update", `{"suspended":true}`).ok(t)
	e.operate("/v1/admin/organizations/parent/update", `{"childOrganizationIds":[]}`).ok(t)
	e.pass(time.Minute)
	before := e.ends()
	for _, r := range api.Routes() {
		if r.OperatorOnly() || r.Open {
			continue
		}
		at := request{
			url:  e.public.URL + strings.Replace(r.Path, "{id}", victims["endpoint"], 1),
			body: strings.Replace(tenancyBodies[r.Name], idHere, "home1", 1),
		}
		for what, key := range ended {
			status, code := http.StatusUnauthorized, rest.CodeInvalidAPIKey
			if strings.Contains(what, "suspended") {
				status, code = http.StatusForbidden, rest.CodeForbidden
			}
			at.header = http.Header{rest.KeyHeader: {key}}
			if got := e.send(at); got.status != status || got.code(t) != code {
				t.Errorf("%s with a key %s: %d %s", r.Name, what, got.status, got.body)
			}
		}
		at.header = http.Header{rest.KeyHeader: {parent}, rest.OrganizationHeader: {"acme"}}
		e.send(at).expect(t, http.StatusForbidden, rest.CodeForbidden)
	}
	if now := e.ends(); now != before {
		t.Errorf("it had an effect: %v, and before %v", now, before)
	}
}

// A key that ends while its client sends a body is refused, without an effect.
func TestEndedKeys_DuringBody(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.twoTenants()
	id, _, _ := storage.SplitKey(storage.KeyPrefix, acme)
	operatorID, operate := e.operatorKey(storage.RoleOperate)
	partner := e.sendSlowly(e.public.URL+endpointsPath+"create", acme, "application/json", -1)
	operator := e.sendSlowly(e.admin.URL+"/v1/admin/import", operate, "application/x-ndjson", -1)
	e.operate("/v1/admin/keys/"+id+"/revoke", "").ok(t)
	e.operate(operatorKeysPath+operatorID+"/revoke", "").ok(t)
	e.pass(time.Second)
	before := e.ends()
	if got := partner.finish(`{"url":"https://acme.example/hooks"}`); got != http.StatusUnauthorized {
		t.Errorf("the partner's response is %d", got)
	}
	if got := operator.finish(`{"resource":"organization","id":"late","name":"Late"}`); got != http.StatusUnauthorized {
		t.Errorf("the operator's response is %d", got)
	}
	if now := e.ends(); now != before {
		t.Errorf("it had an effect: %v, and before %v", now, before)
	}
}
