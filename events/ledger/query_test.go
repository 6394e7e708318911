package ledger

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// all reads all pages of a query.
func all(t testing.TB, l *Ledger, org string, q events.DeliveryQuery) (list []events.Delivery) {
	t.Helper()
	for {
		page, next, err := l.Deliveries(org, q)
		must(t, err)
		if len(page) > q.Limit {
			t.Fatalf("page has %d deliveries, limit is %d", len(page), q.Limit)
		}
		list = append(list, page...)
		if q.After = next; next == "" {
			return list
		}
	}
}

// drawWalk draws the deliveries of a trigger's homes, also with missing slices.
func drawWalk(rt *rapid.T, l *Ledger, t testing.TB, tr events.Trigger) (list []events.Delivery) {
	var receipts []events.Receipt
	home := 0
	n := rapid.IntRange(0, 6).Draw(rt, "slices")
	for number := range n {
		var deliveries []events.Delivery
		for range rapid.IntRange(1, 4).Draw(rt, "homes") { // only a walk without homes has an empty slice
			home += rapid.IntRange(1, 2).Draw(rt, "step")
			for _, endpoint := range []string{"ep1", "ep2"} {
				d := delivery(fmt.Sprintf("h%02d", home), rapid.SampledFrom(events.Outcomes()).Draw(rt, "outcome"), 1)
				d.EndpointID, d.MessageID = endpoint, events.MessageID(tr.ID, d.HomeID, endpoint)
				d.At = at(time.Duration(rapid.IntRange(0, 9).Draw(rt, "at")) * time.Minute)
				deliveries = append(deliveries, d)
			}
		}
		if rapid.IntRange(0, 5).Draw(rt, "lost") == 0 {
			continue
		}
		receipts = append(receipts, slice(tr, number, number == n-1, deliveries...))
		for _, d := range deliveries {
			if d.Outcome == events.OutcomeRetrying && rapid.Bool().Draw(rt, "retried") {
				d.Outcome, d.Attempt = events.OutcomeDelivered, 2
				d.At = at(time.Duration(rapid.IntRange(0, 9).Draw(rt, "retried at")) * time.Minute)
				receipts = append(receipts, retry(tr, "r1."+d.EndpointID+"."+d.HomeID+".1", d))
			}
			d.TriggerID = tr.ID
			list = append(list, d)
		}
	}
	if len(receipts) > 0 {
		fold(t, l, receipts...)
	}
	return list
}

// A query with any filters and any page length returns the same as a filter over all
// deliveries.
func TestDeliveries_Filters(t *testing.T) {
	dir, runs := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		l := openLedger(t, filepath.Join(dir, fmt.Sprint(runs)))
		defer func() { must(t, l.Close()) }()
		var list []events.Delivery // in the order of the list, newest trigger first
		for i := range 3 {
			tr := trigger("org", fmt.Sprint("trg_", i), time.Duration(i)*time.Minute, 9)
			accept(t, l, tr)
			list = append(drawWalk(rt, l, t, tr), list...)
		}
		foreign := trigger("orh", "trg_x", 0, 1)
		accept(t, l, foreign)
		fold(t, l, slice(foreign, 0, true, delivery("h01", events.OutcomeDelivered, 1)))

		q := events.DeliveryQuery{Limit: rapid.IntRange(1, 7).Draw(rt, "limit")}
		if rapid.Bool().Draw(rt, "by trigger") {
			q.TriggerID = rapid.SampledFrom([]string{"trg_0", "trg_1", "trg_2"}).Draw(rt, "trigger")
		}
		if rapid.Bool().Draw(rt, "by home") {
			q.HomeID = fmt.Sprintf("h%02d", rapid.IntRange(0, 30).Draw(rt, "home"))
		}
		if rapid.Bool().Draw(rt, "by endpoint") {
			q.EndpointID = "ep2"
		}
		if rapid.Bool().Draw(rt, "by outcome") {
			q.Outcomes = rapid.SliceOfN(rapid.SampledFrom(events.Outcomes()), 1, 2).Draw(rt, "outcomes")
		}
		if rapid.Bool().Draw(rt, "since") {
			q.Since = noon.Add(time.Duration(rapid.IntRange(0, 9).Draw(rt, "since")) * time.Minute)
		}
		if rapid.Bool().Draw(rt, "until") {
			q.Until = noon.Add(time.Duration(rapid.IntRange(0, 9).Draw(rt, "until")) * time.Minute)
		}
		want := slices.DeleteFunc(list, func(d events.Delivery) bool {
			return q.TriggerID != "" && d.TriggerID != q.TriggerID || q.HomeID != "" && d.HomeID != q.HomeID ||
				q.EndpointID != "" && d.EndpointID != q.EndpointID || q.Outcomes != nil && !slices.Contains(q.Outcomes, d.Outcome) ||
				!q.Since.IsZero() && d.At.Before(q.Since) || !q.Until.IsZero() && !d.At.Before(q.Until)
		})
		want = slices.DeleteFunc(want, func(d events.Delivery) bool {
			// A delivery before its trigger was accepted does not count.
			created := noon.Add(time.Duration(d.TriggerID[len("trg_")]-'0') * time.Minute)
			return !q.Until.IsZero() && !created.Before(q.Until)
		})
		if got := all(t, l, "org", q); !slices.Equal(got, want) {
			rt.Fatalf("query %+v returns\n%+v, want\n%+v", q, got, want)
		}
		for _, d := range want {
			log, err := l.Delivery("org", d.MessageID)
			if err != nil || log.Delivery != d {
				rt.Fatalf("delivery by identifier is %+v, %v, want %+v", log, err, d)
			}
			if _, err := l.Delivery("orh", d.MessageID); !errors.Is(err, storage.ErrNotFound) {
				rt.Fatalf("another organization finds the delivery: %v", err)
			}
		}
	})
}

