package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
)

const operatorKeysPath = "/v1/admin/operator_keys/"

// operatorKey creates an operator key and returns its identifier and text.
func (e *env) operatorKey(role storage.Role) (id, text string) {
	e.t.Helper()
	made := e.operate(operatorKeysPath+"create", fmt.Sprintf(`{"name":"ada","role":%q,"expiresAt":"2026-07-01T13:00:00Z"}`, role)).ok(e.t)
	return made["keyId"].(string), made["key"].(string)
}

// operateBy sends the request of an operator key.
func (e *env) operateBy(key, path, body string) answer {
	e.t.Helper()
	return e.send(request{url: e.admin.URL + path, body: body, header: http.Header{rest.KeyHeader: {key}}})
}

// Every operation refuses the roles that do not include the role that it states.
func TestOperatorKeys_Roles(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.twoTenants()
	for _, role := range storage.Roles() {
		_, key := e.operatorKey(role)
		for _, r := range keyed() {
			if r.OperatorOnly() && !slices.Contains(storage.Roles(), r.Role) {
				t.Errorf("%s states the role %q", r.Path, r.Role)
			}
			contentType, body := bodyOf(r)
			header := http.Header{rest.KeyHeader: {key}, rest.OrganizationHeader: {"acme"}, "Content-Type": {contentType}}
			a := e.send(request{url: e.admin.URL + path(r, "none"), body: body, header: header})
			if refused := a.status == http.StatusForbidden; refused == role.Includes(r.Needs()) {
				t.Errorf("%s with the role %s: %d %s", r.Path, role, a.status, a.body)
			}
		}
	}
}

// An operator acts for existing organizations only.
func TestOperatorKeys_UnknownOrganization(t *testing.T) {
	e := newEnv(t, rest.Options{})
	a := e.operateFor("none", endpointsPath+"list", "").expect(t, 404, rest.CodeNotFound)
	if !strings.Contains(string(a.body), rest.OrganizationHeader) {
		t.Errorf("the error does not name the header: %s", a.body)
	}
}

func TestOperatorKeys_Lifecycle(t *testing.T) {
	e := newEnv(t, rest.Options{})
	id, key := e.operatorKey(storage.RoleAdmin)
	e.operateBy(key, "/v1/admin/organizations/create", `{"id":"acme","name":"Acme"}`).ok(t)
	e.operateBy(key[:len(key)-1]+"x", operatorKeysPath+"list", "").expect(t, 401, rest.CodeInvalidAPIKey)
	e.operateBy("gho_opk_none_"+strings.Repeat("0", 64), operatorKeysPath+"list", "").expect(t, 401, rest.CodeInvalidAPIKey)
	e.ask(key, endpointsPath+"list", "").expect(t, 401, rest.CodeInvalidAPIKey)
	entry := e.operate("/v1/admin/audit/list", `{"operation":"createOrganization"}`).ok(t)["data"].([]any)[0].(map[string]any)
	if entry["keyId"] != id || entry["keyName"] != "ada" {
		t.Errorf("the audit log has %v", entry)
	}
	list := e.operate(operatorKeysPath+"list", "")
	if one := list.ok(t)["data"].([]any)[0].(map[string]any); one["keyId"] != id || one["role"] != "admin" || one["revokedAt"] != nil {
		t.Errorf("listed %v", one)
	}
	stored, err := storage.Get[storage.OperatorKey](e.store, storage.OperatorKeyRef(id))
	must(t, err)
	_, secret, _ := storage.SplitKey(storage.OperatorKeyPrefix, key)
	if strings.Contains(string(list.body), secret) || stored.SecretHash == secret || stored.SecretHash == "" {
		t.Error("the secret is stored or listed")
	}
	e.operateBy(key, operatorKeysPath+id+"/revoke", "").ok(t)
	e.operateBy(key, operatorKeysPath+"list", "").expect(t, 401, rest.CodeInvalidAPIKey)
	_, expiring := e.operatorKey(storage.RoleRead)
	e.operateBy(expiring, "/v1/admin/organizations/list", "").ok(t)
	e.pass(time.Hour)
	e.operateBy(expiring, "/v1/admin/organizations/list", "").expect(t, 401, rest.CodeInvalidAPIKey)
	for body, want := range map[string][]string{
		`{}`:                       {"name", "role"},
		`{"name":"","role":"all"}`: {"name", "role"},
		`{"name":"ada","role":"read","expiresAt":"2026-01-01T00:00:00Z"}`: {"expiresAt"},
	} {
		got := e.operate(operatorKeysPath+"create", body).expect(t, 400, rest.CodeValidationFailed).fields(t)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: fields %v, want %v", body, got, want)
		}
	}
}

// A page such as the backup needs the role admin. Without a configured key, no request is
// authorized by an empty key.
func TestOperatorRoutes_Only(t *testing.T) {
	e := newEnv(t, rest.Options{})
	store := e.store
	keys := map[string]int{operatorKey: 200, "gho_wrong": 401, "": 401}
	for _, role := range storage.Roles() {
		key, text := storage.NewOperatorKey("ada", role, time.Now())
		must(t, store.Create(t.Context(), &key))
		keys[text] = 403
		if role == storage.RoleAdmin {
			keys[text] = 200
		}
	}
	page := func(http.ResponseWriter, *http.Request, rest.Caller) {}
	for key, want := range keys {
		for _, configured := range []string{operatorKey, ""} {
			r := httptest.NewRequest(http.MethodPost, "/backup", nil)
			r.Header.Set(rest.KeyHeader, key)
			w := httptest.NewRecorder()
			rest.Operators{Key: configured, Store: store}.Only(page).ServeHTTP(w, r)
			if configured == "" && key == operatorKey {
				want = 401
			}
			if w.Code != want {
				t.Errorf("%q with %q configured: %d, want %d", key, configured, w.Code, want)
			}
		}
	}
}
