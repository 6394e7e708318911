package ledger

import (
	"errors"
	"maps"
	"reflect"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

func keptFor(homes ...string) events.RetryInputs {
	k := events.RetryInputs{EndpointID: "ep", Curves: []events.RetryCurve{{RatePlanID: "p"}}}
	for i, h := range homes {
		k.Homes = append(k.Homes, events.RetryHome{HomeID: h, Revision: uint64(i) + 1})
	}
	return k
}

// named sets the identifiers that follow from the other fields of deliveries.
func named(tr events.Trigger, list ...events.Delivery) []events.Delivery {
	for i := range list {
		list[i].MessageID = events.MessageID(tr.ID, list[i].HomeID, list[i].EndpointID)
	}
	return list
}

// given returns a trigger with two homes that failed at once, and one that failed after
// a retry.
func given(t *testing.T) (*Ledger, events.Trigger) {
	l := newLedger(t)
	tr := trigger("org", "trg_1", 0, 4)
	accept(t, l, tr)
	first := slice(tr, 0, true, named(tr, delivery("a", events.OutcomeFailed, 1), delivery("b", events.OutcomeExpired, 1), delivery("c", events.OutcomeRetrying, 1), delivery("d", events.OutcomeDelivered, 1))...)
	first.RetryInputs = []events.RetryInputs{keptFor("a", "b")}
	last := retry(tr, "r1.ep.x", named(tr, delivery("c", events.OutcomeFailed, 2))...)
	last.RetryInputs = []events.RetryInputs{keptFor("c")}
	fold(t, l, first, last)
	return l, tr
}

func TestInputs_FailedDeliveries(t *testing.T) {
	l, tr := given(t)
	list, _, err := l.Deliveries("org", events.DeliveryQuery{Outcomes: []events.Outcome{events.OutcomeFailed, events.OutcomeExpired, events.OutcomeDelivered}, Limit: 9})
	must(t, err)
	got, found, err := l.RetryInputs("org", "trg_1", list)
	must(t, err)
	if got.ID != tr.ID || got.Sequence != 1 {
		t.Errorf("trigger is %+v", got)
	}
	if want := []events.RetryInputs{keptFor("a", "b"), keptFor("c")}; !reflect.DeepEqual(found, want) {
		t.Errorf("stored inputs are\n%+v, want\n%+v", found, want)
	}
	if _, found, err := l.RetryInputs("org", "trg_1", list[1:2]); err != nil || len(found) != 1 || len(found[0].Homes) != 1 || found[0].Homes[0].HomeID != "b" {
		t.Errorf("inputs of b are %+v, %v", found, err)
	}
	if _, _, err := l.RetryInputs("other", "trg_1", list); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("another organization finds the inputs: %v", err)
	}
}

// Every delivery gets the inputs of its own slice, retry and endpoint, in any order of the
// deliveries. Inputs without such a delivery are left out.
func TestInputs_SlicesAndEndpoints(t *testing.T) {
	l := newLedger(t)
	tr := trigger("org", "trg_1", 0, 6)
	accept(t, l, tr)
	at := func(endpoint string, d events.Delivery) events.Delivery { d.EndpointID = endpoint; return d }
	failed := func(endpoint string, homes ...string) (list []events.Delivery) {
		for _, h := range homes {
			list = append(list, at(endpoint, delivery(h, events.OutcomeFailed, 1)))
		}
		return list
	}
	kept := func(endpoint string, homes ...string) events.RetryInputs {
		k := keptFor(homes...)
		k.EndpointID, k.Curves[0].RatePlanID = endpoint, endpoint+homes[0]
		return k
	}
	both := append(failed("ep", "a", "b", "c"), failed("other", "a", "b", "c")...)
	first := slice(tr, 0, false, named(tr, both...)...)
	first.RetryInputs = []events.RetryInputs{kept("ep", "a", "b"), kept("ep", "c"), kept("other", "a", "b", "c")}
	waiting := []events.Delivery{delivery("e", events.OutcomeRetrying, 1), delivery("f", events.OutcomeRetrying, 1)}
	second := slice(tr, 1, true, named(tr, append(failed("ep", "d"), waiting...)...)...)
	second.RetryInputs = []events.RetryInputs{kept("ep", "d")}
	ended := []events.Delivery{delivery("e", events.OutcomeFailed, 2), delivery("f", events.OutcomeFailed, 2)}
	retried := retry(tr, "r1", named(tr, ended...)...)
	retried.RetryInputs = []events.RetryInputs{kept("ep", "e", "f")}
	fold(t, l, first, second, retried)
	asked := append(append(failed("ep", "f", "d", "b", "e", "a"), failed("other", "c")...), failed("third", "unknown")...)
	_, found, err := l.RetryInputs("org", "trg_1", asked)
	must(t, err)
	third := kept("other", "a", "b", "c")
	third.Homes = third.Homes[2:]
	if want := []events.RetryInputs{kept("ep", "e", "f"), kept("ep", "d"), kept("ep", "a", "b"), third}; !reflect.DeepEqual(found, want) {
		t.Errorf("stored inputs are\n%+v, want\n%+v", found, want)
	}
}