// A page continues after a trigger that has expired meanwhile. It repeats no newer trigger.
func TestDeliveries_PrunedCursor(t *testing.T) {
	l := newLedger(t)
	for n, org := range []string{"org", "org", "org", "other"} {
		tr := trigger(org, fmt.Sprint("trg_", n), time.Duration(n)*time.Hour, 2)
		accept(t, l, tr)
		fold(t, l, slice(tr, 0, true, delivery("a", events.OutcomeDelivered, 1), delivery("b", events.OutcomeDelivered, 1)))
	}
	for pruned, limit := range []int{5, 3, 1} { // a page ends in the oldest trigger, then in the next
		page, next, err := l.Deliveries("org", events.DeliveryQuery{Limit: limit})
		if err != nil || len(page) != limit || next == "" {
			t.Fatalf("%d deliveries, %q, %v", len(page), next, err)
		}
		must(t, l.Prune(noon.Add(time.Duration(pruned)*time.Hour+time.Minute)))
		if page, next, err = l.Deliveries("org", events.DeliveryQuery{After: next, Limit: 10}); err != nil || len(page) != 0 || next != "" {
			t.Errorf("the page after a deleted trigger has %d deliveries and the next cursor %q: %v", len(page), next, err)
		}
	}
}

// The cost of a page is limited. A search with few results returns a short page, and the
// next page continues.
func TestDeliveries_LongSearch(t *testing.T) {
	l := newLedger(t)
	tr := trigger("org", "trg_1", 0, maxOpened+10)
	accept(t, l, tr)
	receipts := make([]events.Receipt, maxOpened+10)
	for i := range receipts {
		o := events.OutcomeRetrying
		if i == len(receipts)-1 {
			o = events.OutcomeFailed
		}
		receipts[i] = slice(tr, i, false, delivery(fmt.Sprintf("h%06d", i), o, 1))
	}
	fold(t, l, receipts...)
	q := events.DeliveryQuery{Outcomes: []events.Outcome{events.OutcomeFailed}, Limit: 5}
	page, next, err := l.Deliveries("org", q)
	if err != nil || len(page) != 0 || next == "" {
		t.Fatalf("first page has %d deliveries, next cursor %q, %v", len(page), next, err)
	}
	if got := all(t, l, "org", q); len(got) != 1 {
		t.Errorf("search returns %+v", got)
	}
	q.HomeID = "h004009"
	if page, next, err := l.Deliveries("org", q); err != nil || len(page) != 1 || next != "" {
		t.Errorf("search by home returns %+v, %q, %v", page, next, err)
	}
}

