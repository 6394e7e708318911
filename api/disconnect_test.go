package api_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// closeWriteAfter sends a whole request and closes the sending side at once.
func closeWriteAfter(t *testing.T, s *listening, key, path, body string) *net.TCPConn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL, "http://"))
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\n%s: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, rest.KeyHeader, key, len(body), body)
	must(t, err)
	must(t, conn.(*net.TCPConn).CloseWrite())
	return conn.(*net.TCPConn)
}

// TestHalfClose_Response checks that a client that closed its sending side gets the
// response.
func TestHalfClose_Response(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	for path, body := range map[string]string{
		triggerPath:                    "{}",
		"/v1/webhook/endpoints/create": `{"url":"https://acme.example/hooks"}`,
		signalPath:                     "{}",
	} {
		for range 20 {
			res, err := http.ReadResponse(bufio.NewReader(closeWriteAfter(t, e.public, key, path, body)), nil)
			must(t, err)
			text, err := io.ReadAll(res.Body)
			must(t, err)
			if res.StatusCode != http.StatusOK {
				t.Fatalf("%s: response %d %s", path, res.StatusCode, text)
			}
		}
	}
}

// acceptLog records whether the context of a trigger has ended after the client left.
type acceptLog struct {
	events.TriggerLog
	left, ended chan error
}

func (l acceptLog) Accept(ctx context.Context, t events.Trigger) (uint64, error) {
	l.left <- nil // the request has reached the log
	<-l.left      // the client has left
	select {
	case <-ctx.Done():
	case <-time.After(100 * time.Millisecond): // net/http may need this long to notice
	}
	l.ended <- ctx.Err()
	return l.TriggerLog.Accept(ctx, t)
}

// TestDisconnect_KeepsChanges checks that the change of a client that left is stored.
func TestDisconnect_KeepsChanges(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	log := acceptLog{TriggerLog: e.deps.Triggers, left: make(chan error), ended: make(chan error)}
	deps := e.deps
	deps.Registerer, deps.Triggers = nil, log
	conn := closeWriteAfter(t, e.serve(publicAPI(deps, rest.Options{})), key, triggerPath, "{}")
	<-log.left
	must(t, conn.Close())
	log.left <- nil
	if err := <-log.ended; err != nil {
		t.Errorf("the trigger's context ended with the client: %v", err)
	}
}

// slowTester takes longer than the timeout of other operations.
type slowTester struct {
	tester
	wait time.Duration
}

func (s slowTester) SendTest(ctx context.Context, e storage.WebhookEndpoint) (events.Delivery, error) {
	if until, _ := ctx.Deadline(); time.Until(until) < time.Minute {
		return events.Delivery{}, fmt.Errorf("the test ends in %s", time.Until(until))
	}
	select {
	case <-time.After(s.wait):
	case <-ctx.Done():
		return events.Delivery{}, ctx.Err()
	}
	return events.Delivery{MessageID: "msg_1", EndpointID: e.ID, Outcome: events.OutcomeDelivered, Attempt: 1, Status: 204, At: storage.Time{Time: start}}, nil
}

// TestEndpointTest_FullTimeout checks that neither the timeout of operations nor the
// server's write timeout ends the test of a slow endpoint.
func TestEndpointTest_FullTimeout(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	id := e.ask(key, "/v1/webhook/endpoints/create", `{"url":"https://acme.example/hooks","timeoutSeconds":60}`).ok(t)["id"].(string)
	const others = 50 * time.Millisecond
	deps := e.deps
	deps.Registerer, deps.Tester = nil, slowTester{wait: 4 * others}
	server := newHTTPServer(publicAPI(deps, rest.Options{Timeout: others}), &http.Server{WriteTimeout: 2 * others})
	a := e.send(request{url: listen(t, server).URL + "/v1/webhook/endpoints/" + id + "/test", header: http.Header{rest.KeyHeader: {key}}})
	if a.ok(t)["outcome"] != "DELIVERED" {
		t.Errorf("response %s", a.body)
	}
}

// TestHeaders_Case checks that two names of one HTTP header are refused, because either
// value could be sent.
func TestHeaders_Case(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	refused := func(what string, a answer) {
		t.Helper()
		if got := a.fields(t); len(got) != 1 || got[0] != "headers" || !strings.Contains(string(a.body), "X-Mine") || !strings.Contains(string(a.body), "x-mine") {
			t.Errorf("%s: %d %s", what, a.status, a.body)
		}
	}
	refused("create", e.ask(key, "/v1/webhook/endpoints/create", `{"url":"https://acme.example/","headers":{"x-mine":"a","X-Mine":"b","Y":"c"}}`))
	made := e.ask(key, "/v1/webhook/endpoints/create", `{"url":"https://acme.example/","headers":{"x-mine":"a"}}`).ok(t)
	refused("update", e.ask(key, "/v1/webhook/endpoints/"+made["id"].(string)+"/update", `{"headers":{"x-mine":"a","X-Mine":"b"}}`))
	line := e.imported(`{"resource":"webhookEndpoint","organizationId":"acme","id":"ep1","url":"https://acme.example/","headers":{"x-mine":"a","X-Mine":"b"}}`)
	if line.Failed != 1 || line.Errors[0].Fields[0].Field != "headers" {
		t.Errorf("import: %+v", line)
	}
}
