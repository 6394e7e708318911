package ledger

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// eventID returns the identifier of event n, in the order of time.
func eventID(n int) string { return fmt.Sprintf("%s01J%023d", events.NoticePrefix, n) }

// sent is the receipt of an attempt to send an event to an endpoint.
func sent(id, endpoint string, o events.Outcome, attempt int) events.Receipt {
	d := delivery("", o, attempt)
	d.EventType, d.EndpointID, d.MessageID = storage.EventFlexAlert, endpoint, events.MessageID(id, "", endpoint)
	d.Milliseconds = 1
	return events.Receipt{
		TriggerID: id, OrganizationID: "org", Key: fmt.Sprintf("n%d.%s", attempt, endpoint), EventType: d.EventType, Deliveries: []events.Delivery{d},
	}
}

// ofEvents returns the deliveries of a query of events, as event, endpoint and outcome.
func ofEvents(t *testing.T, l *Ledger, q events.DeliveryQuery) (list []string) {
	t.Helper()
	q.Events, q.Limit = true, max(q.Limit, 1)
	for _, d := range all(t, l, "org", q) {
		if d.EventType != storage.EventFlexAlert || d.HomeID != "" {
			t.Errorf("the delivery of an event is %+v", d)
		}
		list = append(list, fmt.Sprintf("%s %s %s %d", d.TriggerID[len(d.TriggerID)-1:], d.EndpointID, d.Outcome, d.Attempt))
	}
	return list
}

// The deliveries of events are listed newest event first, apart from those of signals, whatever
// the order and the number of their receipts.
func TestDeliveries_Events(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	tr := trigger("org", "trg_01J00000000000000000000001", 0, 1)
	accept(t, l, tr)
	first := sent(eventID(1), "ep1", events.OutcomeRetrying, 1)
	gone := sent(eventID(2), "ep1", events.OutcomeFailed, 1)
	gone.Deliveries[0].Milliseconds, gone.Deliveries[0].Reason = 0, "the endpoint is disabled"
	other := sent(eventID(3), "ep1", events.OutcomeDelivered, 1)
	other.OrganizationID = "other"
	fold(
		t, l, slice(tr, 0, true, delivery("h1", events.OutcomeDelivered, 1)),
		sent(eventID(1), "ep1", events.OutcomeDelivered, 2), first, first, sent(eventID(1), "ep2", events.OutcomeRetrying, 1),
		sent(eventID(2), "ep1", events.OutcomeRetrying, 1), gone, other,
	)
	failed, delivered, waiting := "2 ep1 FAILED 1", "1 ep1 DELIVERED 2", "1 ep2 RETRYING 1"
	for name, c := range map[string]struct {
		q    events.DeliveryQuery
		want []string
	}{
		"all":            {events.DeliveryQuery{}, []string{failed, delivered, waiting}},
		"one page":       {events.DeliveryQuery{Limit: 9}, []string{failed, delivered, waiting}},
		"by event":       {events.DeliveryQuery{TriggerID: eventID(1)}, []string{delivered, waiting}},
		"by endpoint":    {events.DeliveryQuery{EndpointID: "ep1"}, []string{failed, delivered}},
		"by outcome":     {events.DeliveryQuery{Outcomes: []events.Outcome{events.OutcomeRetrying}}, []string{waiting}},
		"since":          {events.DeliveryQuery{Since: noon.Add(2 * time.Second)}, []string{delivered}},
		"until":          {events.DeliveryQuery{Until: noon.Add(2 * time.Second)}, []string{failed, waiting}},
		"of a home":      {events.DeliveryQuery{HomeID: "h1"}, nil},
		"after an event": {events.DeliveryQuery{After: cursor{trigger: eventID(2), place: begin}.String()}, []string{failed, delivered, waiting}},
	} {
		if got := ofEvents(t, l, c.q); !slices.Equal(got, c.want) {
			t.Errorf("%s: the deliveries are %q, want %q", name, got, c.want)
		}
	}
	// A delivery that begins between two pages moves none of the others.
	page, next, err := l.Deliveries("org", events.DeliveryQuery{Events: true, TriggerID: eventID(1), Limit: 1})
	must(t, err)
	fold(t, l, sent(eventID(1), "ep0", events.OutcomeDelivered, 1))
	rest := ofEvents(t, l, events.DeliveryQuery{TriggerID: eventID(1), After: next})
	if len(page) != 1 || page[0].EndpointID != "ep1" || !slices.Equal(rest, []string{waiting}) {
		t.Errorf("the first page is %+v, and the rest %q", page, rest)
	}
	for _, id := range []string{eventID(3), eventID(4), tr.ID} { // of another organization, unknown, no event
		if _, _, err := l.Deliveries("org", events.DeliveryQuery{Events: true, TriggerID: id, Limit: 1}); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("the deliveries of %s return %v", id, err)
		}
	}
	signals := all(t, l, "org", events.DeliveryQuery{Limit: 9})
	if len(signals) != 1 || signals[0].HomeID != "h1" {
		t.Errorf("the deliveries of signals are %+v", signals)
	}
	if p := progress(t, l, tr); p.Outcomes[events.OutcomeDelivered] != 1 || len(p.Outcomes) != 1 {
		t.Errorf("the trigger has the outcomes %v", p.Outcomes)
	}
	must(t, l.Prune(noon.Add(time.Minute)))
	if left := ofEvents(t, l, events.DeliveryQuery{}); len(left) > 0 {
		t.Errorf("after their retention the deliveries are %q", left)
	}
}

// A delivery of an event has its attempts in the order of time. The reason of one that ended
// without a request also says why the last request failed.
func TestDelivery_Event(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	id := eventID(1)
	gone := sent(id, "ep1", events.OutcomeFailed, 2)
	gone.Key, gone.Deliveries[0].At, gone.Deliveries[0].Milliseconds, gone.Deliveries[0].Reason = "n3.ep1", at(time.Minute), 0, "the endpoint is disabled"
	fold(t, l, sent(id, "ep1", events.OutcomeRetrying, 1), sent(id, "ep1", events.OutcomeRetrying, 2), gone, sent(id, "ep2", events.OutcomeDelivered, 1))
	log, err := l.Delivery("org", events.MessageID(id, "", "ep1"))
	must(t, err)
	var attempts []string
	for _, a := range log.Attempts {
		attempts = append(attempts, fmt.Sprintf("%d %s", a.Number, a.Outcome))
	}
	if want := []string{"1 RETRYING", "2 RETRYING", "2 FAILED"}; !slices.Equal(attempts, want) {
		t.Errorf("the attempts are %q, want %q", attempts, want)
	}
	if want := "the endpoint is disabled; last attempt: the endpoint responded 500"; log.Reason != want || log.TriggerID != id || log.EventType != storage.EventFlexAlert {
		t.Errorf("the delivery is %+v, want the reason %q", log.Delivery, want)
	}
	if log, err = l.Delivery("org", events.MessageID(id, "", "ep2")); err != nil || log.Outcome != events.OutcomeDelivered || len(log.Attempts) != 1 {
		t.Errorf("the delivery to another endpoint is %+v, %v", log, err)
	}
	for _, message := range []string{events.MessageID(id, "", "ep3"), events.MessageID(eventID(2), "", "ep1")} {
		if _, err := l.Delivery("org", message); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("the unknown delivery %s returns %v", message, err)
		}
	}
	if _, err := l.Delivery("other", events.MessageID(id, "", "ep1")); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("the delivery of another organization returns %v", err)
	}
}
