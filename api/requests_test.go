package api_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/rest"
)

const (
	triggerPath = "/v1/webhook/price_signal/trigger"
	signalPath  = "/v1/homes/home1/price_signal"
)

func TestMediaTypes(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	send := func(body string, header http.Header) answer {
		header[rest.KeyHeader] = []string{key}
		return e.send(request{url: e.public.URL + signalPath, body: body, header: header})
	}
	for _, taken := range []string{"application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8", `application/json; charset="utf-8"`} {
		send("{}", http.Header{"Content-Type": {taken}}).ok(t)
	}
	for _, refused := range []string{
		"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json; charset=latin1",
		"application/json; charset=utf-8; v=1", "application/json; v=1", "application/jsonx", "application/x-ndjson", "json", ";", "*/*",
	} {
		send("{}", http.Header{"Content-Type": {refused}}).expect(t, 415, rest.CodeUnsupportedMediaType)
		send("", http.Header{"Content-Type": {refused}}).ok(t) // a request without a body has no media type
	}
	send("{}", http.Header{"Content-Type": {"application/json", "application/json"}}).expect(t, 415, rest.CodeUnsupportedMediaType)
	for _, encoding := range []string{"gzip", "identity", "br", ""} {
		send("{}", http.Header{"Content-Encoding": {encoding}}).expect(t, 415, rest.CodeUnsupportedMediaType)
	}
	e.operate("/v1/admin/import", `{"resource":"organization","id":"a","name":"A"}`).expect(t, 415, rest.CodeUnsupportedMediaType)
}

func TestRequests_BodySize(t *testing.T) {
	e := newEnv(t, rest.Options{MaxBody: 1000, MaxImportBody: 2000})
	key, _ := e.twoTenantsSmall()
	object := func(size int) string { return "{" + strings.Repeat(" ", size-2) + "}" }
	e.ask(key, signalPath, object(1000)).ok(t)
	e.ask(key, signalPath, object(1001)).expect(t, 413, rest.CodePayloadTooLarge)
	e.ask("", signalPath, object(1001)).expect(t, 413, rest.CodePayloadTooLarge) // size before key
	e.importLines(object(2000)).ok(t)
	e.importLines(object(2001)).expect(t, 413, rest.CodePayloadTooLarge)
	chunked := func(size int) answer {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.public.URL+signalPath, struct{ io.Reader }{strings.NewReader(object(size))})
		must(t, err)
		req.Header.Set(rest.KeyHeader, key)
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultTransport.RoundTrip(req)
		must(t, err)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		must(t, err)
		return answer{res.StatusCode, res.Header, body}
	}
	chunked(1000).ok(t)
	chunked(1001).expect(t, 413, rest.CodePayloadTooLarge)
}

// twoTenantsSmall is twoTenants with flat tariffs, for small limits.
func (e *env) twoTenantsSmall() (acme, bolt string) {
	e.load(`{"resource":"organization","id":"acme","name":"Acme"}`, `{"resource":"organization","id":"bolt","name":"Bolt"}`)
	e.load(`{"resource":"ratePlan","id":"plan1","tariff":{"energyratestructure":[[{"rate":0.1}]]}}`)
	e.load(`{"resource":"home","organizationId":"acme","id":"home1","ratePlanId":"plan1","timezone":"America/Los_Angeles"}`)
	return e.key("acme"), e.key("bolt")
}

