package api_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
)

const linksPath = "/v1/console/links/"

// link creates a console link and returns its identifier and its key.
func (e *env) link(key, body string) (id, text string) {
	e.t.Helper()
	made := e.ask(key, linksPath+"create", body).ok(e.t)
	path, text, _ := strings.Cut(made["path"].(string), "#/link/")
	if path != "/console/" {
		e.t.Errorf("the path is %v", made["path"])
	}
	return made["keyId"].(string), text
}

func TestConsoleLink_Scopes(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, bolt := e.twoTenants()
	for name, c := range map[string]struct {
		key, body, field string
	}{
		"a scope that the key lacks": {e.key("acme", storage.ScopeWrite), `{"scopes":["trigger"]}`, "scopes[0]"},
		"a scope of OpenADR":         {e.key("acme", storage.ScopeWrite, storage.ScopeVEN), `{"scopes":["openadr:ven"]}`, "scopes[0]"},
		"too long":                   {acme, `{"expiresMinutes":1441}`, "expiresMinutes"},
	} {
		if got := e.ask(c.key, linksPath+"create", c.body).expect(t, 400, rest.CodeValidationFailed).fields(t); len(got) != 1 || got[0] != c.field {
			t.Errorf("%s: the wrong fields are %v", name, got)
		}
	}
	e.ask(e.key("acme", storage.ScopeRead), linksPath+"create", "").expect(t, 403, rest.CodeForbidden)

	id, link := e.link(acme, "")
	e.ask(link, "/v1/homes/list", "").ok(t)
	e.ask(link, endpointsPath+"create", `{"url":"https://acme.example/hooks"}`).expect(t, 403, rest.CodeForbidden)
	_, writer := e.link(acme, `{"scopes":["read","write"]}`)
	e.ask(writer, endpointsPath+"create", `{"url":"https://acme.example/hooks"}`).ok(t)
	e.ask(writer, linksPath+"create", "").expect(t, 403, rest.CodeForbidden)
	e.ask(writer, linksPath+id+"/revoke", "").expect(t, 403, rest.CodeForbidden)

	e.ask(bolt, linksPath+id+"/revoke", "").expect(t, 404, rest.CodeNotFound)
	own, _, _ := storage.SplitKey(storage.KeyPrefix, acme)
	e.ask(acme, linksPath+own+"/revoke", "").expect(t, 404, rest.CodeNotFound)
	e.ask(acme, linksPath+id+"/revoke", "").ok(t)
	e.ask(link, "/v1/homes/list", "").expect(t, 401, rest.CodeInvalidAPIKey)
	if got := e.operateFor("bolt", linksPath+"create", `{"scopes":["trigger"]}`).ok(t); got["organizationId"] != "bolt" {
		t.Errorf("the operator's link is %v", got)
	}
}

// TestConsoleLink_Ended checks that expired links are refused, and that they are ended keys,
// which other expired keys become later.
func TestConsoleLink_Ended(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.twoTenants()
	ended, link := e.link(acme, `{"expiresMinutes":5}`)
	e.ask(link, "/v1/homes/list", "").ok(t)
	short := e.operate("/v1/admin/keys/create", `{"organizationId":"acme","expiresAt":"`+e.clock().Add(time.Minute).UTC().Format(time.RFC3339)+`"}`).ok(t)["keyId"].(string)
	e.pass(6 * time.Minute)
	e.ask(link, "/v1/homes/list", "").expect(t, 401, rest.CodeInvalidAPIKey)
	gone, err := storage.Query(e.store, func(v storage.View) ([]storage.Record, error) { return storage.EndedKeys(v, e.clock()) })
	must(t, err)
	must(t, e.store.DeleteEach(t.Context(), gone))
	must(t, e.deps.LastUsed.Flush(t.Context())) // the link was used, and is gone
	must(t, e.store.View(func(v storage.View) error {
		if _, _, err := storage.Read[storage.KeyUse](v, storage.KindKeyUse.Ref("acme", ended)); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("the use of the removed link: %v", err)
		}
		return nil
	}))
	left := string(e.operate("/v1/admin/keys/list", `{"organizationId":"acme"}`).body)
	if strings.Contains(left, ended) || !strings.Contains(left, short) {
		t.Errorf("the keys are %s", left)
	}
}

// TestConsoleLink_KeyEnds checks that a link does not outlive the key that made it.
func TestConsoleLink_KeyEnds(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.twoTenants()
	ends := e.clock().Add(10 * time.Minute).UTC().Format("2006-01-02T15:04:05.000Z")
	key := e.operate("/v1/admin/keys/create", `{"organizationId":"acme","expiresAt":"`+ends+`"}`).ok(t)["key"].(string)
	if got := e.ask(key, linksPath+"create", "").ok(t)["expiresAt"]; got != ends {
		t.Errorf("the link ends at %v, and its key at %s", got, ends)
	}
}