func TestAttempts_AllStored(t *testing.T) {
	l := newLedger(t)
	tr := trigger("org", "trg_01M7YDEW9M1369VPJYNH7DJVSQ", 0, 2)
	accept(t, l, tr)
	id := events.MessageID(tr.ID, "a", "ep")
	attempt := func(n int, o events.Outcome, ms float64) events.Delivery {
		d := delivery("a", o, n)
		d.MessageID, d.Milliseconds, d.Timing.Connect, d.ErrorClass = id, ms, ms/2, events.ErrorStatus
		return d
	}
	first, rescheduled, second, last := attempt(1, events.OutcomeRetrying, 10), attempt(1, events.OutcomeRetrying, 0), attempt(2, events.OutcomeRetrying, 20), attempt(3, events.OutcomeDelivered, 30)
	rescheduled.At = at(90 * time.Second)
	other := delivery("b", events.OutcomeDelivered, 1)
	other.Milliseconds = 1
	unsent := delivery("c", events.OutcomeFailed, 1)
	unsent.MessageID, unsent.Reason = events.MessageID(tr.ID, "c", "ep"), "the endpoint is disabled"
	fold(t, l, slice(tr, 0, true, first, other, unsent), retry(tr, "r2.ep.a.1", rescheduled), retry(tr, "r1.ep.a.1", second), retry(tr, "r3.ep.a.1", last), retry(tr, "r3.ep.a.1", last))
	log, err := l.Delivery("org", id)
	must(t, err)
	if want := []events.Attempt{first.Last(), second.Last(), last.Last()}; !reflect.DeepEqual(log.Attempts, want) {
		t.Errorf("attempts are\n%+v, want\n%+v", log.Attempts, want)
	}
	if log.Outcome != events.OutcomeDelivered || log.TriggerID != tr.ID || log.Attempt != 3 {
		t.Errorf("delivery is %+v", log.Delivery)
	}
	if log, err := l.Delivery("org", unsent.MessageID); err != nil || len(log.Attempts) != 1 || log.Attempts[0].Reason != unsent.Reason {
		t.Errorf("a delivery that failed without a request has the attempts %+v, %v", log.Attempts, err)
	}
	for _, unknown := range []string{"", "msg_", "x", events.MessageID(tr.ID, "z", "ep"), "msg_01M7YDEW9M"} {
		if _, err := l.Delivery("org", unknown); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("found unknown delivery %q: %v", unknown, err)
		}
	}
}

// A delivery that was given up without another request shows why, and why its last attempt
// failed.
func TestDeliveries_LastFailure(t *testing.T) {
	tests := []struct {
		name  string
		later []events.Delivery // the outcomes after a first attempt with status 503
		want  string
	}{
		{"disabled", []events.Delivery{{Outcome: events.OutcomeFailed, Attempt: 1, Reason: "the endpoint is disabled"}}, "the endpoint is disabled; last attempt: status 503"},
		{
			"down", []events.Delivery{
				{Outcome: events.OutcomeRetrying, Attempt: 2, Milliseconds: 1, Reason: "timeout"},
				{Outcome: events.OutcomeRetrying, Attempt: 2, Milliseconds: 1, Reason: "the worker stopped", ErrorClass: events.ErrorStopping},
				{Outcome: events.OutcomeRetrying, Attempt: 2, Reason: "the endpoint is down, no attempt was made"},
				{Outcome: events.OutcomeExpired, Attempt: 2, Reason: "the deadline passed"},
			}, "the deadline passed; last attempt: timeout",
		},
		{"failed attempt", []events.Delivery{{Outcome: events.OutcomeFailed, Attempt: 2, Milliseconds: 1, Reason: "status 500"}}, "status 500"},
		{"still retried", nil, "status 503"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l, tr := newLedger(t), trigger("org", "trg_1", 0, 1)
			accept(t, l, tr)
			first := delivery("h1", events.OutcomeRetrying, 1)
			first.MessageID, first.Milliseconds, first.Reason = events.MessageID(tr.ID, "h1", first.EndpointID), 1, "status 503"
			fold(t, l, slice(tr, 0, true, first))
			for i, d := range test.later {
				d.HomeID, d.EndpointID, d.MessageID, d.At = "h1", first.EndpointID, first.MessageID, at(time.Duration(i+1)*time.Minute)
				fold(t, l, retry(tr, fmt.Sprint("r", i), d))
			}
			log, err := l.Delivery("org", first.MessageID)
			must(t, err)
			list := all(t, l, "org", events.DeliveryQuery{Limit: 9})
			if len(list) != 1 || list[0].Reason != test.want || log.Reason != test.want {
				t.Errorf("the list has %+v, the delivery %q, want %q", list, log.Reason, test.want)
			}
		})
	}
}

