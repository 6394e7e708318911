package api_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

const deliveriesPath = "/v1/webhook/deliveries/"

// record stores a receipt like a worker, and waits until the ledger has it.
func (e *env) record(r events.Receipt, shown func() bool) {
	e.t.Helper()
	must(e.t, e.bus.PutReceipt(e.t.Context(), r))
	ctx, cancel := context.WithTimeout(e.t.Context(), time.Minute)
	defer cancel()
	for {
		changed := e.deps.Ledger.Changed()
		if shown() {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			e.t.Fatal("the ledger does not show the receipt")
		}
	}
}

// deliver records the outcome of a trigger's only home, and returns the message's
// identifier.
func (e *env) deliver(org, trigger, endpoint, home string, o events.Outcome) string {
	e.t.Helper()
	d := events.Delivery{
		MessageID: events.MessageID(trigger, home, endpoint), HomeID: home, EndpointID: endpoint, Outcome: o,
		Attempt: 1, At: storage.Time{Time: e.clock().UTC()}, Status: 200, Milliseconds: 12.5,
		Timing: events.Timing{DNS: 1, Connect: 2, TLS: 3, FirstByte: 4},
	}
	if o != events.OutcomeDelivered {
		d.Status, d.ErrorClass, d.Reason, d.Response = 500, events.ErrorStatus, "the endpoint responded 500 Internal Server Error", "oops"
	}
	e.record(events.Receipt{
		TriggerID: trigger, OrganizationID: org, Key: "s0", Deliveries: []events.Delivery{d},
		Slice:       &events.SliceBounds{Through: home, Homes: 1, Last: true},
		RetryInputs: []events.RetryInputs{{EndpointID: endpoint, Homes: []events.RetryHome{{HomeID: home}}, Curves: []events.RetryCurve{{Runs: []pricing.Run{{N: 96}}}}}},
	}, func() bool { _, err := e.deps.Ledger.Delivery(org, d.MessageID); return err == nil })
	return d.MessageID
}

func TestDeliveryLog(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, bolt := e.twoTenants()
	var triggers, messages []string
	for i, o := range []events.Outcome{events.OutcomeDelivered, events.OutcomeFailed} {
		e.pass(time.Minute)
		triggers = append(triggers, e.ask(acme, triggerPath, "{}").ok(t)["triggerId"].(string))
		messages = append(messages, e.deliver("acme", triggers[i], fmt.Sprint("ep", i), "home1", o))
	}
	for body, want := range map[string]string{
		`{}`:                                   messages[1] + " " + messages[0],
		`{"triggerId":"` + triggers[0] + `"}`:  messages[0],
		`{"outcome":"FAILED"}`:                 messages[1],
		`{"outcome":"RETRYING"}`:               "",
		`{"homeId":"home1"}`:                   messages[1] + " " + messages[0],
		`{"homeId":"home2"}`:                   "",
		`{"endpointId":"ep0"}`:                 messages[0],
		`{"since":"2026-07-01T12:09:00Z"}`:     messages[1],
		`{"until":"2026-07-01T12:09:00Z"}`:     messages[0],
		`{"since":"2026-07-01T12:09:30.001Z"}`: "",
	} {
		var got []string
		for _, d := range e.ask(acme, deliveriesPath+"list", body).ok(t)["data"].([]any) {
			got = append(got, d.(map[string]any)["id"].(string))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s lists %v, want %s", body, got, want)
		}
	}
	page := e.ask(acme, deliveriesPath+"list", `{"limit":1}`).ok(t)
	second := e.ask(acme, deliveriesPath+"list", `{"limit":1,"after":"`+page["next"].(string)+`"}`).ok(t)
	if second["data"].([]any)[0].(map[string]any)["id"] != messages[0] || second["next"] != nil {
		t.Errorf("the second page is %v", second)
	}
	e.ask(acme, deliveriesPath+"list", `{"since":"2026-07-01T12:09:00Z","until":"2026-07-01T12:09:00Z"}`).expect(t, 400, rest.CodeValidationFailed)
	if list := e.ask(bolt, deliveriesPath+"list", "").ok(t)["data"].([]any); len(list) != 0 {
		t.Errorf("another organization sees %v", list)
	}

	log := e.ask(acme, deliveriesPath+messages[1]+"/get", "").ok(t)
	attempts := log["attempts"].([]any)
	if len(attempts) != 1 || log["triggerId"] != triggers[1] || log["outcome"] != "FAILED" || log["answer"] != "oops" {
		t.Fatalf("the delivery is %v", log)
	}
	if a := attempts[0].(map[string]any); a["errorClass"] != "status" || a["durationMs"] != 12.5 || fmt.Sprint(a["timing"]) != "map[connectMs:2 dnsMs:1 firstByteMs:4 tlsMs:3]" {
		t.Errorf("its attempt is %v", a)
	}
	e.ask(bolt, deliveriesPath+messages[1]+"/get", "").expect(t, 404, rest.CodeNotFound)
	e.ask(acme, deliveriesPath+"msg_unknown/get", "").expect(t, 404, rest.CodeNotFound)
}

