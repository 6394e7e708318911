package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

var noon = time.Date(2026, time.July, 1, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) storage.Time { return storage.Time{Time: noon.Add(d)} }

func openLedger(t testing.TB, path string) *Ledger {
	t.Helper()
	l, err := Open(path, Options{Keep: time.Hour, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	l.begin(0, 0, 0, 0)
	return l
}

// newLedger returns a ledger in a temporary folder.
func newLedger(t testing.TB) *Ledger {
	l := openLedger(t, filepath.Join(t.TempDir(), "ledger.db"))
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// trigger returns a trigger of the organization, accepted some time after noon.
func trigger(org, id string, after time.Duration, homes int) events.Trigger {
	t := events.NewTrigger(org, pricing.Window{Start: noon, End: noon.Add(time.Hour)}, noon.Add(after))
	t.ID, t.Homes = id, homes
	return t
}

// accept folds triggers with the sequences 1, 2, and so on.
func accept(t testing.TB, l *Ledger, triggers ...events.Trigger) {
	t.Helper()
	must(t, l.foldTriggers(sequenced(triggers), l.opt.Now().Add(-l.opt.Keep), time.Time{}))
}

func fold(t testing.TB, l *Ledger, receipts ...events.Receipt) {
	t.Helper()
	must(t, l.foldReceipts(sequenced(receipts)))
}

func sequenced[T any](values []T) []events.Sequenced[T] {
	list := make([]events.Sequenced[T], len(values))
	for i, v := range values {
		data, _ := json.Marshal(v) // they are values that JSON has
		list[i] = events.Sequenced[T]{Sequence: uint64(i) + 1, Stored: noon.Add(time.Hour), Size: 100, Data: data, Value: v}
	}
	return list
}

// delivery returns a delivery to the endpoint ep, made some seconds after noon.
func delivery(home string, o events.Outcome, attempt int) events.Delivery {
	d := events.Delivery{
		MessageID: "msg_" + home, HomeID: home, EndpointID: "ep", Outcome: o, Attempt: attempt, At: at(time.Duration(attempt) * time.Second),
	}
	if o == events.OutcomeRetrying {
		d.Reason, d.Response, d.Status, d.NextAt = "the endpoint responded 500", "oops", 500, at(time.Minute)
	}
	return d
}

func slice(t events.Trigger, number int, last bool, deliveries ...events.Delivery) events.Receipt {
	b := &events.SliceBounds{Number: number, Homes: len(deliveries), Last: last}
	if len(deliveries) > 0 {
		b.Through = deliveries[len(deliveries)-1].HomeID
	}
	return events.Receipt{TriggerID: t.ID, OrganizationID: t.OrganizationID, Key: fmt.Sprint("s", number), Slice: b, Deliveries: deliveries}
}

func retry(t events.Trigger, key string, deliveries ...events.Delivery) events.Receipt {
	return events.Receipt{TriggerID: t.ID, OrganizationID: t.OrganizationID, Key: key, Deliveries: deliveries}
}

func progress(t testing.TB, l *Ledger, tr events.Trigger) events.Progress {
	t.Helper()
	p, err := l.Progress(tr.OrganizationID, tr.ID)
	must(t, err)
	return p
}

func TestProgress_Counts(t *testing.T) {
	l := newLedger(t)
	tr := trigger("org", "trg_1", 0, 3)
	tr.RatePlanIDs = []string{"plan_1"}
	accept(t, l, tr)
	want := events.Progress{
		TriggerID: "trg_1", OrganizationID: "org", Status: events.TriggerAccepted, StartTime: tr.Start, EndTime: tr.End, RatePlanIDs: tr.RatePlanIDs,
		Homes: 3, Outcomes: map[events.Outcome]int{}, CreatedAt: tr.CreatedAt,
	}
	check := func(after string) {
		t.Helper()
		if got := progress(t, l, tr); !reflect.DeepEqual(got, want) {
			t.Errorf("progress after %s is\n%+v, want\n%+v", after, got, want)
		}
	}
	check("the acceptance")
	fold(t, l, slice(tr, 0, false, delivery("a", events.OutcomeDelivered, 1), delivery("b", events.OutcomeRetrying, 1)))
	want.Status, want.Walked = events.TriggerRunning, 2
	want.Outcomes = map[events.Outcome]int{events.OutcomeDelivered: 1, events.OutcomeRetrying: 1}
	check("the first slice")
	fold(t, l, slice(tr, 1, true, delivery("c", events.OutcomeUnpriceable, 0)))
	want.Walked, want.Outcomes[events.OutcomeUnpriceable] = 3, 1
	check("the last slice, with a waiting retry")
	fold(t, l, retry(tr, "r1.ep.b.1", delivery("b", events.OutcomeRetrying, 2)))
	check("a failed retry")
	fold(t, l, retry(tr, "r2.ep.b.1", delivery("b", events.OutcomeFailed, 3)))
	delete(want.Outcomes, events.OutcomeRetrying)
	want.Status, want.Outcomes[events.OutcomeFailed], want.CompletedAt = events.TriggerCompleted, 1, at(3*time.Second)
	check("the last retry")
}

// Deliveries that were given up and succeed late count once, also if one batch has deliveries of
// several slices and triggers.
func TestProgress_LateDeliveries(t *testing.T) {
	l := newLedger(t)
	var triggers []events.Trigger
	var failed, late []events.Receipt
	for n := range 2 {
		tr := trigger("org", fmt.Sprint("trg_", n), 0, 2)
		triggers = append(triggers, tr)
		accept(t, l, tr)
		for number, home := range []string{fmt.Sprint("a", n), fmt.Sprint("b", n)} {
			fold(t, l, slice(tr, number, number == 1, delivery(home, events.OutcomeRetrying, 1)))
			failed = append(failed, retry(tr, "r1.ep."+home, delivery(home, events.OutcomeFailed, 2)))
			late = append(late, retry(tr, "r2.ep."+home, delivery(home, events.OutcomeDelivered, 2)))
		}
	}
	fold(t, l, failed...)
	late[2], late[3] = late[3], late[2] // each follows one of another slice, or of the same slice of another trigger
	fold(t, l, late...)
	for _, tr := range triggers {
		if got := progress(t, l, tr).Outcomes; len(got) != 1 || got[events.OutcomeDelivered] != 2 {
			t.Errorf("%s has the outcomes %v, want two delivered", tr.ID, got)
		}
	}
}

// The trigger of a notification names an object where others name their schedule.
func TestProgress_Notification(t *testing.T) {
	l := newLedger(t)
	tr := notificationOf("org", "trg_1")
	tr.Change = &events.Change{ObjectType: storage.OpenADRReport, ObjectID: "report_1", Operation: events.OperationCreate, Object: []byte(`{}`)}
	tr.ScheduleID, tr.Traceparent = tr.Change.ObjectID, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	accept(t, l, tr)
	p := progress(t, l, tr)
	want := events.Notification{ObjectType: storage.OpenADRReport, ObjectID: "report_1", Operation: events.OperationCreate}
	if p.Notification == nil || *p.Notification != want || p.ScheduleID != "" || p.Traceparent != tr.Traceparent {
		t.Errorf("progress is %+v of %+v", p, p.Notification)
	}
	if run, err := l.LastRun("org", tr.ScheduleID); err != nil || run.TriggerID != "" {
		t.Errorf("a notification is the last run of a schedule: %+v, %v", run, err)
	}
}

func TestProgress_NoHomes(t *testing.T) {
	l := newLedger(t)
	tr := trigger("org", "trg_1", time.Minute, 0)
	accept(t, l, tr)
	fold(t, l, slice(tr, 0, true))
	if p := progress(t, l, tr); p.Status != events.TriggerCompleted || !p.CompletedAt.Equal(tr.CreatedAt.Time) {
		t.Errorf("progress is %+v, want it completed at the acceptance", p)
	}
}

// A worker may crash after storing a slice's retries and before storing its receipt. The
// second run may deliver a home that the first run's retry then sends again.
func TestProgress_RetryOfCrashedWalk(t *testing.T) {
	tr := trigger("org", "trg_1", 0, 2)
	walked := slice(tr, 0, true, delivery("a", events.OutcomeDelivered, 1), delivery("b", events.OutcomeRetrying, 1))
	ghost := retry(tr, "r1.ep.a.1", delivery("a", events.OutcomeDelivered, 2))
	real := retry(tr, "r1.ep.b.1", delivery("b", events.OutcomeDelivered, 2))
	for name, order := range map[string][]events.Receipt{
		"crashed run's retry first": {ghost, walked, real}, "crashed run's retry last": {walked, real, ghost}, "all before the slice": {real, ghost, walked},
	} {
		l := newLedger(t)
		accept(t, l, tr)
		fold(t, l, order...)
		p := progress(t, l, tr)
		if p.Status != events.TriggerCompleted || !reflect.DeepEqual(p.Outcomes, map[events.Outcome]int{events.OutcomeDelivered: 2}) {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// After a crash, two retries may have the same home. A delivered one counts, whatever the
// order of their receipts, unless the slice itself delivered the home.
func TestProgress_FailedAndDelivered(t *testing.T) {
	tr := trigger("org", "trg_1", 0, 2)
	walked := slice(tr, 0, true, delivery("a", events.OutcomeDelivered, 1), delivery("b", events.OutcomeRetrying, 1))
	failed := retry(tr, "r1.ep.b.1", delivery("a", events.OutcomeFailed, 2), delivery("b", events.OutcomeFailed, 2))
	delivered := retry(tr, "r1.ep.b.2", delivery("a", events.OutcomeDelivered, 2), delivery("b", events.OutcomeDelivered, 2))
	for _, order := range [][]events.Receipt{
		{walked, failed, delivered}, {walked, delivered, failed}, {failed, delivered, walked}, {failed, walked, delivered}, {delivered, failed, walked},
	} {
		l := newLedger(t)
		accept(t, l, tr)
		fold(t, l, order...)
		if p := progress(t, l, tr); !reflect.DeepEqual(p.Outcomes, map[events.Outcome]int{events.OutcomeDelivered: 2}) {
			t.Errorf("after %s, %s, %s the outcomes are %v", order[0].Key, order[1].Key, order[2].Key, p.Outcomes)
		}
		page, _, err := l.Deliveries("org", events.DeliveryQuery{TriggerID: "trg_1", Outcomes: []events.Outcome{events.OutcomeDelivered}, Limit: 9})
		if err != nil || len(page) != 2 {
			t.Errorf("%d deliveries are listed as delivered (%v), want 2", len(page), err)
		}
	}
}

func TestDeliveries_CurrentAttempt(t *testing.T) {
	l := newLedger(t)
	tr := trigger("org", "trg_1", 0, 1)
	accept(t, l, tr)
	done := delivery("a", events.OutcomeDelivered, 2)
	done.Status = 204
	fold(t, l, slice(tr, 0, true, delivery("a", events.OutcomeRetrying, 1)), retry(tr, "r1.ep.a.1", done))
	done.TriggerID = "trg_1"
	page, _, err := l.Deliveries("org", events.DeliveryQuery{TriggerID: "trg_1", Limit: 9})
	if err != nil || len(page) != 1 || !reflect.DeepEqual(page[0], done) {
		t.Errorf("delivery is %+v (%v), want %+v without fields of the earlier attempt", page, err, done)
	}
}

func TestLedger_OrganizationsSeparate(t *testing.T) {
	l := newLedger(t)
	tr := trigger("org", "trg_1", 0, 1)
	accept(t, l, tr)
	fold(t, l, slice(tr, 0, true, delivery("a", events.OutcomeDelivered, 1)))
	fold(t, l, slice(trigger("org", "trg_unknown", 0, 1), 0, true, delivery("a", events.OutcomeDelivered, 1)))
	for _, place := range [][2]string{{"other", "trg_1"}, {"org", "trg_2"}, {"org", "trg_"}, {"org", "trg_unknown"}, {"", "trg_1"}} {
		if p, err := l.Progress(place[0], place[1]); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("organization and trigger %v have progress %+v, %v", place, p, err)
		}
		if page, _, err := l.Deliveries(place[0], events.DeliveryQuery{TriggerID: place[1], Limit: 9}); !errors.Is(err, storage.ErrNotFound) || page != nil {
			t.Errorf("organization and trigger %v have deliveries %+v, %v", place, page, err)
		}
	}
	for org, want := range map[string]int{"org": 1, "other": 0, "or": 0, "orgs": 0} {
		if list, err := l.Recent(org, 9); err != nil || len(list) != want || list == nil {
			t.Errorf("%s has %d recent triggers (%v), want %d", org, len(list), err, want)
		}
	}
}

func TestRecent_Order(t *testing.T) {
	l := newLedger(t)
	for i := range 5 {
		accept(t, l, trigger("org", fmt.Sprint("trg_", i), 0, 0), trigger("orf", fmt.Sprint("trg_x", i), 0, 0), trigger("orh", fmt.Sprint("trg_y", i), 0, 0))
	}
	for limit, want := range map[int]string{0: "", 2: "trg_4 trg_3", 9: "trg_4 trg_3 trg_2 trg_1 trg_0"} {
		list, err := l.Recent("org", limit)
		var ids []string
		for _, p := range list {
			ids = append(ids, p.TriggerID)
		}
		if got := strings.Join(ids, " "); err != nil || got != want {
			t.Errorf("newest %d triggers are %s (%v), want %s", limit, got, err, want)
		}
	}
	if list, err := l.Recent("orh", 9); err != nil || len(list) != 5 || list[0].TriggerID != "trg_y4" {
		t.Errorf("last organization has %+v, %v", list, err)
	}
}

// pages reads all pages with at most limit deliveries each.
func pages(t testing.TB, l *Ledger, tr events.Trigger, o events.Outcome, limit int) (all []events.Delivery) {
	t.Helper()
	for after := ""; ; {
		q := events.DeliveryQuery{TriggerID: tr.ID, After: after, Limit: limit}
		if o != "" {
			q.Outcomes = []events.Outcome{o}
		}
		page, next, err := l.Deliveries(tr.OrganizationID, q)
		must(t, err)
		if len(page) > limit || len(page) == 0 && next != "" {
			t.Fatalf("page has %d deliveries and the next cursor %q", len(page), next)
		}
		all = append(all, page...)
		if after = next; after == "" {
			return all
		}
	}
}

func homes(list []events.Delivery) string {
	var ids []string
	for _, d := range list {
		ids = append(ids, d.HomeID)
	}
	return strings.Join(ids, " ")
}

// A page's cursor stays valid while retries change earlier deliveries and earlier slices
// arrive.
func TestDeliveries_StablePages(t *testing.T) {
	l := newLedger(t)
	tr := trigger("org", "trg_1", 0, 6)
	accept(t, l, tr)
	fold(t, l, slice(tr, 1, true, delivery("d", events.OutcomeRetrying, 1), delivery("e", events.OutcomeRetrying, 1), delivery("f", events.OutcomeRetrying, 1)))
	page, next, err := l.Deliveries("org", events.DeliveryQuery{TriggerID: "trg_1", Outcomes: []events.Outcome{events.OutcomeRetrying}, Limit: 2})
	if err != nil || homes(page) != "d e" {
		t.Fatalf("first page is %s, %v", homes(page), err)
	}
	fold(t, l, retry(tr, "r1.ep.d.1", delivery("d", events.OutcomeDelivered, 2)),
		slice(tr, 0, false, delivery("a", events.OutcomeRetrying, 1), delivery("b", events.OutcomeDelivered, 1)))
	if page, next, err = l.Deliveries("org", events.DeliveryQuery{TriggerID: "trg_1", Outcomes: []events.Outcome{events.OutcomeRetrying}, After: next, Limit: 2}); err != nil || homes(page) != "f" || next != "" {
		t.Errorf("next page is %s, next cursor %q, %v", homes(page), next, err)
	}
	if got := homes(pages(t, l, tr, "", 2)); got != "a b d e f" {
		t.Errorf("all pages are %s", got)
	}
	for _, cursor := range []string{"x", "1", "trg_1.", "trg_1.1", "trg_1.1.x", "trg_1.1.2.3", "trg_1.99999999999.0", "trg_1.-1.0", ".1.1", "a*.1.1"} {
		_, _, err := l.Deliveries("org", events.DeliveryQuery{TriggerID: "trg_1", After: cursor, Limit: 2})
		var invalid *storage.InvalidError
		if !errors.As(err, &invalid) || invalid.Fields[0].Field != "after" {
			t.Errorf("cursor %q: %v", cursor, err)
		}
	}
	if page, next, err := l.Deliveries("org", events.DeliveryQuery{TriggerID: "trg_1", After: "trg_1.99.0", Limit: 2}); err != nil || len(page) != 0 || next != "" {
		t.Errorf("cursor after the end: %v %q %v", page, next, err)
	}
}

func TestPrune_Age(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := openLedger(t, path)
	old, young := trigger("org", "trg_1", -time.Minute, 2), trigger("org", "trg_2", 0, 1)
	accept(t, l, old, young)
	fold(t, l, slice(old, 0, true, delivery("a", events.OutcomeRetrying, 1), delivery("b", events.OutcomeRetrying, 1)),
		retry(old, "r1.ep.a.1", delivery("a", events.OutcomeDelivered, 2)),
		slice(young, 0, true, delivery("a", events.OutcomeDelivered, 1)))
	must(t, l.Prune(noon))
	if _, err := l.Progress("org", "trg_1"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("old trigger: %v", err)
	}
	if got := homes(pages(t, l, young, "", 9)); got != "a" {
		t.Errorf("young trigger has %q", got)
	}
	// Late receipts of old triggers restore none of their data.
	idle := trigger("org", storage.NewID("trg_", noon.Add(-time.Minute)), -time.Minute, 0)
	fold(t, l, retry(old, "r1.ep.b.1", delivery("b", events.OutcomeDelivered, 2)), slice(idle, 0, true))
	if list, err := l.Recent("org", 9); err != nil || len(list) != 1 {
		t.Errorf("%d triggers remain, %v", len(list), err)
	}
	must(t, l.Prune(noon.Add(time.Hour)))
	for bucket, n := range counts(t, l) {
		if n != 0 && bucket != metaBucket {
			t.Errorf("%d entries remain in %s", n, bucket)
		}
	}
	must(t, l.Close())
}

// A ledger that starts anew reads triggers whose receipts are gone.
func TestUnfinished_BeyondRetention(t *testing.T) {
	l := newLedger(t)
	accept(t, l, trigger("org", "trg_1", -time.Hour-time.Second, 2), trigger("org", "trg_2", time.Second-time.Hour, 2))
	walks, err := l.Unfinished(events.Walk{}, 9)
	must(t, err)
	if len(walks) != 1 || walks[0].Trigger.ID != "trg_2" {
		t.Errorf("unfinished: %+v, want trg_2 alone", walks)
	}
	used, err := l.Usage("org")
	must(t, err)
	if used.Waiting != 1 {
		t.Errorf("%d triggers wait, want 1", used.Waiting)
	}
	must(t, l.Shows(t.Context(), 2))
}

func TestUnfinished_Walks(t *testing.T) {
	l := newLedger(t)
	tr, done := trigger("org", "trg_1", 0, 9), trigger("org", "trg_2", 0, 1)
	fold(t, l, slice(tr, 0, false, delivery("a", events.OutcomeDelivered, 1)))
	unfinished := func(want ...string) {
		t.Helper()
		walks, err := l.Unfinished(events.Walk{}, 9)
		var got []string
		for _, w := range walks {
			got = append(got, fmt.Sprintf("%s %d at %d after %q", w.Trigger.ID, w.Trigger.Sequence, w.Next, w.After))
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("unfinished walks are %q (%v), want %q", got, err, want)
		}
	}
	unfinished() // the ledger has only a receipt
	accept(t, l, tr, done)
	unfinished(`trg_1 1 at 1 after "a"`, `trg_2 2 at 0 after ""`)
	for after, want := range map[string]string{"": "trg_1", "trg_0": "trg_1", "trg_1": "trg_2", "trg_2": ""} {
		walks, err := l.Unfinished(events.Walk{Trigger: events.Trigger{OrganizationID: "org", ID: after}}, 1)
		if err != nil || len(walks) != min(1, len(want)) || len(walks) == 1 && walks[0].Trigger.ID != want {
			t.Errorf("unfinished walks after %q are %+v (%v), want %q", after, walks, err, want)
		}
	}
	fold(t, l, slice(done, 0, true, delivery("x", events.OutcomeRetrying, 1)), slice(tr, 2, true, delivery("z", events.OutcomeDelivered, 1)))
	unfinished(`trg_1 1 at 1 after "a"`) // slice 1 is missing, a retry does not count
	if walks, err := l.Unfinished(events.Walk{}, 0); err != nil || len(walks) != 0 {
		t.Errorf("limit 0 returns %v, %v", walks, err)
	}
	fold(t, l, slice(tr, 1, false, delivery("m", events.OutcomeDelivered, 1)))
	unfinished()
}

func TestRanOut(t *testing.T) {
	notifications := func(org string) (list []events.Trigger) {
		for i := range maxEnded + 1 {
			n := events.NewChangeTrigger(org, events.Change{ObjectType: storage.OpenADREvent, Operation: "UPDATE", ObjectID: "o"}, 1, 1, events.Trigger{}, noon)
			n.ID = fmt.Sprintf("trg_n%03d", i)
			list = append(list, n)
		}
		return list
	}
	now := noon.Add(48 * time.Hour)
	ended := func(org string) events.Trigger {
		e := trigger(org, "trg_ended", time.Hour, 1)
		e.Start, e.End = storage.Time{Time: noon}, storage.Time{Time: noon.Add(time.Hour)}
		return e
	}
	inForce := func(org string) events.Trigger {
		e := ended(org)
		e.ID, e.CreatedAt, e.End = "trg_day", storage.Time{Time: noon}, storage.Time{Time: now.Add(time.Hour)}
		return e
	}
	first := func(org string) events.Trigger { // before the one in force
		e := ended(org)
		e.ID = "trg_a"
		return e
	}
	if got, err := newLedger(t).RanOut("none", now); got || err != nil {
		t.Errorf("without a trigger: ran out: %v (%v)", got, err)
	}
	for _, test := range []struct {
		org      string
		triggers func(org string) []events.Trigger
		want     bool
	}{
		{"notified", notifications, false},
		{"ended", func(org string) []events.Trigger { return append([]events.Trigger{ended(org)}, notifications(org)...) }, true},
		{"short", func(org string) []events.Trigger { return []events.Trigger{first(org), inForce(org), ended(org)} }, false},
	} {
		l := newLedger(t)
		accept(t, l, test.triggers(test.org)...)
		if got, err := l.RanOut(test.org, now); err != nil || got != test.want {
			t.Errorf("%s: ran out: %v (%v), want %v", test.org, got, err, test.want)
		}
	}
}
