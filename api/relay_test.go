package api_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// briefRelay ends each stream after its first line.
type briefRelay struct{ api.Relay }

func (briefRelay) ListenRelay(context.Context, string, string) (events.RelaySubscription, error) {
	return ended{}, nil
}

type ended struct{}

func (ended) Next(context.Context) ([]byte, error) { return nil, io.EOF }
func (ended) Drain()                               {}
func (ended) Close()                               {}

// newRelay creates a relay endpoint.
func (e *env) newRelay(key string) string {
	e.t.Helper()
	return e.ask(key, endpointsPath+"create", `{"url":"relay:listen"}`).ok(e.t)["id"].(string)
}

// relaying serves the operations with the relay of the process.
func (e *env) relaying() *listening {
	return e.serve(publicAPI(e.relayDeps(), rest.Options{Rate: 1e6, Burst: 1e6}))
}

// relayDeps are the dependencies of a further listener.
func (e *env) relayDeps() api.Deps {
	d := e.deps
	d.Relay, d.Registerer = e.bus, nil
	return d
}

// listenAt begins to listen at an endpoint. The response is read up to its first line.
func (e *env) listenAt(s *listening, key, endpoint string) (*http.Response, *bufio.Reader) {
	e.t.Helper()
	return e.listenWith(s, http.Header{rest.KeyHeader: {key}}, endpoint, 600)
}

// listenWith is listenAt with headers for a number of seconds.
func (e *env) listenWith(s *listening, header http.Header, endpoint string, seconds int) (*http.Response, *bufio.Reader) {
	e.t.Helper()
	request, err := http.NewRequestWithContext(e.t.Context(), http.MethodPost, s.URL+endpointsPath+endpoint+"/listen", strings.NewReader(fmt.Sprintf(`{"seconds":%d}`, seconds)))
	must(e.t, err)
	request.Header = header
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	must(e.t, err)
	e.t.Cleanup(func() { _ = response.Body.Close() })
	lines := bufio.NewReader(response.Body)
	if response.StatusCode == http.StatusOK {
		if line, err := lines.ReadString('\n'); err != nil || line != `{"request":null}`+"\n" {
			e.t.Fatalf("the first line is %q, %v", line, err)
		}
	}
	return response, lines
}

// TestRelay passes a worker's request to the client that listens, and the client's response
// to the worker.
func TestRelay(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.twoTenants()
	endpoint := e.newRelay(acme)
	ctx := t.Context()
	if _, err := e.bus.Relay(ctx, "acme", endpoint, events.RelayRequest{}); err == nil || !strings.Contains(err.Error(), "no client listens") {
		t.Errorf("without a client: %v", err)
	}
	s := e.relaying()
	response, lines := e.listenAt(s, acme, endpoint)
	if h := response.Header; h.Get("Content-Type") != "application/x-ndjson" || h.Get("X-Accel-Buffering") != "no" || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("X-Request-Id") == "" {
		t.Errorf("the headers are %v", h)
	}
	type result struct {
		events.RelayResponse
		err error
	}
	results := make(chan result)
	go func() {
		r, err := e.bus.Relay(ctx, "acme", endpoint, events.RelayRequest{Headers: map[string]string{"Webhook-Id": "msg_1"}, Body: "e30="})
		results <- result{r, err}
	}()
	text, err := lines.ReadString('\n')
	must(t, err)
	var id string
	if before, ok := strings.CutPrefix(text, `{"request":{"id":"`); !ok {
		t.Fatalf("the line is %s", text)
	} else if id, before, _ = strings.Cut(before, `"`); before != `,"headers":{"Webhook-Id":"msg_1"},"body":"e30="}}`+"\n" {
		t.Errorf("the line is %s", text)
	}
	body := `{"id":"` + id + `","status":503,"retryAfter":"7","body":"busy"}`
	e.send(request{url: s.URL + endpointsPath + endpoint + "/respond", body: body, header: http.Header{rest.KeyHeader: {acme}, "Content-Type": {"application/json"}}}).ok(t)
	if got := <-results; got.err != nil || got.Status != 503 || got.RetryAfter != "7" || got.Body != "busy" {
		t.Errorf("the worker gets %+v", got)
	}
}

// TestRelay_Ends checks what ends a client's stream at the next line.
func TestRelay_Ends(t *testing.T) {
	for name, end := range map[string]func(e *env, key, endpoint string){
		"a deleted endpoint": func(e *env, key, endpoint string) { e.ask(key, endpointsPath+endpoint+"/delete", "").ok(e.t) },
		"another URL": func(e *env, key, endpoint string) {
			e.ask(key, endpointsPath+endpoint+"/update", `{"url":"https://acme.example/"}`).ok(e.t)
		},
		"a suspended organization": func(e *env, _, _ string) {
			e.operate("/v1/admin/organizations/acme/update", `{"suspended":true}`).ok(e.t)
		},
		"a revoked key": func(e *env, key, _ string) {
			id, _, _ := storage.SplitKey(storage.KeyPrefix, key)
			e.operate("/v1/admin/keys/"+id+"/revoke", "").ok(e.t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, rest.Options{})
			acme, _ := e.twoTenants()
			endpoint := e.newRelay(acme)
			_, lines := e.listenAt(e.relaying(), acme, endpoint)
			end(e, acme, endpoint)
			e.streamEnds(endpoint, lines)
		})
	}
}

