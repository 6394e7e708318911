package ledger

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
)

func (l *Ledger) unnotifiedIDs(t *testing.T) (ids []string) {
	t.Helper()
	list, err := l.Unnotified(10)
	must(t, err)
	for _, p := range list {
		if p.Status != events.TriggerCompleted {
			t.Errorf("ended trigger %s is %s", p.TriggerID, p.Status)
		}
		ids = append(ids, p.TriggerID)
	}
	return ids
}

// A completed trigger is unnotified until its notice is put, in any order of its
// receipts, and also after a crash.
func TestUnnotified_Triggers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := openLedger(t, path)
	first, second := trigger("org", "trg_1", 0, 2), trigger("org", "trg_2", time.Minute, 1)
	fold(t, l, slice(second, 0, true, delivery("h", events.OutcomeDelivered, 1)))
	accept(t, l, first)
	fold(t, l, slice(first, 0, true, delivery("h", events.OutcomeRetrying, 1)))
	if got := l.unnotifiedIDs(t); got != nil {
		t.Errorf("unnotified triggers are %v", got)
	}
	accept(t, l, first, second) // the receipt came first
	fold(t, l, retry(first, "r1", delivery("h", events.OutcomeDelivered, 2)))
	must(t, l.Close())
	l = openLedger(t, path)
	defer func() { must(t, l.Close()) }()
	if got := l.unnotifiedIDs(t); len(got) != 2 || got[0] != "trg_1" || got[1] != "trg_2" {
		t.Fatalf("unnotified triggers are %v, want both", got)
	}
	must(t, l.MarkNotified([]events.Progress{{OrganizationID: "org", TriggerID: "trg_1"}}))
	fold(t, l, retry(first, "r1", delivery("h", events.OutcomeDelivered, 3)))
	if got := l.unnotifiedIDs(t); len(got) != 1 || got[0] != "trg_2" {
		t.Errorf("unnotified triggers are %v, want only the second", got)
	}
	third := trigger("org", "trg_3", 2*time.Minute, 1)
	accept(t, l, third)
	fold(t, l, slice(third, 0, true, delivery("h", events.OutcomeDelivered, 1)))
	must(t, l.MarkNotified([]events.Progress{{OrganizationID: "org", TriggerID: "trg_2"}, {OrganizationID: "org", TriggerID: "trg_3"}}))
	if got := l.unnotifiedIDs(t); got != nil {
		t.Errorf("triggers %v are unnotified, of two that were marked together", got)
	}
}

func TestUnnotified_Pruned(t *testing.T) {
	l := newLedger(t)
	tr := trigger("org", "trg_1", 0, 1)
	accept(t, l, tr)
	fold(t, l, slice(tr, 0, true, delivery("h", events.OutcomeDelivered, 1)))
	must(t, l.Prune(noon.Add(time.Hour)))
	if got := l.unnotifiedIDs(t); got != nil {
		t.Errorf("pruned triggers %v are unnotified", got)
	}
}
