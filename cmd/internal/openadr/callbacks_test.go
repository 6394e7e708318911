package openadr_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/app"
)

// subscribe creates a subscription whose callback is the receiver's path.
func (w *world) subscribe(role, path, objects, operations, more string) string {
	w.t.Helper()
	return w.want(http.StatusCreated, role, http.MethodPost, "subscriptions", fmt.Sprintf(
		`{"clientName":"%s"%s,"objectOperations":[{"objects":[%s],"operations":[%s],"callbackUrl":"%s","bearerToken":"token-of-%s"}]}`,
		role, more, objects, operations, w.receiver.URL+path, role)).field("id")
}

func at(path, operation, id string) func(*callback) bool {
	return func(c *callback) bool {
		return c.path == path && c.Operation == operation && (id == "" || c.Object["id"] == id)
	}
}

const allOperations = `"CREATE","UPDATE","DELETE"`

// TestCallbacks_HistoryFull checks that an organization cannot fill the store with changes.
func TestCallbacks_HistoryFull(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *app.Options) { o.Limits.MaxHistory = 64 << 10 }) // several changes: from twice as much on, callbacks wait
	w.subscribe("ven1", "/ven1", `"PROGRAM"`, allOperations, "")
	program := w.program("P")
	w.await("the program", at("/ven1", "CREATE", program))
	refused := w.ask("bl", http.MethodPut, "programs/"+program, `{"programName":"Q"}`)
	for n := 0; refused.status == http.StatusOK && n < 100; n++ {
		refused = w.ask("bl", http.MethodPut, "programs/"+program, fmt.Sprintf(`{"programName":"Q%d"}`, n))
	}
	if refused.status != http.StatusTooManyRequests {
		t.Fatalf("after 100 changes of the program: %d %s", refused.status, refused.body)
	}
	if !strings.Contains(string(refused.body), "max-history") {
		t.Errorf("the change is refused with %s", refused.body)
	}
	w.want(http.StatusTooManyRequests, "bl", http.MethodPost, "programs", `{"programName":"R"}`)
	w.want(http.StatusCreated, "foreign", http.MethodPost, "programs", `{"programName":"P"}`)
	w.want(http.StatusOK, "bl", http.MethodDelete, "programs/"+program, "")
}

// TestCallbacks_WrittenObjects checks that a subscriber gets callbacks of written
// objects, with its bearer token and query, and can read the objects.
func TestCallbacks_WrittenObjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.subscribe("ven1", "/ven1?sig=opaque&v=2", `"PROGRAM","EVENT","REPORT","VEN","RESOURCE","SUBSCRIPTION"`, allOperations, "")
	if shown := w.want(http.StatusOK, "ven1", http.MethodGet, "subscriptions/"+id, ""); strings.Contains(string(shown.body), "opaque") || !strings.Contains(string(shown.body), `"bearerToken":"********"`) {
		t.Errorf("the subscription shows its secrets: %s", shown.body)
	}
	program := w.want(http.StatusCreated, "bl", http.MethodPost, "programs", `{"programName":"P"}`).field("id")
	got := w.await("the program", at("/ven1", "CREATE", program))
	if got.authorization != "Bearer token-of-ven1" || got.query != "sig=opaque&v=2" || got.ObjectType != "PROGRAM" || !strings.HasPrefix(got.id, "msg_") {
		t.Errorf("the callback is %+v", got)
	}
	body := `{"programID":"` + program + `","eventName":"%s","intervals":[{"id":0,"payloads":[{"type":"PRICE","values":[1.5]}]}]}`
	event := w.want(http.StatusCreated, "bl", http.MethodPost, "events", fmt.Sprintf(body, "one")).field("id")
	w.await("the event", at("/ven1", "CREATE", event))
	w.want(http.StatusOK, "bl", http.MethodPut, "events/"+event, fmt.Sprintf(body, "two"))
	if c := w.await("the update", at("/ven1", "UPDATE", event)); c.Object["eventName"] != "two" {
		t.Errorf("the update is %s", c.body)
	}
	if read := w.want(http.StatusOK, "ven1", http.MethodGet, "events/"+event, ""); read.field("eventName") != "two" {
		t.Errorf("the event is read as %s", read.body)
	}
	report := w.want(http.StatusCreated, "ven1", http.MethodPost, "reports", `{"eventID":"`+event+`","clientName":"v","resources":[]}`).field("id")
	w.await("the own report", at("/ven1", "CREATE", report))
	foreign := w.want(http.StatusCreated, "ven2", http.MethodPost, "reports", `{"eventID":"`+event+`","clientName":"v","resources":[]}`).field("id")
	w.want(http.StatusOK, "bl", http.MethodDelete, "programs/"+program, "")
	w.await("the deleted event", at("/ven1", "DELETE", event))
	w.await("the deleted program", at("/ven1", "DELETE", program))
	if n := w.count(func(c *callback) bool { return c.Object["id"] == foreign }); n != 0 {
		t.Error("a VEN was notified of another VEN's report")
	}
	w.want(http.StatusOK, "ven1", http.MethodDelete, "subscriptions/"+id, "")
}