// An operator key without an organization reads the messages to the operator's channels. The
// log of an organization does not have them, and the operator's log has nothing else.
func TestDeliveryLog_OfOperator(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.twoTenants()
	const event = "evt_01JZ2E6K8M0000000000000000_operator"
	message := events.MessageID(event, "", "ch_1")
	e.record(events.Receipt{
		TriggerID: event, OrganizationID: storage.Shared, Key: "n1.ch_1", EventType: storage.EventEndpointDisabled,
		Deliveries: []events.Delivery{{EndpointID: "ch_1", Outcome: events.OutcomeDelivered, Attempt: 1, At: storage.Time{Time: e.clock().UTC()}}},
	}, func() bool { _, err := e.deps.Ledger.Delivery(storage.Shared, message); return err == nil })
	for name, c := range map[string]struct {
		list answer
		want []string
	}{
		"the operator":           {e.operate(deliveriesPath+"list", `{"events":true}`), []string{message}},
		"the operator's signals": {e.operate(deliveriesPath+"list", ""), nil},
		"an organization":        {e.ask(acme, deliveriesPath+"list", `{"events":true}`), nil},
	} {
		var got []string
		for _, d := range c.list.ok(t)["data"].([]any) {
			got = append(got, d.(map[string]any)["id"].(string))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("the list of %s is %q, want %q", name, got, c.want)
		}
	}
	if log := e.operate(deliveriesPath+message+"/get", "").ok(t); log["endpointId"] != "ch_1" {
		t.Errorf("the operator's delivery is %v", log)
	}
	e.ask(acme, deliveriesPath+message+"/get", "").expect(t, 404, rest.CodeNotFound)
}

// The log of events is apart from the log of signals. An event cannot be sent again, and the
// responses to a retry and to a query of its request say so.
func TestDeliveryLog_Events(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, bolt := e.twoTenants()
	const event = "evt_01JZ2E6K8M0000000000000000"
	message := events.MessageID(event, "", "ep0")
	e.record(events.Receipt{
		TriggerID: event, OrganizationID: "acme", Key: "n1.ep0", EventType: storage.EventFlexAlert,
		Deliveries: []events.Delivery{{EndpointID: "ep0", Outcome: events.OutcomeFailed, Attempt: 1, At: storage.Time{Time: e.clock().UTC()}, Status: 500, Milliseconds: 2}},
	}, func() bool { _, err := e.deps.Ledger.Delivery("acme", message); return err == nil })
	list := e.ask(acme, deliveriesPath+"list", `{"events":true,"outcome":"FAILED"}`).ok(t)["data"].([]any)
	if len(list) != 1 {
		t.Fatalf("the list of events is %v", list)
	}
	if d := list[0].(map[string]any); d["id"] != message || d["eventType"] != "flex_alert" || d["triggerId"] != event || d["homeId"] != "" {
		t.Errorf("the delivery of the event is %v", d)
	}
	for _, nothing := range []any{
		e.ask(acme, deliveriesPath+"list", `{}`).ok(t)["data"], e.ask(acme, deliveriesPath+"list", `{"events":true,"outcome":"DELIVERED"}`).ok(t)["data"],
		e.ask(bolt, deliveriesPath+"list", `{"events":true}`).ok(t)["data"],
	} {
		if len(nothing.([]any)) != 0 {
			t.Errorf("another list is %v", nothing)
		}
	}
	if log := e.ask(acme, deliveriesPath+message+"/get", "").ok(t); log["eventType"] != "flex_alert" || len(log["attempts"].([]any)) != 1 {
		t.Errorf("the delivery is %v", log)
	}
	for _, operation := range []string{"retry", "request"} {
		if got := e.ask(acme, deliveriesPath+message+"/"+operation, "").expect(t, 409, rest.CodeConflict).body; !strings.Contains(string(got), "The delivery is of an event") {
			t.Errorf("%s responds %q", operation, got)
		}
	}
}
