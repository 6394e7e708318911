package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
)

// These are the size limits of bodies in these tests.
const (
	smallBody   = 8 << 10
	smallImport = 16 << 10
	smallXML    = 32 << 10
)

// refusal is an error case for each operation that it applies to.
type refusal struct {
	name    string
	applies func(rest.Route) bool
	change  func(*request)
	status  int
	code    string
	field   string // name of the wrong field, if there is one
}

func always(rest.Route) bool       { return true }
func takesKey(r rest.Route) bool   { return !r.Open }
func takesJSON(r rest.Route) bool  { return r.Body < rest.BodyLines }
func takesGzip(r rest.Route) bool  { return r.Body == rest.BodyXML }
func requires(r rest.Route) bool   { return r.Body == rest.BodyRequired }
func identified(r rest.Route) bool { return strings.Contains(r.Path, "{id}") }

func body(text string) func(*request) { return func(r *request) { r.body = text } }

func without(header string) func(*request) { return func(r *request) { delete(r.header, header) } }

func with(header string, values ...string) func(*request) {
	return func(r *request) { r.header[header] = values }
}

func nested(levels int) string {
	return strings.Repeat(`{"a":`, levels-1) + "{}" + strings.Repeat("}", levels-1)
}

var refusals = []refusal{
	{"no key", takesKey, without(rest.KeyHeader), 401, rest.CodeMissingAPIKey, ""},
	{"an empty key", takesKey, with(rest.KeyHeader, ""), 401, rest.CodeMissingAPIKey, ""},
	{"a wrong key", takesKey, with(rest.KeyHeader, "ghk_key_1_00"), 401, rest.CodeInvalidAPIKey, ""},
	{"two keys", takesKey, with(rest.KeyHeader, "a", "b"), 401, rest.CodeInvalidAPIKey, ""},
	{"GET", always, func(r *request) { r.method, r.body = http.MethodGet, "" }, 405, rest.CodeMethodNotAllowed, ""},
	{"PUT", always, func(r *request) { r.method = http.MethodPut }, 405, rest.CodeMethodNotAllowed, ""},
	{"DELETE", always, func(r *request) { r.method = http.MethodDelete }, 405, rest.CodeMethodNotAllowed, ""},
	{"an unknown field", takesJSON, body(`{"bogus":1}`), 400, rest.CodeValidationFailed, "bogus"},
	{"an array", takesJSON, body(`[]`), 400, rest.CodeValidationFailed, "body"},
	{"a text", takesJSON, body(`"text"`), 400, rest.CodeValidationFailed, "body"},
	{"null", takesJSON, body(`null`), 400, rest.CodeValidationFailed, "body"},
	{"no JSON", takesJSON, body(`{`), 400, rest.CodeValidationFailed, "body"},
	{"two values", takesJSON, body(`{} {}`), 400, rest.CodeValidationFailed, "body"},
	{"no UTF-8", takesJSON, body("{\"a\":\"\xff\"}"), 400, rest.CodeValidationFailed, "body"},
	{"33 levels", takesJSON, body(nested(33)), 400, rest.CodeValidationFailed, "body"},
	{"no body", requires, body(""), 400, rest.CodeValidationFailed, "body"},
	{"an identifier that is none", identified, func(r *request) { r.url = strings.Replace(r.url, "/none", "/a.b", 1) }, 400, rest.CodeValidationFailed, "id"},
	{"another media type", always, with("Content-Type", "text/plain"), 415, rest.CodeUnsupportedMediaType, ""},
	{"a form", always, with("Content-Type", "application/x-www-form-urlencoded"), 415, rest.CodeUnsupportedMediaType, ""},
	{"an encoding", always, with("Content-Encoding", "br"), 415, rest.CodeUnsupportedMediaType, ""},
	{"gzip", func(r rest.Route) bool { return !takesGzip(r) }, with("Content-Encoding", "gzip"), 415, rest.CodeUnsupportedMediaType, ""},
	{"no gzip", takesGzip, with("Content-Encoding", "gzip"), 400, rest.CodeValidationFailed, "body"},
	{"no organization", takesGzip, without(rest.OrganizationHeader), 400, rest.CodeValidationFailed, rest.OrganizationHeader},
}

// limit returns the maximum body size of an operation in these tests.
func limit(r rest.Route) int {
	switch r.Body {
	case rest.BodyLines:
		return smallImport
	case rest.BodyXML:
		return smallXML
	default:
		return smallBody
	}
}

// TestOperations_Served goes through all operations, so a new operation fails until its
// example works and its cases pass. TestBounds_MatchDocument compares the fields with the
// OpenAPI document.
func TestOperations_Served(t *testing.T) {
	s := newStageWith(t, rest.Options{MaxBody: smallBody, MaxImportBody: smallImport, MaxXMLBody: smallXML})
	s.load(`{"resource":"organization","id":"bolt","name":"Bolt"}`)
	examples, bolt := api.RequestExamples(), s.env.key("bolt")
	cases := 0
	for _, r := range api.Routes() {
		t.Run(r.Name, func(t *testing.T) {
			s.t, s.env.t = t, t
			if a := s.sendTo(r, examples[r.Name]); a.status != http.StatusOK {
				t.Errorf("success: %d %s", a.status, a.body)
			}
			for _, refused := range refusals {
				if refused.applies(r) {
					cases++
					s.refuses(r, refused)
				}
			}
			cases += 2 + s.sizes(r) + s.scopes(r)
			if !r.OperatorOnly() && !r.Open && r.Name != "listEventTypes" { // the same for everybody, with examples
				s.foreign(r, bolt, examples[r.Name])
			}
		})
	}
	t.Logf("%d cases of %d operations", cases, len(api.Routes()))
}