// TestConsoleLink_KeyRevoked checks that a link ends with the revocation of the key that made it,
// also a link to a child organization, and not with a rotation of the key.
func TestConsoleLink_KeyRevoked(t *testing.T) {
	e := newEnv(t, rest.Options{})
	_, bolt := e.twoTenants()
	e.load(`{"resource":"organization","id":"parent","name":"Parent","childOrganizationIds":["acme"]}`)
	parent := e.key("parent")
	_, other := e.link(bolt, "")
	_, own := e.link(parent, "")
	made := e.send(request{url: e.public.URL + linksPath + "create", header: http.Header{rest.KeyHeader: {parent}, rest.OrganizationHeader: {"acme"}}}).ok(t)
	_, child, _ := strings.Cut(made["path"].(string), "#/link/")
	key, _, _ := storage.SplitKey(storage.KeyPrefix, parent)
	e.operate("/v1/admin/keys/"+key+"/rotate", `{"overlapSeconds":0}`).ok(t)
	for _, link := range []string{own, child} {
		e.ask(link, "/v1/homes/list", "").ok(t)
	}
	e.operate("/v1/admin/keys/"+key+"/revoke", "").ok(t)
	for _, link := range []string{own, child} {
		e.ask(link, "/v1/homes/list", "").expect(t, 401, rest.CodeInvalidAPIKey)
	}
	e.ask(other, "/v1/homes/list", "").ok(t)
	for _, k := range e.operate("/v1/admin/keys/list", `{"organizationId":"acme"}`).ok(t)["data"].([]any) {
		if k := k.(map[string]any); (k["revokedAt"] != nil) != (k["keyId"] == made["keyId"]) {
			t.Errorf("the list has %v", k)
		}
	}
}

// TestConsoleLink_KeyRefused checks that the link of a partner to its child organization is
// refused like the partner's key: while the partner is suspended, without the child, and after
// the partner's deletion.
func TestConsoleLink_KeyRefused(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.twoTenants()
	e.load(`{"resource":"organization","id":"parent","name":"Parent","childOrganizationIds":["acme"]}`)
	parent := e.key("parent")
	made := e.send(request{url: e.public.URL + linksPath + "create", header: http.Header{rest.KeyHeader: {parent}, rest.OrganizationHeader: {"acme"}}}).ok(t)
	_, link, _ := strings.Cut(made["path"].(string), "#/link/")
	update := func(body string) { e.operate("/v1/admin/organizations/parent/update", body).ok(t) }
	e.ask(link, "/v1/homes/list", "").ok(t)
	update(`{"suspended":true}`)
	e.ask(link, "/v1/homes/list", "").expect(t, 403, rest.CodeForbidden)
	update(`{"suspended":false,"childOrganizationIds":[]}`)
	e.ask(link, "/v1/homes/list", "").expect(t, 401, rest.CodeInvalidAPIKey)
	update(`{"childOrganizationIds":["acme"]}`)
	e.ask(link, "/v1/homes/list", "").ok(t)
	e.operate("/v1/admin/organizations/parent/delete", `{"confirm":"parent"}`).ok(t)
	e.ask(link, "/v1/homes/list", "").expect(t, 401, rest.CodeInvalidAPIKey)
	if keys := string(e.operate("/v1/admin/keys/list", `{"organizationId":"acme"}`).body); strings.Count(keys, `"revokedAt":"`) != 1 {
		t.Errorf("the keys are %s", keys)
	}
}

// TestConsoleLink_RateLimit checks that the links of a key share the key's rate limit, also a
// link's new key after a rotation. A link of the operator has its own.
func TestConsoleLink_RateLimit(t *testing.T) {
	e := newEnv(t, rest.Options{Rate: 1, Burst: 4})
	acme, bolt := e.twoTenants()
	_, first := e.link(acme, "")
	_, second := e.link(acme, "")
	e.ask(first, "/v1/homes/list", "").ok(t)
	e.ask(second, "/v1/homes/list", "").ok(t)
	limited := func(keys ...string) {
		t.Helper()
		for _, key := range keys {
			e.ask(key, "/v1/homes/list", "").expect(t, 429, rest.CodeRateLimited)
		}
	}
	limited(first, second, acme)
	e.ask(bolt, "/v1/homes/list", "").ok(t)
	_, own, _ := strings.Cut(e.operateFor("acme", linksPath+"create", "").ok(t)["path"].(string), "#/link/")
	e.ask(own, "/v1/homes/list", "").ok(t)

	e.pass(time.Second)
	e.ask(first, "/v1/homes/list", "").ok(t)
	link, _, _ := storage.SplitKey(storage.KeyPrefix, second)
	rotated := e.operate("/v1/admin/keys/"+link+"/rotate", "").ok(t)["key"].(string)
	limited(first, second, rotated)
}
