package replayer

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

func TestRetry_Plan(t *testing.T) {
	w := newWorld(t)
	w.give("trg_2", 2, noon, events.OutcomeFailed, events.OutcomeDelivered, events.OutcomeRetrying, events.OutcomeFailed, events.OutcomeFailed)
	w.give("trg_1", 1, noon.Add(-time.Hour), events.OutcomeExpired) // a newer trigger supersedes it
	w.lost["h0003"] = true
	do := func(trigger, home string) error {
		t.Helper()
		task, err := NewRetryTask("org", events.MessageID(trigger, home, "ep"), w.now)
		if err != nil {
			t.Fatal(err)
		}
		return w.replayer().retry(t.Context(), task, events.Taken{})
	}
	for _, place := range [][2]string{{"trg_2", "h0000"}, {"trg_2", "h0001"}, {"trg_2", "h0003"}, {"trg_1", "h0000"}} {
		if err := do(place[0], place[1]); err != nil {
			t.Errorf("%v: %v", place, err)
		}
	}
	if len(w.order) != 1 || w.order[0] != "trg_2/h0000" {
		t.Errorf("the retried deliveries are %v", w.order)
	}
	for _, what := range []string{"has receipt", "retries", "receipt"} {
		w.fail = func(at string) error {
			if at == what {
				return errInjected
			}
			return nil
		}
		if err := do("trg_2", "h0004"); !errors.Is(err, errInjected) {
			t.Errorf("without %s the task ends with %v", what, err)
		}
	}
	w.fail = func(string) error { return nil }
	// A retry waits for this process's ledger, up to a limit.
	for _, home := range []string{"h0002", "unknown"} {
		task, err := NewRetryTask("org", events.MessageID("trg_2", home, "ep"), w.now)
		if err != nil {
			t.Fatal(err)
		}
		w.now = w.now.Add(lagFor - time.Second)
		if err := w.replayer().retry(t.Context(), task, events.Taken{}); !errors.Is(err, errLagging) {
			t.Errorf("%s: %v", home, err)
		}
		w.now = w.now.Add(time.Second)
		if err := w.replayer().retry(t.Context(), task, events.Taken{}); err != nil {
			t.Errorf("%s, later: %v", home, err)
		}
	}
}

// A delivery that was given up again can be retried again. A request that NATS repeats has no
// further effect.
func TestRetry_Again(t *testing.T) {
	w := newWorld(t)
	w.give("trg_1", 1, noon, events.OutcomeFailed)
	for i := range 2 {
		task, err := NewRetryTask("org", w.list[0].MessageID, w.now)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := w.replayer().retry(t.Context(), task, events.Taken{}); err != nil {
				t.Fatal(err)
			}
			for name := range w.retries { // its attempts have failed
				_, key, _ := strings.Cut(name, " ")
				w.receipts["trg_1"+key] = true
			}
			w.list[0].Outcome = events.OutcomeFailed
		}
		if len(w.order) != i+1 {
			t.Errorf("after request %d: the retries are %v", i+1, w.order)
		}
		w.now = w.now.Add(time.Minute)
	}
}

func TestReplay_FindsLostDeletesOld(t *testing.T) {
	w := newWorld(t)
	w.ask(events.OutcomeFailed)
	old := storage.Replay{ReplayProgress: storage.ReplayProgress{
		ID: "old", EndpointID: "ep", Since: storage.Time{Time: noon}, Outcomes: []string{"FAILED"}, Status: storage.ReplayCompleted,
		CompletedAt: storage.Time{Time: noon},
	}}
	old.OrganizationID = "org"
	storagetest.Put(t, w.store, &old)
	plan := func() {
		t.Helper()
		if err := w.replayer().plan(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	plan()
	if len(w.waiting) != 1 {
		t.Errorf("%v wait", w.waiting)
	}
	w.now = w.now.Add(storage.ReplayRetention)
	plan()
	if _, err := storage.Get[storage.Replay](w.store, old.Ref()); err != nil {
		t.Errorf("after a week: %v", err)
	}
	w.now = w.now.Add(time.Second)
	plan()
	if _, err := storage.Get[storage.Replay](w.store, old.Ref()); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("after more than a week: %v", err)
	}
	if w.result().Status != storage.ReplayAccepted {
		t.Error("an incomplete replay was deleted")
	}
}