// request is a request that reaches the operation's own checks.
func (s *stage) request(r rest.Route) request {
	contentType, text := bodyOf(r)
	req := request{url: s.public.URL + path(r, "none"), body: text, header: http.Header{"Content-Type": {contentType}, rest.KeyHeader: {s.key}}}
	if req.body == "" {
		req.body = "{}"
	}
	if r.OperatorOnly() {
		req.url, req.header[rest.KeyHeader] = s.admin.URL+path(r, "none"), []string{operatorKey}
	}
	if r.OperatorOnly() && r.ForOrganization() {
		req.header[rest.OrganizationHeader] = []string{"acme"}
	}
	return req
}

func (s *stage) refuses(r rest.Route, refused refusal) {
	s.t.Helper()
	req := s.request(r)
	refused.change(&req)
	a := s.send(req)
	switch {
	case a.status != refused.status || a.code(s.t) != refused.code:
		s.t.Errorf("%s: %d %s, want %d %s", refused.name, a.status, a.body, refused.status, refused.code)
	case refused.field != "" && !slices.Contains(a.fields(s.t), refused.field):
		s.t.Errorf("%s: %s, want it to name %s", refused.name, a.body, refused.field)
	case refused.status == http.StatusMethodNotAllowed && a.header.Get("Allow") != http.MethodPost:
		s.t.Errorf("%s: Allow is %q", refused.name, a.header.Get("Allow"))
	}
}

// sizes sends bodies of the maximum size, and one byte larger.
func (s *stage) sizes(r rest.Route) (cases int) {
	s.t.Helper()
	for size, refused := range map[int]bool{limit(r): false, limit(r) + 1: true} {
		req := s.request(r)
		req.body = "{" + strings.Repeat(" ", size-2) + "}"
		if a := s.send(req); (a.status == http.StatusRequestEntityTooLarge) != refused {
			s.t.Errorf("%d bytes: %d %s", size, a.status, a.body)
		}
		if status := s.chunked(req); (status == http.StatusRequestEntityTooLarge) != refused {
			s.t.Errorf("%d bytes without Content-Length: %d", size, status)
		}
		cases += 2
	}
	return cases
}

// chunked sends a body without Content-Length and returns the status.
func (s *stage) chunked(r request) int {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, r.url, struct{ io.Reader }{strings.NewReader(r.body)})
	must(s.t, err)
	for name, values := range r.header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	must(s.t, err)
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	must(s.t, err)
	return res.StatusCode
}

// scopes sends with a key of each other scope.
func (s *stage) scopes(r rest.Route) (cases int) {
	s.t.Helper()
	if r.OperatorOnly() || r.Open {
		return 0
	}
	for _, scope := range storage.Scopes() {
		if scope == r.Scope || scope == storage.ScopeRead && r.Scope == storage.ScopeHomes { // read includes it
			continue
		}
		req := s.request(r)
		req.header[rest.KeyHeader] = []string{s.env.key("acme", scope)}
		if a := s.send(req); a.status != http.StatusForbidden || a.code(s.t) != rest.CodeForbidden {
			s.t.Errorf("with only the scope %s: %d %s", scope, a.status, a.body)
		}
		cases++
	}
	return cases
}

// things are acme's objects, by the fields that name them.
func (s *stage) things() map[string]string {
	return map[string]string{
		"homeId": "home_1", "deviceId": "dev_1", "triggerId": s.trigger, "endpointId": s.endpoint, "scheduleId": s.schedule,
	}
}

// foreign uses another organization's key for acme's objects. The response is the same as
// for an unknown identifier.
func (s *stage) foreign(r rest.Route, key, example string) {
	s.t.Helper()
	in := map[string]any{}
	if example != "" {
		must(s.t, json.Unmarshal([]byte(example), &in))
	}
	var named []string
	for field := range in {
		if strings.HasSuffix(field, "Id") && field != "organizationId" {
			named = append(named, field)
			if s.things()[field] == "" {
				s.t.Errorf("the test has no object for %s: add it to things", field)
			}
		}
	}
	ask := func(thing func(field, acmes string) string) answer {
		for _, field := range named {
			in[field] = thing(field, s.things()[field])
		}
		text, err := json.Marshal(in)
		must(s.t, err)
		return s.ask(key, path(r, thing("id", s.identifier(r))), string(text))
	}
	theirs := ask(func(_, acmes string) string { return acmes })
	nobodys := ask(func(string, string) string { return "nobodys" })
	switch {
	case !identified(r) && len(named) == 0:
		for _, id := range s.things() {
			if theirs.status != http.StatusOK || strings.Contains(string(theirs.body), `"`+id+`"`) {
				s.t.Errorf("another organization gets %d %s", theirs.status, theirs.body)
			}
		}
	case theirs.status != http.StatusNotFound || anonymous(theirs) != anonymous(nobodys):
		s.t.Errorf("foreign identifier: %d %s, unknown identifier: %d %s", theirs.status, theirs.body, nobodys.status, nobodys.body)
	}
}
