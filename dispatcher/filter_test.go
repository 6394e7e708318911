package dispatcher

import (
	"testing"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// An endpoint receives the signals of the homes and rate plans that it lists. A home that
// no endpoint selects is walked and has no outcome.
func TestFilters(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = 100
		w.homes(homes)
		storagetest.Put(t, w.store, storagetest.RatePlan(storage.Shared, "other", 0.5), storagetest.Home("org", homeID(7), "other"))
		w.endpoint("homes", func(e *storage.WebhookEndpoint) { e.HomeIDs = []string{homeID(3), homeID(7), homeID(99), "absent"} })
		w.endpoint("plans", func(e *storage.WebhookEndpoint) { e.RatePlanIDs = []string{"other"} })
		w.endpoint("both", func(e *storage.WebhookEndpoint) {
			e.HomeIDs, e.RatePlanIDs = []string{homeID(3), homeID(7)}, []string{"other"}
		})
		w.worker()
		tr := w.trigger(24)
		got := map[string][]string{}
		for _, d := range w.wants(tr, outcomes{events.OutcomeDelivered: 5}) {
			got[d.EndpointID] = append(got[d.EndpointID], d.HomeID)
		}
		if len(got["homes"]) != 3 || len(got["plans"]) != 1 || got["plans"][0] != homeID(7) || len(got["both"]) != 1 || got["both"][0] != homeID(7) {
			t.Errorf("homes by endpoint are %v", got)
		}
		if p, _ := w.settled(tr); p.Walked != homes {
			t.Errorf("walked %d homes, want %d", p.Walked, homes)
		}
	})
}

// Without a signal, a home has an outcome if an endpoint selects it.
func TestFilters_Unpriceable(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(3)
		for i := range 2 {
			storagetest.Put(t, w.store, storagetest.Home("org", homeID(i), "missing"))
		}
		w.endpoint("ep", func(e *storage.WebhookEndpoint) { e.HomeIDs = []string{homeID(0), homeID(2)} })
		w.worker()
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 1, events.OutcomeUnpriceable: 1})
	})
}
