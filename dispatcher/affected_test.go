package dispatcher

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// cheapHomes stores homes on their own plan. They sort among the other homes.
func (w *world) cheapHomes(n int) {
	w.t.Helper()
	list := []storage.Entity{storagetest.RatePlan(storage.Shared, "cheap", 0.1)}
	for i := range n {
		list = append(list, storagetest.Home("org", homeID(3*i)+"_cheap", "cheap"))
	}
	storagetest.Put(w.t, w.store, list...)
}

func cheap(home string) bool { return len(home) > len(homeID(0)) }

// A trigger for some plans walks only their homes and supersedes their older signals.
// The signals of other homes are retried.
func TestTrigger_SelectedPlans(t *testing.T) {
	t.Run("one by one", func(t *testing.T) { affectedHomesAlone(t, 0) })
	t.Run("in batches of several plans", func(t *testing.T) { affectedHomesAlone(t, 30) })
}

func affectedHomesAlone(t *testing.T, batch int) {
	inWorld(t, func(t *testing.T, w *world) {
		const plain, few = 2 * events.SliceHomes, events.SliceHomes / 2
		w.homes(plain)
		w.cheapHomes(few)
		w.endpoint("ep", only(storage.EventPriceSignalUpdated), batchesOf(batch))
		var mu sync.Mutex
		refusing := true
		w.partner.answers(func(_ *http.Request, a arrival) int {
			mu.Lock()
			defer mu.Unlock()
			if refusing && a.home != homeID(0) { // so the breaker stays closed
				return http.StatusInternalServerError
			}
			return http.StatusOK
		})
		w.worker()
		all := w.trigger(24)
		w.bus.await(func() bool { return len(w.bus.receipts) >= 3 })
		mu.Lock()
		refusing = false
		mu.Unlock()
		for range 40 { // any number of triggers for other plans may come first
			w.triggerOf("org", 24, "nobody's")
		}
		some := w.triggerOf("org", 24, "cheap", "nobody's")
		other := w.triggerOf("org", 24, "nobody's") // it selects no home and supersedes nothing
		<-time.After(time.Hour)
		w.wants(some, outcomes{events.OutcomeDelivered: few})
		w.wants(other, outcomes{})
		for _, d := range w.wants(all, outcomes{events.OutcomeDelivered: plain, events.OutcomeSuperseded: few}) {
			if cheap(d.HomeID) != (d.Outcome == events.OutcomeSuperseded) {
				t.Errorf("outcome of %s is %s", d.HomeID, d.Outcome)
			}
		}
		if p, _ := w.seen(some); p.Walked != few {
			t.Errorf("walked %d homes, want %d", p.Walked, few)
		}
		last := map[string]uint64{}
		for _, a := range w.partner.got() {
			if a.status == http.StatusOK {
				last[a.home] = a.sequence
			}
		}
		for home, sequence := range last {
			if want := map[bool]uint64{true: some.Sequence, false: all.Sequence}[cheap(home)]; sequence != want {
				t.Errorf("last signal of %s is %d, want %d", home, sequence, want)
			}
		}
	})
}