// TestCallbacks_Targets checks that only clients with a granted target that request it
// get callbacks of an object with the target. They see no other target.
func TestCallbacks_Targets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	program := w.program("Targeted")
	for role, targets := range map[string]string{"ven1": `["group1","group3"]`, "ven2": `["group2"]`} {
		w.want(http.StatusCreated, "bl", http.MethodPost, "vens", `{"objectType":"BL_VEN_REQUEST","clientID":"`+w.keys[role]+`","venName":"`+role+`","targets":`+targets+`}`)
	}
	w.subscribe("ven1", "/granted", `"EVENT"`, allOperations, `,"targets":["group1","group2"]`)
	w.subscribe("ven2", "/other", `"EVENT"`, allOperations, `,"targets":["group1","group2"]`)
	w.subscribe("ven1", "/unasked", `"EVENT"`, allOperations, "")
	w.subscribe("ven1", "/program", `"EVENT"`, allOperations, `,"programID":"ev"`)
	w.subscribe("bl", "/business", `"EVENT"`, allOperations, "")
	create := func(targets string) string {
		return w.want(http.StatusCreated, "bl", http.MethodPost, "events", `{"programID":"`+program+`","targets":`+targets+`}`).field("id")
	}
	secret, public := create(`["group1","hidden"]`), create(`[]`)
	c := w.await("the target", at("/granted", "CREATE", secret))
	if got := fmt.Sprint(c.Object["targets"]); got != "[group1]" {
		t.Errorf("the VEN sees the targets %s", got)
	}
	if c := w.await("business logic", at("/business", "CREATE", secret)); fmt.Sprint(c.Object["targets"]) != "[group1 hidden]" {
		t.Errorf("business logic sees %s", c.body)
	}
	for _, path := range []string{"/granted", "/other", "/unasked", "/business"} {
		w.await("the event without targets", at(path, "CREATE", public))
	}
	for _, path := range []string{"/other", "/unasked", "/program"} {
		if n := w.count(at(path, "CREATE", secret)); n != 0 {
			t.Errorf("%s got a callback of an event that it may not see", path)
		}
	}
	if n := w.count(at("/program", "CREATE", public)); n != 0 {
		t.Error("a subscription to one program got another's event")
	}
	w.want(http.StatusNotFound, "ven1", http.MethodGet, "events/"+secret, "")
	if a := w.want(http.StatusOK, "ven1", http.MethodGet, "events/"+secret+"?targets=group1", ""); strings.Contains(string(a.body), "hidden") {
		t.Errorf("the VEN reads %s", a.body)
	}
	w.want(http.StatusNotFound, "ven2", http.MethodGet, "events/"+secret+"?targets=group1", "")
	lists := func(role, query string) bool {
		return slices.ContainsFunc(w.want(http.StatusOK, role, http.MethodGet, "events?"+query, "").list(), func(o map[string]any) bool { return o["id"] == secret })
	}
	if !lists("ven1", "targets=group1") || !lists("ven1", "targets=group1&targets=group3") || lists("ven1", "targets=group3") || lists("ven1", "") || lists("ven2", "targets=group1") || !lists("bl", "targets=hidden") {
		t.Error("the list of events ignores targets")
	}
	w.want(http.StatusForbidden, "ven1", http.MethodPut, "vens/"+w.venOf("ven1"), `{"objectType":"BL_VEN_REQUEST","clientID":"`+w.keys["ven1"]+`","venName":"ven1","targets":["group2"]}`)
}

