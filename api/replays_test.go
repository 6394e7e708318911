package api_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

func (e *env) newEndpoint(key string) string {
	e.t.Helper()
	return e.ask(key, endpointsPath+"create", `{"url":"https://acme.example/hooks"}`).ok(e.t)["id"].(string)
}

func TestRetryDelivery(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, bolt := e.twoTenants()
	endpoint := e.newEndpoint(acme)
	given := func(o events.Outcome) string {
		t.Helper()
		trigger := e.ask(acme, triggerPath, "{}").ok(t)["triggerId"].(string)
		return e.deliver("acme", trigger, endpoint, "home1", o)
	}
	older, arrived, failed := given(events.OutcomeFailed), given(events.OutcomeDelivered), given(events.OutcomeFailed)
	got := e.ask(acme, deliveriesPath+failed+"/retry", "").ok(t)
	tasks := e.tasks.put()
	if got["id"] != failed || got["status"] != "ACCEPTED" || len(tasks) != 1 || tasks[0].Kind != events.TaskRetry || tasks[0].ID != failed || tasks[0].OrganizationID != "acme" {
		t.Errorf("response %v, and %+v waits", got, tasks)
	}
	if a := e.ask(acme, deliveriesPath+arrived+"/retry", "").expect(t, 409, rest.CodeConflict); !strings.Contains(string(a.body), "The delivery is DELIVERED.") {
		t.Errorf("the refusal is %s", a.body)
	}
	if a := e.ask(acme, deliveriesPath+older+"/retry", "").expect(t, 409, rest.CodeConflict); !strings.Contains(string(a.body), "A newer trigger supersedes the delivery.") {
		t.Errorf("of an older trigger: %s", a.body)
	}
	e.ask(bolt, deliveriesPath+failed+"/retry", "").expect(t, 404, rest.CodeNotFound)
	e.ask(acme, endpointsPath+endpoint+"/update", `{"enabled":false}`).ok(t)
	e.ask(acme, deliveriesPath+failed+"/retry", "").expect(t, 409, rest.CodeConflict)
	e.ask(acme, endpointsPath+endpoint+"/delete", "").ok(t)
	e.ask(acme, deliveriesPath+failed+"/retry", "").expect(t, 409, rest.CodeConflict)
	trigger := e.ask(acme, triggerPath, "{}").ok(t)["triggerId"].(string)
	callback := e.deliver("acme", trigger, "sub_1", "home1", events.OutcomeFailed)
	if a := e.ask(acme, deliveriesPath+callback+"/retry", "").expect(t, 409, rest.CodeConflict); !strings.Contains(string(a.body), "OpenADR subscription") {
		t.Errorf("a callback: %s", a.body)
	}
	if left := e.tasks.put(); len(left) != 0 {
		t.Errorf("%+v waits nevertheless", left)
	}
}

func TestRetryDelivery_NoInputs(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key, _ := e.twoTenants()
	endpoint := e.newEndpoint(key)
	trigger := e.ask(key, triggerPath, "{}").ok(t)["triggerId"].(string)
	id := events.MessageID(trigger, "home1", endpoint)
	e.record(events.Receipt{
		TriggerID: trigger, OrganizationID: "acme", Key: "s0", Slice: &events.SliceBounds{Through: "home1", Homes: 1, Last: true},
		Deliveries: []events.Delivery{{MessageID: id, HomeID: "home1", EndpointID: endpoint, Outcome: events.OutcomeFailed, Attempt: 1}},
	}, func() bool { _, err := e.deps.Ledger.Delivery("acme", id); return err == nil })
	e.ask(key, deliveriesPath+id+"/retry", "").expect(t, 409, rest.CodeConflict)
}

// Of simultaneous replays of an endpoint one is accepted.
func TestReplayEndpoint_Simultaneous(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.twoTenants()
	replay := endpointsPath + e.newEndpoint(acme) + "/replay"
	var all sync.WaitGroup
	var accepted, refused atomic.Int64
	for range 8 {
		all.Go(func() {
			switch e.ask(acme, replay, `{"since":"2026-07-01T00:00:00Z"}`).status {
			case http.StatusOK:
				accepted.Add(1)
			case http.StatusConflict:
				refused.Add(1)
			}
		})
	}
	all.Wait()
	if accepted.Load() != 1 || refused.Load() != 7 {
		t.Errorf("%d replays are accepted and %d refused, want 1 and 7", accepted.Load(), refused.Load())
	}
}

