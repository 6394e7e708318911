package ledger

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/events"
)

// counts holds the number of entries in each bucket.
func counts(t testing.TB, l *Ledger) map[string]int {
	t.Helper()
	n := map[string]int{}
	must(t, l.file.View(func(tx *bbolt.Tx) error {
		for _, name := range buckets {
			n[name] = tx.Bucket([]byte(name)).Stats().KeyN
		}
		return nil
	}))
	return n
}

// story is the history of one trigger: receipts that workers may have stored, and the
// expected state of the ledger.
type story struct {
	trigger    events.Trigger
	receipts   []events.Receipt
	deliveries []events.Delivery // in order, with their final state
	walked     int
	complete   bool // every slice has a receipt
}

// final draws a final outcome after a number of attempts.
func final(rt *rapid.T, home, endpoint string, attempt int) events.Delivery {
	return attempted(home, endpoint, attempt, rapid.SampledFrom([]events.Outcome{
		events.OutcomeDelivered, events.OutcomeFailed, events.OutcomeExpired, events.OutcomeSuperseded,
	}).Draw(rt, "final"))
}

func attempted(home, endpoint string, attempt int, o events.Outcome) events.Delivery {
	d := delivery(home, o, attempt)
	d.EndpointID, d.At = endpoint, at(time.Duration(attempt)*time.Minute)
	return d
}

func drawStory(rt *rapid.T, name string) *story {
	s := &story{complete: true}
	n := rapid.IntRange(1, 4).Draw(rt, "slices")
	s.trigger = trigger("org", "trg_"+name, 0, 3*n)
	for number := range n {
		if rapid.IntRange(0, 9).Draw(rt, "lost") == 0 {
			s.complete = false // the receipt has not arrived
			continue
		}
		s.drawSlice(rt, number, number == n-1)
	}
	s.name(s.deliveries)
	for i := range s.receipts {
		s.name(s.receipts[i].Deliveries)
	}
	return s
}

// name sets the identifiers that follow from the other fields of deliveries.
func (s *story) name(list []events.Delivery) {
	for i := range list {
		list[i].MessageID = events.MessageID(s.trigger.ID, list[i].HomeID, list[i].EndpointID)
	}
}

// shown returns the deliveries as the ledger shows them.
func (s *story) shown() []events.Delivery {
	list := slices.Clone(s.deliveries)
	for i := range list {
		list[i].TriggerID = s.trigger.ID
	}
	return list
}

// drawSlice draws a slice of up to three homes with two endpoints each, and the receipts
// of its retries.
func (s *story) drawSlice(rt *rapid.T, number int, last bool) {
	r := slice(s.trigger, number, last)
	r.Slice.Homes = rapid.IntRange(0, 3).Draw(rt, "homes")
	s.walked += r.Slice.Homes
	for h := range r.Slice.Homes {
		home := fmt.Sprintf("h%d%d", number, h)
		r.Slice.Through = home
		for _, endpoint := range []string{"ep1", "ep2"} {
			if rapid.Bool().Draw(rt, "at once") {
				d := final(rt, home, endpoint, 1)
				r.Deliveries, s.deliveries = append(r.Deliveries, d), append(s.deliveries, d)
				s.drawGhosts(rt, home, endpoint)
				continue
			}
			first := attempted(home, endpoint, 1, events.OutcomeRetrying)
			r.Deliveries = append(r.Deliveries, first)
			s.deliveries = append(s.deliveries, s.drawRetries(rt, home, endpoint, first))
		}
	}
	s.receipts = append(s.receipts, r)
}

// drawRetries draws the receipts of a home's retries, and returns the last receipt.
func (s *story) drawRetries(rt *rapid.T, home, endpoint string, d events.Delivery) events.Delivery {
	for round := range rapid.IntRange(0, 3).Draw(rt, "retries") {
		attempt := d.Attempt + 1
		switch rapid.IntRange(0, 2).Draw(rt, "retry outcome") {
		case 0:
			d = final(rt, home, endpoint, attempt)
		case 1:
			d = attempted(home, endpoint, attempt, events.OutcomeRetrying)
		default: // requeued without an attempt
		}
		key := fmt.Sprintf("r%d.%s.%s.1", round+1, endpoint, home)
		s.receipts = append(s.receipts, retry(s.trigger, key, d))
		if d.Outcome.Final() {
			s.drawRival(rt, home, endpoint)
			break
		}
	}
	return d
}

