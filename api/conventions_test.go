package api_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
)

// path returns a route's path with an identifier instead of {id}.
func path(r rest.Route, id string) string { return strings.ReplaceAll(r.Path, "{id}", id) }

// bodyOf returns a body that reaches the operation's own checks.
func bodyOf(r rest.Route) (contentType, body string) {
	switch r.Body {
	case rest.BodyRequired:
		return "application/json", `{}`
	case rest.BodyLines:
		return "application/x-ndjson", `{}`
	case rest.BodyXML:
		return "application/xml", `<feed/>`
	default:
		return "application/json", ""
	}
}

// at sends a request to a route on its listener.
func (e *env) at(r rest.Route, keys []string, change func(*request)) answer {
	e.t.Helper()
	contentType, body := bodyOf(r)
	req := request{url: e.public.URL + path(r, "none"), body: body, header: http.Header{"Content-Type": {contentType}}}
	if r.OperatorOnly() {
		req.url = e.admin.URL + path(r, "none")
	}
	if keys != nil {
		req.header[rest.KeyHeader] = keys
	}
	if change != nil {
		change(&req)
	}
	return e.send(req)
}

func keyed() []rest.Route {
	return slices.DeleteFunc(api.Routes(), func(r rest.Route) bool { return r.Open })
}

func TestAuthentication_EveryOperation(t *testing.T) {
	e := newEnv(t, rest.Options{})
	good, foreign := e.twoTenants()
	for _, r := range keyed() {
		e.at(r, nil, nil).expect(t, 401, rest.CodeMissingAPIKey)
		e.at(r, []string{""}, nil).expect(t, 401, rest.CodeMissingAPIKey)
		if recovery := e.at(r, nil, nil).object(t)["recovery_action"].(string); !strings.Contains(recovery, rest.KeyHeader) || !strings.Contains(recovery, "/v1/feedback") {
			t.Errorf("%s: recovery is %q", r.Path, recovery)
		}
		id, _, _ := storage.SplitKey(storage.KeyPrefix, good)
		for _, wrong := range [][]string{
			{"nonsense"}, {"ghk_"}, {"ghk_key_x_"}, {"gho_x"}, {good[:len(good)-1] + "x"}, {"ghk_" + id + "_00"},
			{strings.Replace(good, id, id+"x", 1)}, {good, good}, {good, foreign}, {"", good},
		} {
			e.at(r, wrong, nil).expect(t, 401, rest.CodeInvalidAPIKey)
		}
		other := operatorKey
		if r.OperatorOnly() {
			other = good
		}
		e.at(r, []string{other}, nil).expect(t, 401, rest.CodeInvalidAPIKey)
	}
}

// TestMissingKey_Bearer checks that a key in the header Authorization counts as missing,
// and that the message names the right header.
func TestMissingKey_Bearer(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	a := e.send(request{url: e.public.URL + "/v1/webhook/endpoints/list", header: http.Header{"Authorization": {"Bearer " + key}}})
	a.expect(t, http.StatusUnauthorized, rest.CodeMissingAPIKey)
	for _, want := range []string{rest.KeyHeader, "Authorization"} {
		if message := a.object(t)["message"].(string); !strings.Contains(message, want) {
			t.Errorf("the message %q does not name %s", message, want)
		}
	}
}

// TestNotFound_NamesTheEntity checks that the message has the kind, the identifier of the
// request and the organization of the key.
func TestNotFound_NamesTheEntity(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.twoTenants()
	for path, want := range map[string]string{
		"/v1/homes/h-9/price_signal":                `There is no home "h-9" in organization "acme".`,
		"/v1/homes/h-9/bill":                        `There is no home "h-9" in organization "acme".`,
		"/v1/webhook/endpoints/e-9/get":             `There is no webhook endpoint "e-9" in organization "acme".`,
		"/v1/webhook/endpoints/e-9/delete":          `There is no webhook endpoint "e-9" in organization "acme".`,
		"/v1/webhook/schedules/s-9/get":             `There is no schedule "s-9" in organization "acme".`,
		"/v1/webhook/price_signal/trigger/t-9/get":  `There is no trigger "t-9" in organization "acme".`,
		"/v1/webhook/deliveries/m-9/get":            `There is no delivery "m-9" in organization "acme".`,
		"/v1/webhook/replays/r-9/get":               `There is no replay "r-9" in organization "acme".`,
		"/v1/devices/hvac/d-9/user_preferences/get": `There is no HVAC device "d-9" in organization "acme".`,
	} {
		a := e.ask(acme, path, "")
		if a.expect(t, http.StatusNotFound, rest.CodeNotFound); a.object(t)["message"] != want {
			t.Errorf("%s: %v, want %s", path, a.object(t)["message"], want)
		}
	}
}