// A request whose first response could not be stored says that the outcome is unknown. Its repeat
// has what was stored.
func TestCreateSchedule_LostResponse(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.twoTenants()
	deps := e.deps
	deps.Registerer, deps.Requests = nil, &cutRequests{Requests: e.deps.Requests}
	url := e.serve(publicAPI(deps, rest.Options{})).URL
	create := func() answer {
		return e.send(request{url: url + "/v1/webhook/schedules/create", body: "{}", header: http.Header{rest.KeyHeader: {acme}, rest.IdempotencyHeader: {"k1"}}})
	}
	if cut := create().expect(t, http.StatusServiceUnavailable, rest.CodeUnavailable); !strings.Contains(string(cut.body), "The outcome is unknown") {
		t.Errorf("after the schedule was stored, the response is %s", cut.body)
	}
	if made := create().ok(t); made["createdAt"] == nil || made["updatedAt"] == nil {
		t.Errorf("the repeat: %v", made)
	}
}

// cutRequests fails to store the first response.
type cutRequests struct {
	storage.Requests
	once sync.Once
}

func (c *cutRequests) PutRequest(ctx context.Context, r storage.IdempotentRequest, expect uint64) (revision uint64, err error) {
	if r.Answer != nil {
		c.once.Do(func() { err = storage.ErrUnavailable })
	}
	if err != nil {
		return 0, err
	}
	return c.Requests.PutRequest(ctx, r, expect)
}

func TestReplayEndpoint(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, bolt := e.twoTenants()
	endpoint := e.newEndpoint(acme)
	made := e.ask(acme, endpointsPath+endpoint+"/replay", `{"since":"2026-07-01T00:00:00+02:00"}`).ok(t)
	if made["status"] != "ACCEPTED" || made["endpointId"] != endpoint || made["since"] != "2026-06-30T22:00:00.000Z" || len(made["outcomes"].([]any)) != 2 || made["completedAt"] != nil {
		t.Errorf("made %v", made)
	}
	id := made["id"].(string)
	if tasks := e.tasks.put(); len(tasks) != 1 || tasks[0].Kind != events.TaskReplay || tasks[0].ID != id {
		t.Errorf("the waiting tasks are %+v", tasks)
	}
	e.ask(acme, endpointsPath+endpoint+"/replay", `{"since":"2026-07-01T00:00:00Z"}`).expect(t, 409, rest.CodeConflict) // one at a time
	e.ask(acme, endpointsPath+e.newEndpoint(acme)+"/replay", `{"since":"2026-07-01T00:00:00Z"}`).ok(t)
	if got := e.ask(acme, "/v1/webhook/replays/"+id+"/get", "").ok(t); got["id"] != id || got["found"] != 0.0 {
		t.Errorf("it is %v", got)
	}
	if list := e.ask(acme, "/v1/webhook/replays/list", "").ok(t)["data"].([]any); len(list) != 2 {
		t.Errorf("the list is %v", list)
	}
	e.ask(bolt, "/v1/webhook/replays/"+id+"/get", "").expect(t, 404, rest.CodeNotFound)
	e.ask(bolt, endpointsPath+endpoint+"/replay", `{"since":"2026-07-01T00:00:00Z"}`).expect(t, 404, rest.CodeNotFound)
	e.ask(acme, endpointsPath+endpoint+"/update", `{"enabled":false}`).ok(t)
	e.ask(acme, endpointsPath+endpoint+"/replay", `{"since":"2026-07-01T00:00:00Z"}`).expect(t, 409, rest.CodeConflict)
	for body, want := range map[string]string{`{}`: "since", `{"since":"2026-07-01T00:00:00Z","outcomes":["DELIVERED"]}`: "outcomes[0]", `{"since":"2026-07-01T00:00:00Z","outcomes":[]}`: "outcomes",
		`{"since":"2026-07-01T00:00:00Z","outcomes":["FAILED","FAILED","FAILED"]}`: "outcomes"} {
		if got := e.ask(acme, endpointsPath+endpoint+"/replay", body).expect(t, 400, rest.CodeValidationFailed).fields(t); len(got) != 1 || got[0] != want {
			t.Errorf("%s names %v, want %s", body, got, want)
		}
	}
}
