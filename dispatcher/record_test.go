package dispatcher

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gridhook/gridhook/dispatcher/send"
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
		const n = 2 * events.SliceHomes // so that no slice is still to be put when a request arrives
		w.homes(n)
		w.endpoint("ep")
		w.endpoint("changes", func(e *storage.WebhookEndpoint) { e.DeliveryMode = storage.DeliverOnChange })
		w.endpoint("flaky")
		w.worker()
		fill := sync.OnceFunc(func() { w.bus.fill(true) })
		var mu sync.Mutex
		failed := map[string]bool{}
		w.partner.answers(func(_ *http.Request, a arrival) int {
			<-time.After(time.Second) // until each slice has begun its requests
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

// A worker stores its outcomes as soon as it can, however long it could not: before another
// worker takes the slices again.
func TestRecord_StoredAtOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const n = 8 * events.SliceHomes
		w.homes(n)
		w.endpoint("ep")
		back := time.Now().Add(time.Minute)
		var stored atomic.Int64
		w.bus.refuse = func(name, _ string) error {
			if name != "put receipt" {
				return nil
			}
			if time.Now().Before(back) {
				return storage.ErrUnavailable
			}
			stored.Store(int64(time.Since(back)))
			return nil
		}
		w.worker()
		w.checkDelivered(w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: n}), 1)
		if last := time.Duration(stored.Load()); last > 2*lastPersistDelay {
			t.Errorf("the last outcome is stored %s after the store is back", last)
		}
	})
}

// A slow slice counts as slow until its outcomes are stored. So a store that stalls limits
// the webhooks without an outcome, which a kill of the worker would repeat.
func TestRecord_StalledStoreLimitsSlowSlices(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const n = 12 * events.SliceHomes
		w.homes(n)
		w.endpoint("ep")
		w.partner.answers(func(*http.Request, arrival) int {
			<-time.After(200 * time.Millisecond) // longer than a slice keeps its slot
			return http.StatusOK
		})
		stalled := make(chan struct{})
		w.worker(func(at string) bool {
			if strings.HasPrefix(at, "before put receipt") {
				<-stalled
			}
			return false
		})
		tr := w.trigger(24)
		<-time.After(20 * time.Minute)
		most := (w.options.slowSlices() + w.options.Slices) * events.SliceHomes
		if got := len(w.partner.got()); got == 0 || got > most {
			t.Errorf("%d webhooks without a stored outcome, want 1 to %d", got, most)
		}
		close(stalled)
		w.checkDelivered(w.wants(tr, outcomes{events.OutcomeDelivered: n}), 1)
	})
}

// Slow slices that end together do not each make way for all that wait.
func TestRecord_StallEnds(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.options.EndpointConcurrency, w.options.Concurrency, w.options.Slices = 32, 256, 4
		const n, triggers = 6 * events.SliceHomes, 6
		w.homes(n)
		w.endpoint("ep")
		w.partner.answers(func(*http.Request, arrival) int {
			<-time.After(200 * time.Millisecond)
			return http.StatusOK
		})
		stall := make(chan struct{}, 1000)
		var stored atomic.Int64
		w.worker(func(at string) bool {
			if strings.HasPrefix(at, "before put receipt") {
				<-stall
				stored.Add(events.SliceHomes)
			}
			return false
		})
		var all []events.Trigger
		for i := range triggers {
			all = append(all, w.trigger(triggers-i)) // no window covers an earlier one
		}
		<-time.After(10 * time.Second)
		for range len(w.partner.got()) / events.SliceHomes { // all slices that are being stored
			stall <- struct{}{}
		}
		<-time.After(10 * time.Second)
		most := (w.options.slowSlices() + w.options.Slices) * events.SliceHomes
		if got := len(w.partner.got()) - int(stored.Load()); got > most {
			t.Errorf("%d webhooks without a stored outcome, want at most %d", got, most)
		}
		close(stall)
		for _, tr := range all {
			w.wants(tr, outcomes{events.OutcomeDelivered: n})
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

// A stopping worker requeues a slice whose retries cannot be stored, although its receipt could
// be: the receipt would lose the retries.
func TestRecord_StopWhileRetriesUnavailable(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.options.DrainTimeout = 5 * time.Second
		w.homes(2)
		w.endpoint("ep")
		var available atomic.Bool
		w.bus.refuse = func(name, _ string) error {
			if name == "put retries" && !available.Load() {
				return storage.ErrUnavailable
			}
			return nil
		}
		w.partner.answers(func(*http.Request, arrival) int { return http.StatusInternalServerError })
		first := w.worker()
		tr := w.trigger(24)
		<-time.After(time.Minute)
		first.stop()
		available.Store(true)
		w.partner.answers(func(*http.Request, arrival) int { return http.StatusOK })
		w.worker()
		w.checkDelivered(w.wants(tr, outcomes{events.OutcomeDelivered: 2}), 1)
	})
}

// A slice whose receipt cannot be stored at all is not lost.
func TestRecord_UnstorableReceipt(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(2)
		w.endpoint("ep")
		var tries atomic.Int64
		w.bus.refuse = func(name, _ string) error {
			if name == "put receipt" && tries.Add(1) <= 2 { // with and without responses
				return errors.New("bad")
			}
			return nil
		}
		w.worker()
		w.checkDelivered(w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 2}), 2)
	})
}

// A receipt that is too large with the endpoints' responses is stored without them. No
// webhook is repeated.
func TestRecord_LargeResponses(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(events.SliceHomes)
		w.endpoint("ep")
		w.endpoint("verbose", patience(0))
		var requests atomic.Int64
		w.partner.hosts("verbose", http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
			answer.WriteHeader(http.StatusInternalServerError)
			_, _ = fmt.Fprintf(answer, "%d%s", requests.Add(1), strings.Repeat("\x01", send.KeptResponse))
		}))
		w.bus.maxPayload = 6 * send.KeptResponse * events.SliceHomes / 2
		w.worker()
		list := w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: events.SliceHomes, events.OutcomeFailed: events.SliceHomes})
		w.checkDelivered(list, 1)
		for _, d := range list {
			if failed := d.EndpointID == "verbose"; failed && (d.Status != http.StatusInternalServerError || d.Reason == "") {
				t.Fatalf("delivery of %s is %+v", d.HomeID, d)
			}
		}
		if n := requests.Load(); n != events.SliceHomes {
			t.Errorf("%d webhooks arrived, want %d", n, events.SliceHomes)
		}
		if inputs := w.bus.receipts[0].RetryInputs; len(inputs) != 1 || len(inputs[0].Homes) != events.SliceHomes {
			t.Errorf("receipt has retry inputs %+v", inputs)
		}
	})
}