func TestAuthentication_RevokedLikeExpired(t *testing.T) {
	e := newEnv(t, rest.Options{})
	revoked, _ := e.twoTenants()
	id, _, _ := storage.SplitKey(storage.KeyPrefix, revoked)
	e.ask(revoked, "/v1/webhook/endpoints/list", "").ok(t)
	if got := e.operate("/v1/admin/keys/"+id+"/revoke", "").ok(t); got["revokedAt"] == nil {
		t.Errorf("revoked: %v", got)
	}
	expiring := e.operate("/v1/admin/keys/create", `{"organizationId":"acme","expiresAt":"2026-07-01T13:00:00Z"}`).ok(t)["key"].(string)
	e.ask(expiring, "/v1/webhook/endpoints/list", "").ok(t)
	e.pass(time.Hour)
	answers := []answer{
		e.ask(revoked, "/v1/webhook/endpoints/list", ""),
		e.ask(expiring, "/v1/webhook/endpoints/list", ""),
		e.ask("ghk_key_none_ab", "/v1/webhook/endpoints/list", ""),
	}
	for _, a := range answers {
		a.expect(t, 401, rest.CodeInvalidAPIKey)
		if anonymous(a) != anonymous(answers[0]) {
			t.Errorf("one body is %s, another %s", a.body, answers[0].body)
		}
	}
}

var requestIDField = regexp.MustCompile(`"request_id":"[^"]*"`)

// anonymous returns a response body without the request id and the identifiers that a
// NOT_FOUND repeats.
func anonymous(a answer) string {
	text := namedField.ReplaceAllString(requestIDField.ReplaceAllString(string(a.body), ""), "There is no $1")
	return actFor.ReplaceAllString(text, "may not act for it")
}

var actFor = regexp.MustCompile(`may not act for organization \\"[^"]*\\"`)

var namedField = regexp.MustCompile(`There is no ([A-Za-z ]+) \\"[^"]*\\" in organization \\"[^"]*\\"`)

func TestScopes(t *testing.T) {
	e := newEnv(t, rest.Options{Rate: 1e6, Burst: 1e6})
	e.twoTenants()
	for _, scope := range storage.Scopes() {
		key := e.key("acme", scope)
		for _, r := range keyed() {
			if r.OperatorOnly() {
				continue
			}
			a := e.at(r, []string{key}, nil)
			allowed := r.Scope == scope || r.Scope == storage.ScopeHomes && scope == storage.ScopeRead
			if refused := a.status == http.StatusForbidden; refused == allowed {
				t.Errorf("%s with the scope %s: %d %s", r.Path, scope, a.status, a.body)
			}
		}
	}
}

func TestMethods_NotAllowed(t *testing.T) {
	e := newEnv(t, rest.Options{})
	for _, r := range api.Routes() {
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions} {
			a := e.at(r, nil, func(r *request) { r.method, r.body = method, "" })
			a.expect(t, 405, rest.CodeMethodNotAllowed)
			if a.header.Get("Allow") != http.MethodPost {
				t.Errorf("%s %s: Allow is %q", method, r.Path, a.header.Get("Allow"))
			}
		}
	}
}

func TestPaths_Unknown(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	for _, p := range []string{
		"/", "/v1", "/v1/", "/v2/feedback", "/v1/homes", "/v1/homes/home1", "/v1/homes/home1/price_signal/", "/V1/homes/home1/price_signal",
		"//v1/homes/home1/price_signal", "/v1//homes/home1/price_signal", "/v1/homes/../homes/home1/price_signal", "/v1/./homes/home1/price_signal",
		"/%761/homes/home1/price_signal", "/v1/homes/home1/price_signa%6c", "/v1/webhook/endpoints/lists", "/v1/webhook/endpoints/%6cist", "/v1/webhook/endpoints/ep_1%2Fget",
		"/metrics", "/debug/pprof/", "/livez", "/v1/admin/organizations/list", "/v1/admin/import",
	} {
		a := e.ask(key, p, "").expect(t, 404, rest.CodeNotFound)
		if loc := a.header.Get("Location"); loc != "" {
			t.Errorf("%s redirects to %s", p, loc)
		}
	}
}

