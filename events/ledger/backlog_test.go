package ledger

import (
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
	earlier := trigger("org", storage.NewID("trg_", noon.Add(-time.Hour)), 0, 1)
	accept(t, l, earlier)
	fold(t, l, slice(earlier, 0, true, delivery("h1", events.OutcomeRetrying, 1)))
	if b, err := l.Backlog(); err != nil || !b.OldestRetry.Equal(noon.Add(-time.Hour)) {
		t.Errorf("the oldest retry is of %s, %v, want the automatic one", b.OldestRetry, err)
	}
}
