package promise

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// notification is an event that a listener received.
type notification struct {
	id, body string
	Type     string
	Data     json.RawMessage
}

// notice is the data of a notification that a trigger or an endpoint ended.
type notice struct {
	TriggerID, EndpointID, Reason, Status string
	Outcomes                              map[string]int
}

// listener is an endpoint that stores every event. It responds with status.
type listener struct {
	t        *testing.T
	endpoint string
	verify   *standardwebhooks.Webhook

	mu      sync.Mutex
	status  int
	refused int
	got     []notification
}

// listener creates an endpoint with options.
func (p *partner) listener(status int, options map[string]any) *listener {
	p.t.Helper()
	l := &listener{t: p.t, status: status}
	server := httptest.NewServer(l)
	p.t.Cleanup(server.Close)
	in := map[string]any{"url": server.URL, "retryPolicy": map[string]any{"initialSeconds": 1, "multiplier": 1, "maxSeconds": 1}}
	maps.Copy(in, options)
	made := decode[struct{ ID, Secret string }](p.t, string(p.call("/v1/webhook/endpoints/create", in)))
	l.endpoint = made.ID
	var err error
	if l.verify, err = standardwebhooks.NewWebhook(made.Secret); err != nil {
		p.t.Fatal(err)
	}
	return l
}

// ServeHTTP receives an event.
func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	event := notification{id: r.Header.Get("webhook-id"), body: string(body)}
	if err := json.Unmarshal(body, &event); err != nil || l.verify.Verify(body, r.Header) != nil {
		l.t.Errorf("%s does not verify or decode: %v", body, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.status != http.StatusOK {
		l.refused++
	} else {
		l.got = append(l.got, event)
	}
	w.WriteHeader(l.status)
}

func (l *listener) answer(status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status = status
}

func (l *listener) counts() (refused int, got []notification) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused, l.got
}

// The completion of a trigger is notified although the process is killed while the
// partner refuses the event. So is the disabling of an endpoint.
func TestNotice_Killed(t *testing.T) {
	t.Parallel()
	const homes = 200
	data := t.TempDir()
	p := start(t, "serve", data)
	acme := furnish(t, p, homes)
	gone := newReceiver(t)
	gone.answer = func(string, string, int) int { return http.StatusGone }
	acme.register(gone, nil)
	l := acme.listener(http.StatusServiceUnavailable, map[string]any{"eventTypes": []string{"price_signal.trigger.completed", "endpoint.disabled"}})
	trigger := acme.trigger(hour())
	acme.completed(trigger)
	p.await("the first attempt to tell", func() bool { refused, _ := l.counts(); return refused >= 2 })
	p.kill()
	l.answer(http.StatusOK)
	p = start(t, "serve", data)
	acme.api = p.api
	byType := map[string]notification{}
	p.await("both notifications", func() bool {
		_, got := l.counts()
		for _, event := range got {
			if before, again := byType[event.Type]; again && (before.id != event.id || before.body != event.body) {
				t.Errorf("received %s with %s, and then %s with %s", before.body, before.id, event.body, event.id)
			}
			byType[event.Type] = event
		}
		return len(byType) == 2
	})
	// A slice after the disabling has no endpoint.
	end := decode[notice](t, string(byType["price_signal.trigger.completed"].Data))
	if failed, without := end.Outcomes["FAILED"], end.Outcomes["NO_ENDPOINT"]; end.TriggerID != trigger || end.Status != "COMPLETED" || failed == 0 || failed+without != homes {
		t.Errorf("the completion event is %+v", end)
	}
	if d := decode[notice](t, string(byType["endpoint.disabled"].Data)); d.EndpointID == "" || d.Reason != "GONE" {
		t.Errorf("the disabled event is %+v", d)
	}
	p.await("both in the delivery log", func() bool {
		type delivery struct{ ID, EventType, EndpointID, Outcome string }
		logged := 0
		for _, d := range decode[struct{ Data []delivery }](t, string(acme.call("/v1/webhook/deliveries/list", map[string]any{"events": true}))).Data {
			if d.ID == byType[d.EventType].id && d.EndpointID == l.endpoint && d.Outcome == "DELIVERED" {
				logged++
			}
		}
		return logged == 2
	})
}
