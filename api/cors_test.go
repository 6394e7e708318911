package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/api/rest"
)

const page = "https://app.example"

func (e *env) fromPage(method, path, origin string, more http.Header) answer {
	e.t.Helper()
	header := http.Header{"Origin": {origin}}
	for name, values := range more {
		header[name] = values
	}
	return e.send(request{method: method, url: e.public.URL + path, header: header})
}

// TestCORS_Default checks that no request of a page is allowed.
func TestCORS_Default(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	for _, a := range []answer{
		e.fromPage(http.MethodOptions, signalPath, page, http.Header{"Access-Control-Request-Method": {"POST"}}),
		e.fromPage(http.MethodPost, signalPath, page, http.Header{rest.KeyHeader: {key}}),
		e.fromPage(http.MethodPost, "/v1/feedback", "null", nil),
	} {
		for name := range a.header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%d with %s: %s", a.status, name, a.header.Get(name))
			}
		}
	}
}

func TestCORS_Allowed(t *testing.T) {
	e := newEnv(t, rest.Options{Origins: []string{page}})
	key, _ := e.twoTenants()
	asked := http.Header{"Access-Control-Request-Method": {"POST"}, "Access-Control-Request-Headers": {"content-type,x-ws-api-key"}}
	a := e.fromPage(http.MethodOptions, signalPath, page, asked)
	if a.status != http.StatusNoContent || a.header.Get("Access-Control-Allow-Origin") != page || a.header.Get("Access-Control-Allow-Methods") != "POST" ||
		a.header.Get("Access-Control-Allow-Headers") != "content-type, x-ws-api-key, x-gridhook-organization, Idempotency-Key, X-Request-Id" || len(a.body) > 0 {
		t.Errorf("preflight: %d %v", a.status, a.header)
	}
	a = e.fromPage(http.MethodPost, signalPath, page, http.Header{rest.KeyHeader: {key}})
	if a.ok(t); a.header.Get("Access-Control-Allow-Origin") != page || a.header.Get("Access-Control-Expose-Headers") != "X-Request-Id, Retry-After" {
		t.Errorf("response with %v", a.header)
	}
	for _, foreign := range []string{"https://evil.example", "https://app.example.evil.example", "http://app.example", "https://app.example:8443", "null", ""} {
		a := e.fromPage(http.MethodOptions, signalPath, foreign, asked).expect(t, 405, rest.CodeMethodNotAllowed)
		b := e.fromPage(http.MethodPost, signalPath, foreign, http.Header{rest.KeyHeader: {key}})
		if b.ok(t); a.header.Get("Access-Control-Allow-Origin")+b.header.Get("Access-Control-Allow-Origin") != "" || b.header.Get("Vary") != "Origin" {
			t.Errorf("%q is allowed: %v, %v", foreign, a.header, b.header)
		}
	}
	if a := e.send(request{method: http.MethodOptions, url: e.admin.URL + signalPath, header: http.Header{"Origin": {page}, "Access-Control-Request-Method": {"POST"}}}); a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("the operator's listener allows CORS")
	}
	e.fromPage(http.MethodOptions, signalPath, page, nil).expect(t, 405, rest.CodeMethodNotAllowed) // there was no preflight
}