// drawRival draws a receipt of another run's retries. The run crashed, and its attempts
// were further on.
func (s *story) drawRival(rt *rapid.T, home, endpoint string) {
	if rapid.IntRange(0, 4).Draw(rt, "rival") == 0 {
		further := attempted(home, endpoint, 9, events.OutcomeRetrying)
		s.receipts = append(s.receipts, retry(s.trigger, "r9."+endpoint+"."+home+".1", further))
	}
}

// drawGhosts draws receipts of retries whose walk crashed before it stored its own
// receipt. They change nothing.
func (s *story) drawGhosts(rt *rapid.T, home, endpoint string) {
	if rapid.IntRange(0, 4).Draw(rt, "ghost") > 0 {
		return
	}
	again := attempted(home, endpoint, 2, events.OutcomeRetrying)
	s.receipts = append(s.receipts,
		retry(s.trigger, "r1."+endpoint+"."+home+".1", again), retry(s.trigger, "r2."+endpoint+"."+home+".1", final(rt, home, endpoint, 3)))
}

// check compares the ledger with the story.
func (s *story) check(t *testing.T, rt *rapid.T, l *Ledger) {
	want := map[events.Outcome]int{}
	for _, d := range s.deliveries {
		want[d.Outcome]++
	}
	status := events.TriggerRunning
	switch {
	case s.complete && want[events.OutcomeRetrying] == 0:
		status = events.TriggerCompleted
	case !slices.ContainsFunc(s.receipts, func(r events.Receipt) bool { return r.Slice != nil }):
		status = events.TriggerAccepted
	}
	p := progress(t, l, s.trigger)
	if p.Walked != s.walked || p.Status != status || !reflect.DeepEqual(p.Outcomes, want) {
		rt.Fatalf("progress is %+v, want %s, %d homes, %v", p, status, s.walked, want)
	}
	if got := pages(t, l, s.trigger, "", rapid.IntRange(1, 5).Draw(rt, "page")); !slices.Equal(got, s.shown()) {
		rt.Fatalf("deliveries are\n%+v, want\n%+v", got, s.shown())
	}
	for _, o := range events.Outcomes() {
		got := pages(t, l, s.trigger, o, rapid.IntRange(1, 5).Draw(rt, "page"))
		if slices.ContainsFunc(got, func(d events.Delivery) bool { return d.Outcome != o }) || len(got) != want[o] {
			rt.Fatalf("%s has %d deliveries, want %d: %+v", o, len(got), want[o], got)
		}
	}
	walks, err := l.Unfinished(events.Walk{}, 9)
	must(t, err)
	unfinished := slices.ContainsFunc(walks, func(w events.Walk) bool { return w.Trigger.ID == s.trigger.ID })
	if unfinished == s.complete {
		rt.Fatalf("walk is unfinished: %v, all slices have receipts: %v", unfinished, s.complete)
	}
}

// The ledger's state does not depend on the order, repetition or batches of receipts, on
// the trigger's position among them, or on crashes in between.
func TestFold_AnyOrder(t *testing.T) {
	dir, runs := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		path := filepath.Join(dir, fmt.Sprint(runs))
		l := openLedger(t, path)
		stories := []*story{drawStory(rt, "a"), drawStory(rt, "b")}
		var all []events.Receipt
		for _, s := range stories {
			all = append(all, s.receipts...)
		}
		if len(all) > 0 {
			all = append(all, rapid.SliceOfN(rapid.SampledFrom(all), 0, 10).Draw(rt, "repeats")...)
		}
		all = rapid.Permutation(all).Draw(rt, "order")
		known := rapid.IntRange(0, len(all)).Draw(rt, "the triggers come after")
		for i := 0; i <= len(all); {
			if i == known {
				accept(t, l, stories[0].trigger, stories[1].trigger)
			}
			until := min(len(all), i+rapid.IntRange(1, 5).Draw(rt, "batch"))
			if i < known {
				until = min(until, known)
			}
			if i == len(all) {
				break
			}
			fold(t, l, all[i:until]...)
			if i = until; rapid.IntRange(0, 9).Draw(rt, "stop") == 0 {
				must(t, l.Close())
				l = openLedger(t, path)
			}
		}
		for _, s := range stories {
			s.check(t, rt, l)
		}
		must(t, l.Close())
	})
}
