package ledger

import (
	"fmt"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

func TestBacklog_Counts(t *testing.T) {
	l := newLedger(t)
	wants := func(what string, want Backlog) {
		t.Helper()
		if got, err := l.Backlog(); err != nil || got.Homes != want.Homes || !got.OldestWalk.Equal(want.OldestWalk) || !got.OldestRetry.Equal(want.OldestRetry) {
			t.Errorf("%s: got %+v, %v, want %+v", what, got, err, want)
		}
	}
	wants("no trigger", Backlog{})

	// The older trigger sorts after the newer trigger by its organization.
	older, newer := noon.Add(time.Second), noon.Add(time.Minute)
	old := trigger("zoo", storage.NewID("trg_", older), time.Second, 3)
	young := trigger("acme", storage.NewID("trg_", newer), time.Minute, 2)
	accept(t, l, old, young)
	wants("no slice walked", Backlog{Homes: 5, OldestWalk: older})

	fold(t, l, slice(old, 0, false, delivery("h1", events.OutcomeDelivered, 1)))
	wants("one home walked", Backlog{Homes: 4, OldestWalk: older})

	fold(t, l, slice(old, 1, true, delivery("h2", events.OutcomeDelivered, 1), delivery("h3", events.OutcomeRetrying, 1)))
	wants("older trigger walked", Backlog{Homes: 2, OldestWalk: newer, OldestRetry: older})

	fold(t, l, slice(young, 0, true, delivery("h1", events.OutcomeRetrying, 1), delivery("h2", events.OutcomeDelivered, 1)))
	wants("both triggers walked", Backlog{OldestRetry: older})

	fold(t, l, retry(old, "r1", delivery("h3", events.OutcomeDelivered, 2)))
	wants("older trigger completed", Backlog{OldestRetry: newer})

	fold(t, l, retry(young, "r2", delivery("h1", events.OutcomeFailed, 2)))
	wants("both triggers completed", Backlog{})
}

// The age of the backlog is the age of the oldest trigger, in any order of the organizations.
func TestBacklog_OldestWalk(t *testing.T) {
	t.Parallel()
	for _, minutes := range [][]int{{1, 2, 3}, {2, 1, 3}, {3, 2, 1}} {
		l := newLedger(t)
		for org, m := range minutes {
			after := time.Duration(m) * time.Minute
			accept(t, l, trigger(fmt.Sprint("org", org), storage.NewID("trg_", noon.Add(after)), after, 1))
		}
		if b, err := l.Backlog(); err != nil || !b.OldestWalk.Equal(noon.Add(time.Minute)) {
			t.Errorf("triggers of the minutes %v: the oldest walk is of %s, %v", minutes, b.OldestWalk, err)
		}
	}
}

// The age of a manual retry counts from the retry, not from its trigger.
func TestBacklog_ManualRetry(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	old := trigger("org", storage.NewID("trg_", noon.Add(-6*24*time.Hour)), 0, 1)
	accept(t, l, old)
	failed := delivery("h1", events.OutcomeFailed, 1)
	fold(t, l, slice(old, 0, true, failed))
	inputs := events.RetryInputs{EndpointID: failed.EndpointID, Homes: []events.RetryHome{{HomeID: failed.HomeID}}}
	_, receipt := inputs.Retry(old, storage.Time{Time: noon}, noon)
	fold(t, l, receipt)
	if b, err := l.Backlog(); err != nil || !b.OldestRetry.Equal(noon) {
		t.Errorf("the oldest retry is of %s, %v, want %s", b.OldestRetry, err, noon)
	}
	for _, tt := range []struct{ automatic, oldest time.Duration }{{time.Minute, 0}, {-time.Hour, -time.Hour}} {
		tr := trigger("org", storage.NewID("trg_", noon.Add(tt.automatic)), 0, 1)
		accept(t, l, tr)
		fold(t, l, slice(tr, 0, true, delivery("h1", events.OutcomeRetrying, 1)))
		if b, err := l.Backlog(); err != nil || !b.OldestRetry.Equal(noon.Add(tt.oldest)) {
			t.Errorf("with an automatic retry %s after noon, the oldest retry is of %s, %v, want %s after noon", tt.automatic, b.OldestRetry, err, tt.oldest)
		}
	}
}