// half sends a request with half of its body, and may close the sending side. It returns
// the response's status line and the rest.
func half(t *testing.T, s *listening, key string, over bool) (status int, text string) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL, "http://"))
	must(t, err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\n%s: %s\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{", signalPath, rest.KeyHeader, key)
	must(t, err)
	if over {
		must(t, conn.(*net.TCPConn).CloseWrite())
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	must(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	must(t, err)
	return res.StatusCode, string(body)
}

func TestRequests_SlowBody(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	deps := e.deps
	deps.Registerer = nil
	s := newHTTPServer(publicAPI(deps, rest.Options{}), &http.Server{ReadTimeout: 50 * time.Millisecond})
	if status, text := half(t, listen(t, s), key, false); status != http.StatusRequestTimeout || !strings.Contains(text, rest.CodeRequestTimeout) {
		t.Errorf("response %d %s", status, text)
	}
}

func TestRequests_TruncatedBody(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	if status, text := half(t, e.public, key, true); status != http.StatusBadRequest || !strings.Contains(text, "ended before it was complete") {
		t.Errorf("response %d %s", status, text)
	}
}

func TestRequests_Panic(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	deps := e.deps
	deps.Registerer, deps.Triggers = nil, nil
	s := e.serve(publicAPI(deps, rest.Options{}))
	a := e.send(request{url: s.URL + triggerPath, body: "{}", header: http.Header{rest.KeyHeader: {key}}})
	a.expect(t, 500, rest.CodeInternal)
	if bytes.Contains(a.body, []byte("nil pointer")) || bytes.Contains(a.body, []byte(".go")) {
		t.Errorf("the caller sees %s", a.body)
	}
	s.Close() // waits until all is logged
	log := e.log.String()
	for _, want := range []string{a.header.Get("X-Request-Id"), "nil pointer", "triggers.go"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q", want)
		}
	}
}

func TestRequests_RateLimit(t *testing.T) {
	e := newEnv(t, rest.Options{Rate: 2, Burst: 3})
	key, other := e.twoTenants()
	for range 3 {
		e.ask(key, signalPath, "").ok(t)
	}
	a := e.ask(key, signalPath, "").expect(t, 429, rest.CodeRateLimited)
	if after := a.header.Get("Retry-After"); after != "1" || a.object(t)["retry_after_seconds"] != 1.0 {
		t.Errorf("Retry-After is %q, the body says %v", after, a.object(t)["retry_after_seconds"])
	}
	e.ask(key, signalPath, "{").expect(t, 429, rest.CodeRateLimited) // rate before JSON
	e.ask(key, "/nowhere", "").expect(t, 404, rest.CodeNotFound)     // path before rate
	e.ask(other, "/v1/webhook/endpoints/list", "").ok(t)             // by key
	e.operateFor("acme", signalPath, "").ok(t)                       // not the operator's
	e.pass(500 * time.Millisecond)
	e.ask(key, signalPath, "").ok(t)
	e.ask(key, signalPath, "").expect(t, 429, rest.CodeRateLimited)
}

// All keys of an organization together have ten times the rate of a key.
func TestRequests_RateLimitOfOrganization(t *testing.T) {
	e := newEnv(t, rest.Options{Rate: 2, Burst: 1})
	key, other := e.twoTenants()
	e.ask(key, signalPath, "").ok(t)
	for range 9 {
		e.ask(e.key("acme"), signalPath, "").ok(t)
	}
	if a := e.ask(e.key("acme"), signalPath, "").expect(t, 429, rest.CodeRateLimited); !strings.Contains(string(a.body), "The organization") {
		t.Errorf("it says %s", a.body)
	}
	e.ask(other, "/v1/webhook/endpoints/list", "").ok(t)
	e.pass(100 * time.Millisecond) // two of 20 a second
	for range 2 {
		e.ask(e.key("acme"), signalPath, "").ok(t)
	}
	e.ask(e.key("acme"), signalPath, "").expect(t, 429, rest.CodeRateLimited)
}

func TestRequests_Metrics(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	e.ask(key, signalPath, "").ok(t)
	e.ask(key, "/v1/homes/a.b/price_signal", "")
	e.ask(key, "/somewhere/else", "")
	e.public.Close() // waits until all is counted
	families, err := e.registry.Gather()
	must(t, err)
	counted := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			text := m.String()
			if strings.Contains(text, "home1") || strings.Contains(text, "acme") || strings.Contains(text, "somewhere") {
				t.Errorf("%s has an unbounded label: %s", f.GetName(), text)
			}
			name := f.GetName()
			for _, label := range m.GetLabel() {
				name += " " + label.GetValue()
			}
			counted[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	for name, want := range map[string]float64{
		"gridhook_http_requests_total 200 /v1/homes/{id}/price_signal":      1,
		"gridhook_http_requests_total 400 /v1/homes/{id}/price_signal":      1,
		"gridhook_http_requests_total 404 unmatched":                        1,
		"gridhook_http_requests_total 200 /v1/webhook/price_signal/trigger": 0,
		"gridhook_http_request_duration_seconds":                            3,
		"gridhook_http_requests_in_flight":                                  0,
	} {
		if got, ok := counted[name]; !ok || got != want {
			t.Errorf("%s is %v (%v), want %v", name, got, ok, want)
		}
	}
}

func TestRequests_Log(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	secret := e.ask(key, "/v1/webhook/endpoints/create", `{"url":"https://acme.example/hooks?token=hush-hush","headers":{"X-Token":"hush-hush"}}`).ok(t)["secret"].(string)
	e.public.Close() // waits until all is logged
	before := strings.Count(e.log.String(), `"msg":"request"`)
	deps := e.deps
	deps.Registerer = nil
	e.public = e.serve(publicAPI(deps, rest.Options{}))
	e.send(request{url: e.public.URL + signalPath, header: http.Header{rest.KeyHeader: {key}, "X-Request-Id": {"mine"}}}).ok(t)
	e.public.Close()
	log := e.log.String()
	if n := strings.Count(log, `"msg":"request"`) - before; n != 1 {
		t.Errorf("%d lines", n)
	}
	last := log[strings.LastIndex(strings.TrimSpace(log), "\n")+1:]
	for _, want := range []string{`"operation":"/v1/homes/{id}/price_signal"`, `"status":200`, `"request":"mine"`, `"org":"acme"`, `"key":"key_`, `"ms":`} {
		if !strings.Contains(last, want) {
			t.Errorf("%s lacks %s", last, want)
		}
	}
	for _, hidden := range []string{key[len(key)-64:], secret, operatorKey, "hush-hush"} {
		if strings.Contains(log, hidden) {
			t.Errorf("the log shows %q", hidden)
		}
	}
}