// An endpoint that never failed has the time of its last success, which the prune drops.
// EachHealth leaves the endpoint out. Its first failure keeps the time.
func TestHealth_NeverFailed(t *testing.T) {
	l := newLedger(t)
	tr := trigger("org", "trg_1", 0, 9)
	sent := func(number int, o events.Outcome, after time.Duration) {
		t.Helper()
		d := delivery(fmt.Sprint("h", number), o, 1)
		d.At, d.Milliseconds = at(after), 5
		fold(t, l, slice(tr, number, false, d))
	}
	check := func(state events.HealthState, success storage.Time, listed int) {
		t.Helper()
		h, err := l.Health("org", "ep")
		must(t, err)
		if h.State != state || !h.LastSuccessAt.Equal(success.Time) {
			t.Errorf("health is %+v, want %s with the last success at %s", h, state, success)
		}
		must(t, l.EachHealth(func(storage.Ref, events.Health) { listed-- }))
		if listed != 0 {
			t.Errorf("EachHealth has %d endpoints too few", listed)
		}
	}
	sent(1, events.OutcomeDelivered, time.Second)
	sent(2, events.OutcomeDelivered, 2*time.Second)
	check(events.HealthGood, at(2*time.Second), 0)
	must(t, l.Prune(noon.Add(time.Second)))
	check(events.HealthGood, at(2*time.Second), 0)
	must(t, l.Prune(noon.Add(time.Minute)))
	check(events.HealthUnknown, storage.Time{}, 0)
	sent(3, events.OutcomeDelivered, 3*time.Second)
	sent(4, events.OutcomeFailed, 4*time.Second)
	check(events.HealthFailing, at(3*time.Second), 1)
	sent(5, events.OutcomeDelivered, 5*time.Second)
	check(events.HealthGood, at(5*time.Second), 1)
	sent(6, events.OutcomeDelivered, 24*time.Hour) // of a clock that was ahead
	check(events.HealthGood, at(time.Hour), 1)     // when the result was stored
}

func TestHealth_Counts(t *testing.T) {
	l := newLedger(t)
	tr := trigger("org", "trg_1", 0, 9)
	n := 0
	sent := func(second int, o events.Outcome) {
		n++
		d := delivery(fmt.Sprint("h", n), o, 1)
		d.At, d.Milliseconds = at(time.Duration(second)*time.Second), 5
		fold(t, l, slice(tr, n, false, d))
	}
	check := func(state events.HealthState, failures int, since time.Duration) {
		t.Helper()
		h, err := l.Health("org", "ep")
		must(t, err)
		want := storage.Time{}
		if since > 0 {
			want = at(since)
		}
		if h.State != state || h.ConsecutiveFailures != failures || !h.FailingSince.Equal(want.Time) {
			t.Errorf("health is %+v, want %s, %d since %s", h, state, failures, since)
		}
	}
	check(events.HealthUnknown, 0, 0)
	sent(1, events.OutcomeRetrying)
	sent(2, events.OutcomeFailed)
	check(events.HealthFailing, 2, time.Second)
	sent(3, events.OutcomeDelivered)
	check(events.HealthGood, 0, 0)
	sent(2, events.OutcomeRetrying) // a late receipt
	check(events.HealthGood, 0, 0)
	sent(5, events.OutcomeRetrying)
	sent(4, events.OutcomeDelivered)
	check(events.HealthFailing, 1, 5*time.Second)
	rescheduled := delivery("x", events.OutcomeRetrying, 6)
	fold(t, l, slice(tr, 99, false, rescheduled)) // no request was sent
	check(events.HealthFailing, 1, 5*time.Second)
	both := []events.Delivery{delivery("x", events.OutcomeDelivered, 6), delivery("y", events.OutcomeDelivered, 6)}
	both[0].Milliseconds, both[1].Milliseconds, both[1].EndpointID = 5, 5, "other"
	fold(t, l, slice(tr, 100, false, both...))
	check(events.HealthGood, 0, 0)
	if h, err := l.Health("org", "other"); err != nil || h.State != events.HealthGood {
		t.Errorf("the other endpoint of the receipt has the health %+v, %v", h, err)
	}
	sent(7, events.OutcomeRetrying)
	seen := 0
	must(t, l.EachHealth(func(e storage.Ref, h events.Health) {
		if e == storage.KindWebhookEndpoint.Ref("org", "ep") && h.State == events.HealthFailing {
			seen++
		}
	}))
	if seen != 1 {
		t.Errorf("%d endpoints have a health record", seen)
	}
	must(t, l.Prune(noon.Add(time.Minute)))
	check(events.HealthUnknown, 0, 0)
}