func TestResponses_Headers(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	list, signal := "/v1/webhook/endpoints/list", "/v1/homes/home1/price_signal"
	for name, a := range map[string]answer{
		"success": e.ask(key, list, ""), "signal": e.ask(key, signal, ""), "refusal": e.ask("", list, ""), "path": e.ask(key, "/nowhere", ""),
		"method": e.send(request{method: http.MethodGet, url: e.public.URL + list}),
	} {
		for header, want := range map[string]string{
			"Content-Type": "application/json", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Access-Control-Allow-Origin": "",
		} {
			if got := a.header.Get(header); got != want {
				t.Errorf("%s: %s is %q, want %q", name, header, got, want)
			}
		}
		id := a.header.Get("X-Request-Id")
		if !strings.HasPrefix(id, "req_") || !storage.ValidID(id) {
			t.Errorf("%s: the request is %q", name, id)
		}
		if a.status != http.StatusOK && a.object(t)["request_id"] != id {
			t.Errorf("%s: request_id is %v, the header says %s", name, a.object(t)["request_id"], id)
		}
	}
}

func TestRequestID_FromCaller(t *testing.T) {
	e := newEnv(t, rest.Options{})
	for given, kept := range map[string]bool{
		"mine-1": true, strings.Repeat("a", 128): true, strings.Repeat("a", 129): false, "two words": false, "a.b": false, "": false,
	} {
		a := e.send(request{url: e.public.URL + "/v1", header: http.Header{"X-Request-Id": {given}}})
		if got := a.header.Get("X-Request-Id"); (got == given) != kept || !storage.ValidID(got) {
			t.Errorf("%q became %q", given, got)
		}
	}
	a := e.send(request{url: e.public.URL + "/v1", header: http.Header{"X-Request-Id": {"a", "b"}}})
	if got := a.header.Get("X-Request-Id"); !strings.HasPrefix(got, "req_") {
		t.Errorf("two identifiers were merged into %q", got)
	}
}

func TestIdentifiers_InPaths(t *testing.T) {
	e := newEnv(t, rest.Options{Rate: 1e6, Burst: 1e6})
	key, _ := e.twoTenants()
	for _, r := range keyed() {
		if !strings.Contains(r.Path, "{id}") {
			continue
		}
		k := key
		if r.OperatorOnly() {
			k = operatorKey
		}
		for _, id := range []string{
			"a.b", "*", "%3E", "a%20b", "..", "%2e%2e", "%2E%2E%2F", "a%2Fb", "%00", "a%0d%0ab", "", strings.Repeat("a", 129), strings.Repeat("a", 300), "%FF", "\u00e9", "$", "a;b",
		} {
			a := e.at(r, []string{k}, func(req *request) {
				req.url = strings.Replace(req.url, path(r, "none"), path(r, id), 1)
			})
			a.expect(t, 400, rest.CodeValidationFailed)
			if !slices.Contains(a.fields(t), "id") {
				t.Errorf("%s with %q: fields %v", r.Path, id, a.fields(t))
			}
		}
	}
}

func TestDecode_UnknownFieldsAndTypes(t *testing.T) {
	e := newEnv(t, rest.Options{Rate: 1e6, Burst: 1e6, FeedbackRate: 1e6, FeedbackBurst: 1e6})
	key, _ := e.twoTenants()
	for _, r := range api.Routes() {
		if r.Body >= rest.BodyLines {
			continue
		}
		k := key
		if r.OperatorOnly() {
			k = operatorKey
		}
		for body, field := range map[string]string{
			`{"bogus":1}`: "bogus", `[]`: "body", `"text"`: "body", `null`: "body", `{`: "body", `{} {}`: "body", `{"a":"\xff"}`: "body",
			strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40): "body",
		} {
			a := e.at(r, []string{k}, func(req *request) { req.body = body }).expect(t, 400, rest.CodeValidationFailed)
			if !slices.Contains(a.fields(t), field) {
				t.Errorf("%s with %s: fields %v", r.Path, body, a.fields(t))
			}
		}
		if r.Body == rest.BodyRequired {
			a := e.at(r, []string{k}, func(req *request) { req.body = "" }).expect(t, 400, rest.CodeValidationFailed)
			if !slices.Equal(a.fields(t), []string{"body"}) {
				t.Errorf("%s without a body: fields %v", r.Path, a.fields(t))
			}
		}
	}
}