// TestRelay_EndsForAnother checks what ends the stream of a key of another organization or
// of the operator.
func TestRelay_EndsForAnother(t *testing.T) {
	for name, end := range map[string]func(e *env, id string){
		"a revoked operator key":  func(e *env, id string) { e.operate(operatorKeysPath+id+"/revoke", "").ok(e.t) },
		"an expired operator key": func(e *env, _ string) { e.pass(2 * time.Hour) },
		"a suspended parent": func(e *env, _ string) {
			e.operate("/v1/admin/organizations/bolt/update", `{"suspended":true}`).ok(e.t)
		},
		"a suspended child": func(e *env, _ string) {
			e.operate("/v1/admin/organizations/acme/update", `{"suspended":true}`).ok(e.t)
		},
		"a child without its parent": func(e *env, _ string) {
			e.operate("/v1/admin/organizations/bolt/update", `{"childOrganizationIds":[]}`).ok(e.t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, rest.Options{})
			acme, bolt := e.twoTenants()
			e.operate("/v1/admin/organizations/bolt/update", `{"childOrganizationIds":["acme"]}`).ok(t)
			endpoint, s, id := e.newRelay(acme), e.relaying(), ""
			if strings.HasSuffix(name, "operator key") {
				id, bolt = e.operatorKey(storage.RoleOperate)
				s = e.serve(adminAPI(e.relayDeps(), rest.Options{}))
			}
			_, lines := e.listenWith(s, http.Header{rest.KeyHeader: {bolt}, rest.OrganizationHeader: {"acme"}}, endpoint, 600)
			end(e, id)
			e.streamEnds(endpoint, lines)
		})
	}
}

// lastLine passes a request when its stream's time has ended.
type lastLine struct {
	api.Relay
	lines chan []byte
}

func (l lastLine) ListenRelay(context.Context, string, string) (events.RelaySubscription, error) {
	return l, nil
}

func (l lastLine) Next(context.Context) ([]byte, error) {
	if line, ok := <-l.lines; ok {
		return line, nil
	}
	return nil, io.EOF
}

func (l lastLine) Drain() {
	l.lines <- []byte(`{"request":{"id":"r_1"}}`)
	close(l.lines)
}

func (lastLine) Close() {}

// TestRelay_Drains writes the requests that are pending when the time of a stream ends.
// Listening does not count as a change of the endpoint.
func TestRelay_Drains(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.twoTenants()
	endpoint := e.newRelay(acme)
	d := e.relayDeps()
	d.Relay = lastLine{lines: make(chan []byte)}
	e.pass(time.Minute)
	_, lines := e.listenWith(e.serve(publicAPI(d, rest.Options{})), http.Header{rest.KeyHeader: {acme}}, endpoint, 1)
	if rest, err := io.ReadAll(lines); err != nil || string(rest) != `{"request":{"id":"r_1"}}`+"\n" {
		t.Errorf("it ends with %q, %v", rest, err)
	}
	if stored := e.stored(endpoint); stored.UpdatedAt != stored.CreatedAt {
		t.Errorf("listening sets updatedAt to %s", stored.UpdatedAt)
	}
}

// streamEnds checks that a client gets no further request.
func (e *env) streamEnds(endpoint string, lines *bufio.Reader) {
	e.t.Helper()
	ctx, cancel := context.WithCancel(e.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = e.bus.Relay(ctx, "acme", endpoint, events.RelayRequest{}) // nobody responds
	}()
	if line, err := lines.ReadString('\n'); err != io.EOF || line != "" {
		e.t.Errorf("it gets %q, %v", line, err)
	}
	cancel()
	<-done
}

// TestRelay_Refused checks who cannot listen.
func TestRelay_Refused(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, bolt := e.twoTenants()
	relay, other := e.newRelay(acme), e.newEndpoint(acme)
	s := e.relaying()
	for _, tt := range []struct {
		name, key, endpoint string
		status              int
	}{
		{"another organization", bolt, relay, http.StatusNotFound},
		{"another URL", acme, other, http.StatusConflict},
		{"a key that reads", e.key("acme", storage.ScopeRead), relay, http.StatusForbidden},
	} {
		if response, _ := e.listenAt(s, tt.key, tt.endpoint); response.StatusCode != tt.status {
			t.Errorf("%s: response %s, want %d", tt.name, response.Status, tt.status)
		}
	}
	// The clients of a channel partner count together, whichever organization they act for.
	e.operate("/v1/admin/organizations/bolt/update", `{"childOrganizationIds":["acme"]}`).ok(t)
	own, partner := http.Header{rest.KeyHeader: {acme}}, http.Header{rest.KeyHeader: {bolt}, rest.OrganizationHeader: {"acme"}}
	for range 8 {
		e.listenWith(s, partner.Clone(), relay, 600)
	}
	if response, _ := e.listenWith(s, http.Header{rest.KeyHeader: {bolt}}, e.newRelay(bolt), 600); response.StatusCode != http.StatusTooManyRequests {
		t.Errorf("the ninth client: response %s", response.Status)
	}
	if response, _ := e.listenWith(s, own, relay, 600); response.StatusCode != http.StatusOK {
		t.Errorf("a client of the child organization: response %s", response.Status)
	}
}

// TestRelay_OnlyEndpoints checks that no other destination may be a relay.
func TestRelay_OnlyEndpoints(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.twoTenants()
	for path, body := range map[string]string{
		"/v1/channels/create":      `{"kind":"SLACK","address":"relay:listen"}`,
		endpointsPath + "create":   `{"url":"https://acme.example/","authentication":{"type":"oauth2","tokenUrl":"relay:listen","clientId":"a","clientSecret":"b"}}`,
		endpointsPath + "create?2": `{"url":"relay:other"}`,
	} {
		path, _, _ = strings.Cut(path, "?")
		e.ask(acme, path, body).expect(t, http.StatusBadRequest, rest.CodeValidationFailed)
	}
}
