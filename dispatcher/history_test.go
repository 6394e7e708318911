package dispatcher

import (
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gridhook/gridhook/events"
)

// outgrown reports to a worker, until stopped, that the history of the organization org takes
// a multiple of its quota.
func outgrown(n *node, multiple int) (stop func()) {
	done := make(chan struct{})
	report := func() {
		n.Histories.Add(events.HistoryReport{Multiples: map[string]int{"org": multiple}}, time.Now())
	}
	report()
	go func() {
		for {
			select {
			case <-time.After(events.ReportEvery):
				report()
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); synctest.Wait() }
}

// countTo returns the number of webhooks that a host has got.
func (w *world) countTo(host string) (n int) {
	for _, a := range w.partner.got() {
		if a.host == host {
			n++
		}
	}
	return n
}

// retryPuts returns how often a retry was stored.
func (w *world) retryPuts() int {
	w.bus.mu.Lock()
	defer w.bus.mu.Unlock()
	return len(w.bus.retryPuts)
}

func TestHistory_WalksWait(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = 3 * events.SliceHomes
		w.homes(homes)
		w.endpoint("ep")
		w.neighbor(5)
		stop := outgrown(w.worker(), events.WalksWait)
		waits := w.trigger(24)
		w.triggerOf("neighbor", 24)
		<-time.After(3 * roomEvery)
		if n := w.countTo("ep"); n > 0 {
			t.Errorf("%d webhooks were sent although the history is too large", n)
		}
		if n := w.countTo("next-door"); n != 5 {
			t.Errorf("the neighbor got %d webhooks, want 5", n)
		}
		if n := w.waiting(); n > group {
			t.Errorf("%d messages wait for %d slices", n, homes/events.SliceHomes)
		}
		stop()
		w.wants(waits, outcomes{events.OutcomeDelivered: homes})
	})
}

// Walks that have waited send only the signals of the newest trigger: the outcomes of the
// others would fill the history again.
func TestHistory_WaitingWalksAreSuperseded(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = events.SliceHomes + 1
		w.homes(homes)
		w.endpoint("ep")
		stop := outgrown(w.worker(), events.WalksWait)
		old := []events.Trigger{w.trigger(24), w.trigger(24), w.trigger(24)}
		newest := w.trigger(24)
		<-time.After(time.Hour)
		stop()
		w.wants(newest, outcomes{events.OutcomeDelivered: homes})
		for _, t := range old {
			w.wants(t, outcomes{events.OutcomeSuperseded: homes})
		}
	})
}

func TestHistory_WalkEndsAtItsDeadline(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = events.SliceHomes + 1
		w.homes(homes)
		w.endpoint("ep")
		stop := outgrown(w.worker(), events.WalksWait)
		defer stop()
		w.wants(w.trigger(1), outcomes{events.OutcomeExpired: homes})
		if n := w.countTo("ep"); n > 0 {
			t.Errorf("%d webhooks were sent", n)
		}
		for _, r := range w.bus.receipts {
			if len(r.RetryInputs) > 0 {
				t.Error("a receipt has the content for replays")
			}
		}
	})
}

func TestHistory_RetriesWait(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = 5
		w.homes(homes)
		w.endpoint("ep")
		var requests atomic.Int64
		var fails atomic.Bool
		fails.Store(true)
		w.partner.hosts("ep", http.HandlerFunc(func(r http.ResponseWriter, _ *http.Request) {
			requests.Add(1)
			if fails.Load() {
				http.Error(r, "a long explanation", http.StatusInternalServerError)
			}
		}))
		n := w.worker()
		waits := w.trigger(24)
		<-time.After(time.Second)

		stop := outgrown(n, events.RetriesWait-1) // retries make room, and their outcomes have no details
		<-time.After(time.Hour)
		sent := requests.Load()
		if sent <= homes {
			t.Error("no retry was sent below the multiple from which retries wait")
		}
		_, deliveries := w.seen(waits)
		if len(deliveries) != homes {
			t.Errorf("%d deliveries are shown, want %d", len(deliveries), homes)
		}
		for _, d := range deliveries {
			if d.Response != "" {
				t.Errorf("the response %q is stored", d.Response)
			}
		}
		stop()
		stop = outgrown(n, events.RetriesWait)
		puts := w.retryPuts()
		<-time.After(10 * time.Hour)
		if n := w.retryPuts() - puts; n > 200 { // a look each minute would be 600
			t.Errorf("the waiting retries were stored %d times", n)
		}
		if more := requests.Load() - sent; more > 0 {
			t.Errorf("%d retries were sent although the history is too large", more)
		}
		stop()
		fails.Store(false)
		w.wants(waits, outcomes{events.OutcomeDelivered: homes})
	})
}