// TestTenancy_ForeignIdentifiers requests every object by the identifiers of another
// tenant. The responses equal those to unknown identifiers, byte for byte.
func TestTenancy_ForeignIdentifiers(t *testing.T) {
	e := newEnv(t, rest.Options{Rate: 1e6, Burst: 1e6})
	acme, bolt := e.twoTenants()
	endpoint := e.ask(acme, "/v1/webhook/endpoints/create", `{"url":"https://acme.example/hooks"}`).ok(t)["id"].(string)
	trigger := e.ask(acme, "/v1/webhook/price_signal/trigger", `{}`).ok(t)["triggerId"].(string)
	for _, r := range keyed() {
		if r.OperatorOnly() || !strings.Contains(r.Path, "{id}") {
			continue
		}
		for _, id := range []string{"home1", endpoint, trigger} {
			as := func(id string) answer {
				return e.at(r, []string{bolt}, func(req *request) {
					req.url = e.public.URL + path(r, id)
					if req.body == "{}" {
						req.body = foreignBody(r)
					}
				})
			}
			foreign, absent := as(id), as("nobodys_"+id)
			if foreign.status != http.StatusNotFound || anonymous(foreign) != anonymous(absent) || foreign.status != absent.status {
				t.Errorf("foreign %s: %d %s, unknown: %d %s", r.Path, foreign.status, foreign.body, absent.status, absent.body)
			}
		}
	}
}

// foreignBody returns a valid body, so that only the identifier is wrong.
func foreignBody(r rest.Route) string {
	bodies := map[string]string{
		"updateHVACLinkedFlag": `{"linked":true}`, "getHVACEstimatedSavings": `{"type":"monthly"}`, "replayEndpoint": `{"since":"2026-07-01T00:00:00Z"}`,
		"listenEndpoint": `{"seconds":1}`, "respondEndpoint": `{"id":"x","status":200}`,
	}
	if body, ok := bodies[r.Name]; ok {
		return body
	}
	return `{}`
}

func TestTenancy_OrganizationField(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.twoTenants()
	e.load(`{"resource":"organization","id":"parent","name":"Parent","childOrganizationIds":["acme","unborn"]}`)
	parent := e.key("parent")
	as := func(key, org string) answer {
		return e.send(request{url: e.public.URL + "/v1/homes/home1/price_signal", header: http.Header{rest.KeyHeader: {key}, rest.OrganizationHeader: {org}}})
	}
	as(parent, "acme").ok(t)
	as(acme, "acme").ok(t)
	as(parent, "parent").expect(t, 404, rest.CodeNotFound)
	forbidden := as(parent, "bolt").expect(t, 403, rest.CodeForbidden)
	for _, org := range []string{"nobody", "unborn", "_"} {
		if a := as(parent, org).expect(t, 403, rest.CodeForbidden); anonymous(a) != anonymous(forbidden) || !strings.Contains(string(a.body), `organization \"`+org+`\"`) {
			t.Errorf("%s: %s, want %s", org, a.body, forbidden.body)
		}
	}
	as(acme, "parent").expect(t, 403, rest.CodeForbidden)
	if fields := as(parent, "a.b").expect(t, 400, rest.CodeValidationFailed).fields(t); !slices.Equal(fields, []string{rest.OrganizationHeader}) {
		t.Errorf("fields %v", fields)
	}
	trigger := "/v1/webhook/price_signal/trigger"
	if got := e.ask(parent, trigger, `{"organizationId":"acme"}`).ok(t); got["organizationId"] != "acme" || got["homes"] != 1.0 {
		t.Errorf("triggered %v", got)
	}
	e.ask(parent, trigger, `{"organizationId":"bolt"}`).expect(t, 403, rest.CodeForbidden)
	e.ask(acme, trigger, `{"organizationId":"nobody"}`).expect(t, 403, rest.CodeForbidden)
	e.ask(acme, trigger, `{"organizationId":""}`).expect(t, 400, rest.CodeValidationFailed)
}

func TestOperator_ForOrganization(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.twoTenants()
	signal := "/v1/homes/home1/price_signal"
	e.operateFor("acme", signal, "").ok(t)
	e.operateFor("bolt", signal, "").expect(t, 404, rest.CodeNotFound)
	e.operateFor("nobody", signal, "").expect(t, 404, rest.CodeNotFound)
	e.operateFor("_", signal, "").expect(t, 404, rest.CodeNotFound)
	if fields := e.operate(signal, "").expect(t, 400, rest.CodeValidationFailed).fields(t); !slices.Equal(fields, []string{rest.OrganizationHeader}) {
		t.Errorf("fields %v", fields)
	}
	if got := e.operateFor("acme", "/v1/webhook/price_signal/trigger", `{}`).ok(t); got["organizationId"] != "acme" {
		t.Errorf("triggered %v", got)
	}
}

func TestOperatorKey_Unset(t *testing.T) {
	e := newEnv(t, rest.Options{})
	deps := e.deps
	deps.Registerer, deps.OperatorKey = nil, ""
	s := e.serve(adminAPI(deps, rest.Options{}))
	for _, key := range []string{"x", "gho_"} {
		e.send(request{url: s.URL + "/v1/admin/organizations/list", header: http.Header{rest.KeyHeader: {key}}}).expect(t, 401, rest.CodeInvalidAPIKey)
	}
}
