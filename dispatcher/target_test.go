package dispatcher

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gridhook/gridhook/dispatcher/target"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// past is a view with an older version of one record.
type past struct {
	storage.View
	record storage.Record
}

func (p past) Get(storage.Ref) (storage.Record, error) { return p.record, nil }

// readied returns a worker's target for a record, from its registry or new.
func (n *node) readied(t *testing.T, r storage.Record) *target.Target {
	t.Helper()
	e, err := n.targets.Get(past{record: r}, r.Org, r.ID)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// An endpoint that was deleted while it was down is no longer reported, and its secrets
// leave the memory within sweepEvery.
func TestSweep_DropsDeletedEndpoints(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		// No retry comes before the sweep, because it would drop the endpoint too.
		later := func(e *storage.WebhookEndpoint) { e.RetryPolicy.InitialSeconds, e.RetryPolicy.MaxSeconds = 600, 600 }
		w.homes(events.SliceHomes)
		for _, id := range []string{"deleted", "remaining"} {
			w.endpoint(id, later)
			w.partner.refuses(id, true)
		}
		n := w.worker()
		synctest.Wait() // the sweeps begin now
		began := time.Now()
		w.trigger(24)
		synctest.Wait()
		<-time.After(time.Second)
		if open := n.OpenBreakers(); len(open) != 2 {
			t.Fatalf("open breakers are %+v, want both endpoints", open)
		}
		held := map[string]storage.Record{}
		err := w.store.View(func(v storage.View) error {
			return v.Scan(storage.KindWebhookEndpoint, "org", "", func(r storage.Record) bool {
				r.Value = bytes.Clone(r.Value)
				held[r.ID] = r
				return true
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		before := map[string]*target.Target{}
		for id, r := range held {
			if before[id] = n.readied(t, r); n.readied(t, r) != before[id] {
				t.Fatalf("registry has no target %s", id)
			}
		}
		w.delete(held["deleted"].Ref)
		<-time.After(time.Until(began.Add(sweepEvery + time.Millisecond)))
		synctest.Wait()
		if open := n.OpenBreakers(); len(open) != 1 || open[0].EndpointID != "remaining" {
			t.Errorf("open breakers are %+v, want the remaining endpoint", open)
		}
		if n.readied(t, held["remaining"]) != before["remaining"] {
			t.Error("remaining endpoint was dropped")
		}
		if n.readied(t, held["deleted"]) == before["deleted"] {
			t.Error("registry has the deleted endpoint")
		}
	})
}