func TestInputs_ManualRetry(t *testing.T) {
	l, tr := given(t)
	check := func(what string, status events.TriggerStatus, want map[events.Outcome]int) {
		t.Helper()
		if p := progress(t, l, tr); p.Status != status || !reflect.DeepEqual(p.Outcomes, want) {
			t.Errorf("%s: %s %v, want %s %v", what, p.Status, p.Outcomes, status, want)
		}
	}
	check("failed", events.TriggerCompleted, map[events.Outcome]int{events.OutcomeFailed: 2, events.OutcomeExpired: 1, events.OutcomeDelivered: 1})
	takeUp := func(minute int, homes ...string) (events.Retry, events.Receipt) {
		k := keptFor(homes...)
		return k.Retry(tr, at(time.Duration(minute)*time.Minute), noon)
	}
	r, receipt := takeUp(10, "a", "c", "d", "unknown")
	fold(t, l, receipt, receipt)
	check("retried manually", events.TriggerRunning, map[events.Outcome]int{events.OutcomeRetrying: 2, events.OutcomeExpired: 1, events.OutcomeDelivered: 1})

	// A late receipt of an earlier attempt does not count.
	fold(t, l, retry(tr, "r1.ep.y", named(tr, delivery("c", events.OutcomeExpired, 3))...))
	check("late", events.TriggerRunning, map[events.Outcome]int{events.OutcomeRetrying: 2, events.OutcomeExpired: 1, events.OutcomeDelivered: 1})

	again := retry(tr, r.Key(), named(tr, delivery("a", events.OutcomeDelivered, 1), delivery("c", events.OutcomeRetrying, 1))...)
	fold(t, l, again, receipt)
	check("the retry", events.TriggerRunning, map[events.Outcome]int{events.OutcomeDelivered: 2, events.OutcomeRetrying: 1, events.OutcomeExpired: 1})
	r.Round = 2
	failed := delivery("c", events.OutcomeFailed, 2)
	failed.At = at(11 * time.Minute)
	fold(t, l, retry(tr, r.Key(), named(tr, failed)...))
	check("failed again", events.TriggerCompleted, map[events.Outcome]int{events.OutcomeDelivered: 2, events.OutcomeFailed: 1, events.OutcomeExpired: 1})

	// The receipt of a manual retry may arrive before the receipt that starts it.
	r, receipt = takeUp(20, "a", "b", "c")
	quick := delivery("b", events.OutcomeRetrying, 1)
	quick.At = at(20*time.Minute + time.Second)
	fold(t, l, retry(tr, r.Key(), named(tr, quick)...), receipt)
	check("retried manually again", events.TriggerRunning, map[events.Outcome]int{events.OutcomeDelivered: 2, events.OutcomeRetrying: 2})
	log, err := l.Delivery("org", events.MessageID(tr.ID, "c", "ep"))
	must(t, err)
	if log.Outcome != events.OutcomeRetrying || log.Reason != "retried by hand" || len(log.Attempts) != 3 {
		t.Errorf("delivery log is %+v", log)
	}
}

// TestInputs_TwoManualRetries retries a delivery by two replays at the same time. The delivery
// counts as delivered if one of them delivers it, in any order, and otherwise as the later
// one ends.
func TestInputs_TwoManualRetries(t *testing.T) {
	delivered, expired, failed := events.OutcomeDelivered, events.OutcomeExpired, events.OutcomeFailed
	for _, tt := range []struct{ first, second, want events.Outcome }{
		{expired, delivered, delivered}, {delivered, expired, delivered}, {expired, failed, failed}, {delivered, delivered, delivered},
	} {
		for order := range 2 {
			l, tr := given(t)
			k, before := keptFor("a"), progress(t, l, tr).Outcomes
			ends := make([]events.Receipt, 2)
			for i, o := range []events.Outcome{tt.first, tt.second} {
				r, receipt := k.Retry(tr, at(time.Duration(10+i)*time.Minute), noon)
				fold(t, l, receipt)
				d := delivery("a", o, 1)
				d.At = at(time.Duration(20+i) * time.Minute)
				ends[i] = retry(tr, r.Key(), named(tr, d)...)
			}
			fold(t, l, ends[order], ends[1-order])
			before[failed]--
			before[tt.want]++
			maps.DeleteFunc(before, func(_ events.Outcome, n int) bool { return n == 0 })
			if p := progress(t, l, tr); p.Status != events.TriggerCompleted || !reflect.DeepEqual(p.Outcomes, before) {
				t.Errorf("%+v in the order %d: %s %v, want %v", tt, order, p.Status, p.Outcomes, before)
			}
			log, err := l.Delivery("org", events.MessageID(tr.ID, "a", "ep"))
			if must(t, err); log.Outcome != tt.want {
				t.Errorf("%+v in the order %d: %s", tt, order, log.Outcome)
			}
		}
	}
}