// The homes of a batch share one request, so they count as one attempt. A partially
// delivered batch is no failure of the endpoint.
func TestHealth_CountsABatchOnce(t *testing.T) {
	t.Parallel()
	failed, delivered := events.OutcomeRetrying, events.OutcomeDelivered
	for name, tt := range map[string]struct {
		batches [][]events.Outcome
		state   events.HealthState
		want    int
	}{
		"failed":                {[][]events.Outcome{{failed, failed, failed}}, events.HealthFailing, 1},
		"two failures":          {[][]events.Outcome{{failed, failed}, {failed, events.OutcomeFailed}}, events.HealthFailing, 2},
		"delivered":             {[][]events.Outcome{{delivered, delivered}}, events.HealthGood, 0},
		"partial success first": {[][]events.Outcome{{delivered, failed}}, events.HealthGood, 0},
		"partial success last":  {[][]events.Outcome{{events.OutcomeFailed, delivered}}, events.HealthGood, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLedger(t)
			var list []events.Delivery
			for n, batch := range tt.batches {
				for i, o := range batch {
					d := delivery(fmt.Sprintf("h%d.%d", n, i), o, 1)
					d.BatchID, d.Milliseconds = fmt.Sprint("bat_", n), 5
					if o == events.OutcomeFailed {
						d.At = at(2 * time.Second) // failed after the request
					}
					list = append(list, d)
				}
			}
			fold(t, l, slice(trigger("org", "trg_1", 0, 9), 1, false, list...))
			h, err := l.Health("org", "ep")
			must(t, err)
			if h.State != tt.state || h.ConsecutiveFailures != tt.want {
				t.Errorf("endpoint is %s with %d failures, want %s with %d", h.State, h.ConsecutiveFailures, tt.state, tt.want)
			}
		})
	}
}

// ofHome finds the slice of a home, even if some slices are missing.
func TestSlices_OfHome(t *testing.T) {
	dir, runs := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		l := openLedger(t, filepath.Join(dir, fmt.Sprint(runs)))
		defer func() { must(t, l.Close()) }()
		tr := trigger("org", "trg_1", 0, 9)
		through := rapid.SliceOfNDistinct(rapid.IntRange(1, 40), 0, 12, rapid.ID).Draw(rt, "through")
		slices.Sort(through)
		there := map[int]string{}
		for number, last := range through {
			if rapid.IntRange(0, 3).Draw(rt, "lost") > 0 {
				there[number] = fmt.Sprintf("h%02d", last)
				fold(t, l, slice(tr, number, false, delivery(there[number], events.OutcomeDelivered, 1)))
			}
		}
		fold(t, l, slice(trigger("org", "trg_2", 0, 9), 7, false, delivery("h99", events.OutcomeDelivered, 1)))
		home := fmt.Sprintf("h%02d", rapid.IntRange(0, 42).Draw(rt, "home"))
		want := -1
		for number := range through {
			if last, ok := there[number]; ok && last >= home && want < 0 {
				want = number
			}
		}
		must(t, l.file.View(func(tx *bbolt.Tx) error {
			number, _, ok, err := slicesOf(tx, "trg_1").ofHome(home)
			if err != nil || ok != (want >= 0) || ok && number != want {
				rt.Fatalf("slice of %s is %d, %v, %v, want %d of %v", home, number, ok, err, want, there)
			}
			return nil
		}))
	})
}

// A stored slice holds any number of deliveries.
func TestSlice_ManyDeliveries(t *testing.T) {
	r := &events.Receipt{TriggerID: "trg_1", OrganizationID: "org", Key: "s0", Slice: &events.SliceBounds{Through: "home", Homes: 1}}
	for e := range 1 << 16 {
		r.Deliveries = append(r.Deliveries, events.Delivery{HomeID: "home", EndpointID: strconv.Itoa(e), Outcome: events.OutcomeDelivered})
	}
	body, err := r.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if stored, err := decodeSlice(encodeSlice(r, body)); err != nil || len(stored.Deliveries) != len(r.Deliveries) {
		t.Errorf("%d deliveries cannot be read: %v", len(r.Deliveries), err)
	}
}
