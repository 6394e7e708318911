package dispatcher

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// fill makes the bus refuse or accept new messages.
func (b *fakeBus) fill(full bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.full = full
	b.wakeLocked()
}

// A worker holds outcomes until they can be stored, however long that takes. This
// applies to slices, retries and the known signals of onChange endpoints. No webhook is
// repeated.
func TestRecord_StoreFull(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const n = 3 * events.SliceHomes
		w.homes(n)
		w.endpoint("ep")
		w.endpoint("changes", func(e *storage.WebhookEndpoint) { e.DeliveryMode = storage.DeliverOnChange })
		w.endpoint("flaky")
		w.worker()
		fill := sync.OnceFunc(func() { w.bus.fill(true) })
		var mu sync.Mutex
		failed := map[string]bool{}
		w.partner.answers(func(_ *http.Request, a arrival) int {
			fill()
			mu.Lock()
			defer mu.Unlock()
			if a.host == "flaky" && !failed[a.home] {
				failed[a.home] = true
				return http.StatusInternalServerError
			}
			return http.StatusOK
		})
		tr := w.trigger(24)
		<-time.After(2 * time.Minute)
		w.bus.fill(false)
		w.checkDelivered(w.wants(tr, outcomes{events.OutcomeDelivered: 3 * n}), 1)
		if w.bus.redelivered != 0 {
			t.Errorf("%d redeliveries, want none", w.bus.redelivered)
		}
	})
}

// A worker holds the outcomes of a retry like those of a slice.
func TestRecord_StoreFullOnRetry(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(2)
		w.endpoint("ep")
		w.worker()
		var tries atomic.Int64
		fill := sync.OnceFunc(func() { w.bus.fill(true) })
		w.partner.answers(func(*http.Request, arrival) int {
			if tries.Add(1) <= 2 {
				return http.StatusInternalServerError
			}
			fill()
			return http.StatusOK
		})
		tr := w.trigger(24)
		<-time.After(2 * time.Minute)
		w.bus.fill(false)
		w.checkDelivered(w.wants(tr, outcomes{events.OutcomeDelivered: 2}), 1)
		if w.bus.redelivered != 0 {
			t.Errorf("%d redeliveries, want none", w.bus.redelivered)
		}
	})
}

// When the drain timeout ends, a stopping worker requeues its unfinished messages.
// Another worker finishes them.
func TestRecord_StopWhileStoreFull(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.options.DrainTimeout = 5 * time.Second
		w.homes(2)
		w.endpoint("ep")
		first := w.worker()
		w.partner.answers(func(*http.Request, arrival) int { w.bus.fill(true); return http.StatusOK })
		tr := w.trigger(24)
		<-time.After(time.Minute)
		began := time.Now()
		first.stop()
		if took := time.Since(began); took > w.options.DrainTimeout+100*time.Millisecond {
			t.Errorf("stop took %s", took)
		}
		w.partner.answers(func(*http.Request, arrival) int { return http.StatusOK })
		w.bus.fill(false)
		w.worker()
		w.checkDelivered(w.wants(tr, outcomes{events.OutcomeDelivered: 2}), 2)
	})
}
