package api_test

import (
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/api/rest"
)

// padded is an empty object of n bytes.
func padded(n int) string { return "{" + strings.Repeat(" ", n-2) + "}" }

// slowSender is a request whose body the test sends.
type slowSender struct {
	io.WriteCloser
	status chan int // of the response, 0 if there is none
}

// sendSlowly sends a request without its body, and returns when the server reads the body. A
// size of -1 is unknown.
func (e *env) sendSlowly(url, key, mediaType string, size int) slowSender {
	e.t.Helper()
	reads := make(chan struct{})
	ctx := httptrace.WithClientTrace(e.t.Context(), &httptrace.ClientTrace{Got100Continue: func() { close(reads) }})
	body, to := io.Pipe()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, body)
	must(e.t, err)
	r.ContentLength = int64(size)
	r.Header = http.Header{"Content-Type": {mediaType}, "Expect": {"100-continue"}, http.CanonicalHeaderKey(rest.KeyHeader): {key}}
	s := slowSender{to, make(chan int, 1)}
	go func() {
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			s.status <- 0
			return
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		s.status <- response.StatusCode
	}()
	select {
	case <-reads:
	case status := <-s.status:
		e.t.Fatalf("the server does not read the body, response %d", status)
	}
	return s
}

// finish sends the rest of the body and returns the response's status.
func (s slowSender) finish(text string) int {
	_, _ = io.WriteString(s, text)
	_ = s.Close()
	return <-s.status
}

// sendChunked sends a request without a Content-Length.
func (e *env) sendChunked(key, path, body string) answer {
	e.t.Helper()
	r, err := http.NewRequestWithContext(e.t.Context(), http.MethodPost, e.public.URL+path, io.MultiReader(strings.NewReader(body)))
	must(e.t, err)
	r.Header = http.Header{"Content-Type": {"application/json"}, http.CanonicalHeaderKey(rest.KeyHeader): {key}}
	response, err := http.DefaultTransport.RoundTrip(r)
	must(e.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(e.t, err)
	return answer{response.StatusCode, response.Header, text}
}

// Bodies that arrive slowly take the share of their organization in max-unread, and nothing
// of the others'.
func TestBodies_SlowSender(t *testing.T) {
	const kib = 1 << 10
	e := newEnv(t, rest.Options{MaxUnread: 1 << 20}) // 256 KiB for an organization
	slow, other := e.twoTenants()
	held := e.sendSlowly(e.public.URL+signalPath, slow, "application/json", 200*kib)
	for _, refused := range []answer{e.ask(slow, signalPath, padded(100*kib)), e.sendChunked(slow, signalPath, padded(40*kib))} {
		refused.expect(t, http.StatusTooManyRequests, rest.CodeRateLimited)
		if !strings.Contains(string(refused.body), "max-unread: 262144 bytes") {
			t.Errorf("refused with %s, want the limit's name and size", refused.body)
		}
	}
	e.ask(slow, signalPath, padded(20*kib)).ok(t)
	e.sendChunked(slow, signalPath, padded(20*kib)).ok(t)
	e.ask(other, signalPath, padded(100*kib)).expect(t, http.StatusNotFound, rest.CodeNotFound)
	if status := held.finish(padded(200 * kib)); status != http.StatusOK {
		t.Errorf("the slow request gets %d", status)
	}
	e.ask(slow, signalPath, padded(1000*kib)).ok(t) // alone it may exceed the share
}

// A body without a Content-Length counts by what it has: of two bodies beyond the share one is
// refused when it becomes too large.
func TestBodies_Chunked(t *testing.T) {
	e := newEnv(t, rest.Options{MaxUnread: 1 << 20})
	key, _ := e.twoTenants()
	one := e.sendSlowly(e.public.URL+signalPath, key, "application/json", -1)
	two := e.sendSlowly(e.public.URL+signalPath, key, "application/json", -1)
	for _, s := range []slowSender{one, two} {
		_, _ = io.WriteString(s, padded(130<<10)) // the one that comes second may be refused already
	}
	var refused int
	select {
	case refused = <-one.status:
		one = two
	case refused = <-two.status:
	}
	if refused != http.StatusTooManyRequests {
		t.Errorf("of two bodies beyond the share one gets %d, want 429", refused)
	}
	if status := one.finish(""); status != http.StatusOK {
		t.Errorf("the other one gets %d, want 200", status)
	}
	e.ask(key, signalPath, padded(200<<10)).ok(t)
}

// Callers without an API key have one share in all, whatever the number of their addresses. The
// organizations keep their own shares.
func TestBodies_Feedback(t *testing.T) {
	const kib = 1 << 10
	e := newEnv(t, rest.Options{MaxUnread: 1 << 20})
	key, _ := e.twoTenants()
	held := e.sendSlowly(e.public.URL+feedbackPath, "", "application/json", 200*kib)
	refused := e.ask("", feedbackPath, padded(100*kib)).expect(t, http.StatusTooManyRequests, rest.CodeRateLimited)
	if !strings.Contains(string(refused.body), "clients without an API key") {
		t.Errorf("refused with %s, want whose limit it is", refused.body)
	}
	e.ask("", feedbackPath, padded(20*kib)).expect(t, http.StatusBadRequest, rest.CodeValidationFailed)
	e.ask(key, signalPath, padded(100*kib)).ok(t)
	if status := held.finish(padded(200 * kib)); status != http.StatusBadRequest {
		t.Errorf("the slow feedback gets %d", status)
	}
}

// Imports of the operator may take the whole limit. An import beyond it is refused with the
// code that gridhook import retries.
func TestBodies_Imports(t *testing.T) {
	const largest, usual = 16 << 20, 4 << 20
	e := newEnv(t, rest.Options{})
	blank := strings.Repeat(" ", 1023) + "\n" // a line, of 1 KiB
	lines := strings.Repeat(blank, usual/len(blank))
	var held []slowSender
	for range 3 {
		held = append(held, e.sendSlowly(e.admin.URL+"/v1/admin/import", operatorKey, "application/x-ndjson", largest))
	}
	e.importLines(lines).ok(t)
	held = append(held, e.sendSlowly(e.admin.URL+"/v1/admin/import", operatorKey, "application/x-ndjson", largest))
	e.importLines(lines).expect(t, http.StatusServiceUnavailable, rest.CodeUnavailable)
	if status := held[0].finish(strings.Repeat(blank, largest/len(blank))); status != http.StatusOK {
		t.Errorf("the largest import gets %d", status)
	}
	e.importLines(lines).ok(t)
}