// TestCallbacks_Prices checks that a changed tariff updates the events of its days, with
// the same identifiers.
func TestCallbacks_Prices(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.subscribe("ven1", "/prices", `"EVENT"`, allOperations, `,"programID":"ev"`)
	days := w.want(http.StatusOK, "ven1", http.MethodGet, "events?programID=ev", "").list()
	for _, day := range days {
		w.await("the new day", at("/prices", "CREATE", day["id"].(string)))
	}
	w.imports(`{"resource":"ratePlan","organizationId":"acme","id":"ev","tariff":` + strings.Replace(tariff, "0.25", "0.5", 1) + `}`)
	for _, day := range days {
		c := w.await("the changed day", at("/prices", "UPDATE", day["id"].(string)))
		if c.Object["createdDateTime"] != day["createdDateTime"] || !strings.Contains(string(c.body), "0.5") {
			t.Errorf("the update is %s", c.body)
		}
	}
	if n := w.count(func(c *callback) bool { return c.path == "/prices" }); n != 2*len(days) {
		t.Errorf("%d callbacks of %d days with one creation and one update", n, len(days))
	}
}

// TestCallbacks_Verified checks that a callback must echo a challenge, and lead to an
// allowed destination.
func TestCallbacks_Verified(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"clientName":"x","objectOperations":[{"objects":["EVENT"],"operations":["CREATE"],"callbackUrl":"%s"}]}`
	w.want(http.StatusBadRequest, "ven1", http.MethodPost, "subscriptions", fmt.Sprintf(body, w.receiver.URL+"/silent"))
	w.want(http.StatusBadRequest, "ven1", http.MethodPost, "subscriptions", fmt.Sprintf(body, "http://127.0.0.1:1/"))
	w.want(http.StatusCreated, "ven1", http.MethodPost, "subscriptions", fmt.Sprintf(body, w.receiver.URL+"/echo?a=b"))
}

// TestCallbacks_Retried checks that a retry has the same identifier and body, that 410
// disables the subscription, and that the delivery log shows each attempt.
func TestCallbacks_Retried(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"programID":"` + w.program("Retried") + `"`
	id := w.subscribe("ven1", "/hook", `"EVENT"`, allOperations, strings.Replace(body, "{", ",", 1))
	partner := w.operator.For("acme")
	w.receiver.respond(http.StatusServiceUnavailable)
	event := w.want(http.StatusCreated, "bl", http.MethodPost, "events", body+"}").field("id")
	first := w.await("the first attempt", at("/hook", "CREATE", event))
	w.receiver.respond(http.StatusOK)
	waitFor(t, "the delivery of the event", func() (struct{}, bool) {
		deliveries, _, err := partner.Deliveries(t.Context(), client.DeliveriesRequest{EndpointID: id})
		must(t, err)
		return struct{}{}, len(deliveries) == 1 && deliveries[0].Outcome == "DELIVERED" && deliveries[0].Attempt > 1
	})
	same := func(c *callback) bool { return c.id == first.id && string(c.body) == string(first.body) }
	if n, all := w.count(same), w.count(at("/hook", "CREATE", event)); n < 2 || n != all {
		t.Errorf("%d of %d attempts have the identifier and body of the first, want all and more than one", n, all)
	}
	w.receiver.respond(http.StatusGone)
	w.want(http.StatusOK, "bl", http.MethodPut, "events/"+event, body+`,"eventName":"Gone"}`)
	w.await("the last attempt", at("/hook", "UPDATE", event))
	endpoint := waitFor(t, "the disabling", func() (client.Endpoint, bool) {
		e, err := partner.GetEndpoint(t.Context(), id)
		must(t, err)
		return e, e.Disabled != nil
	})
	if endpoint.Disabled.Reason != "GONE" {
		t.Errorf("disabled as %+v", endpoint.Disabled)
	}
	waitFor(t, "both deliveries", func() (struct{}, bool) {
		deliveries, _, err := partner.Deliveries(t.Context(), client.DeliveriesRequest{EndpointID: id})
		must(t, err)
		return struct{}{}, len(deliveries) == 2 && deliveries[1].Outcome == "DELIVERED" && deliveries[1].Attempt > 1 && deliveries[0].Outcome == "FAILED"
	})
	list, _, err := partner.Endpoints(t.Context(), client.Page{Limit: 10})
	must(t, err)
	if len(list) != 1 || list[0].ID != id {
		t.Errorf("the endpoints are %+v", list)
	}
}

func (r *receiver) respond(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

// waitFor repeats a check until it succeeds.
func waitFor[T any](t *testing.T, what string, ask func() (T, bool)) T {
	t.Helper()
	for late := time.Now().Add(patience); ; <-time.After(100 * time.Millisecond) {
		if v, ok := ask(); ok {
			return v
		}
		if time.Now().After(late) {
			t.Fatalf("timeout: %s", what)
		}
	}
}
