package dispatcher

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// If triggers arrive faster than an endpoint accepts their walks, the last homes still
// get signals. A newer walk does not supersede a walk that waits for a slow endpoint. It
// may supersede some homes of a slice that it has reached meanwhile.
func TestSupersede_SlowEndpointReachesEveryHome(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes, triggers = 8 * events.SliceHomes, 12
		w.options.EndpointConcurrency = 4
		w.homes(homes)
		w.endpoint("ep", only(storage.EventPriceSignalUpdated))
		w.partner.answers(func(*http.Request, arrival) int {
			<-time.After(time.Second) // 4 requests at once take two minutes for a walk
			return http.StatusOK
		})
		w.worker()
		for range triggers {
			w.trigger(24)
			<-time.After(time.Minute)
		}
		had := map[string]bool{}
		for _, a := range w.partner.got() {
			had[a.home] = true
		}
		if len(had) < homes*95/100 {
			t.Errorf("%d of %d homes got a signal of %d triggers", len(had), homes, triggers)
		}
	})
}

// An endpoint with a Retry-After after some requests per minute also reaches its last
// homes.
func TestRetryAfter_ReachesEveryHome(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes, triggers, quota = 8 * events.SliceHomes, 12, events.SliceHomes / 2
		w.homes(homes)
		w.endpoint("ep", only(storage.EventPriceSignalUpdated))
		var mu sync.Mutex // of since and n
		var since time.Time
		n := 0
		w.partner.answers(func(*http.Request, arrival) int {
			mu.Lock()
			defer mu.Unlock()
			if now := time.Now(); now.Sub(since) >= time.Minute {
				since, n = now, 0
			}
			if n++; n > quota {
				return http.StatusTooManyRequests
			}
			return http.StatusOK
		})
		w.partner.server.Handler = withHeader(w.partner, "Retry-After", "60")
		w.worker()
		for range triggers {
			w.trigger(24)
			<-time.After(5 * time.Minute)
		}
		had := map[string]bool{}
		for _, a := range w.partner.got() {
			had[a.home] = true
		}
		if len(had) < homes*82/100 { // each walk begins at random homes
			t.Errorf("%d of %d homes got a signal of %d triggers", len(had), homes, triggers)
		}
	})
}

// An endpoint that only ever asks to wait does not keep all triggers open: the newest one
// supersedes the others. Otherwise the organization would soon reach its limit of triggers.
func TestRetryAfter_NewerTriggers(t *testing.T) {
	for _, seconds := range []string{"600", "7200"} {
		t.Run(seconds, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.homes(20 * events.SliceHomes)
				w.endpoint("ep", only(storage.EventPriceSignalUpdated))
				w.partner.answers(func(*http.Request, arrival) int { return http.StatusServiceUnavailable })
				w.partner.server.Handler = withHeader(w.partner, "Retry-After", seconds)
				w.worker()
				triggers := make([]events.Trigger, 24)
				for i := range triggers {
					triggers[i] = w.trigger(24)
					<-time.After(15 * time.Minute)
				}
				open := 0
				for _, tr := range triggers {
					if p, _ := w.seen(tr); p.Status != events.TriggerCompleted {
						open++
					}
				}
				if open > 5 {
					t.Errorf("%d of %d triggers are open", open, len(triggers))
				}
			})
		})
	}
}

// hang is half of the partner's response time in TestSupersede_BusHangs.
const hang = 50 * time.Millisecond

// The supersede check does not wait for a message system that hangs during a slice.
func TestSupersede_BusHangs(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(events.SliceHomes)
		w.endpoint("ep", only(storage.EventPriceSignalUpdated))
		w.partner.answers(func(*http.Request, arrival) int {
			w.bus.mu.Lock()
			w.bus.hangs = true
			w.bus.mu.Unlock()
			<-time.After(2 * hang)
			return http.StatusOK
		})
		w.options.EndpointConcurrency = 1
		w.worker()
		began := time.Now()
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: events.SliceHomes})
		if took, attempts := time.Since(began), events.SliceHomes*2*hang; took > 2*attempts {
			t.Errorf("slice took %s", took)
		}
	})
}

// A slow endpoint stays at its concurrency limit: its slices wait in memory, and no
// longer than needed.
func TestSupersede_SlowEndpointStaysBusy(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes, took = 12 * events.SliceHomes, 200 * time.Millisecond
		w.homes(homes)
		w.endpoint("ep", only(storage.EventPriceSignalUpdated))
		w.partner.answers(func(*http.Request, arrival) int {
			<-time.After(took)
			return http.StatusOK
		})
		w.worker()
		began := time.Now()
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: homes})
		least := took * time.Duration(homes/w.options.EndpointConcurrency)
		if walk := time.Since(began); walk > least*11/10 {
			t.Errorf("walk took %s, want %s at the concurrency limit", walk, least)
		}
	})
}

// A newer trigger of an API that lags does not walk the newest homes, so it does not
// supersede their older signals.
func TestSupersede_LaggingAPI(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = 3
		w.homes(homes)
		w.endpoint("ep", only(storage.EventPriceSignalUpdated))
		lagging := w.store.Revision()
		storagetest.Put(t, w.store, storagetest.Home("org", "home_new", "plan"))
		var back atomic.Bool
		w.partner.answers(func(_ *http.Request, a arrival) int {
			if a.home == "home_new" && !back.Load() {
				return http.StatusServiceUnavailable
			}
			return http.StatusOK
		})
		w.worker()
		older := w.trigger(24)
		<-time.After(500 * time.Millisecond)
		back.Store(true)
		newer := older
		newer.ID, newer.Revision, newer.Homes = storage.NewID("trg_", time.Now()), lagging, homes
		newer = w.bus.accept(newer)
		w.wants(older, outcomes{events.OutcomeDelivered: homes + 1})
		w.wants(newer, outcomes{events.OutcomeDelivered: homes})
	})
}

// A newer trigger supersedes the retries of an endpoint that stays down.
func TestSupersede_EndpointDown(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = 20
		w.homes(homes)
		w.endpoint("ep", only(storage.EventPriceSignalUpdated))
		w.partner.refuses("ep", true)
		w.worker()
		older := w.trigger(24)
		<-time.After(time.Minute)
		newer := w.trigger(24)
		<-time.After(5 * time.Minute)
		for _, c := range []struct {
			events.Trigger
			want outcomes
		}{{older, outcomes{events.OutcomeSuperseded: homes}}, {newer, outcomes{events.OutcomeRetrying: homes}}} {
			if p, _ := w.seen(c.Trigger); fmt.Sprint(p.Outcomes) != fmt.Sprint(c.want) {
				t.Errorf("%d: %v, want %v", c.Sequence, p.Outcomes, c.want)
			}
		}
	})
}

// A newer trigger for some rate plans does not supersede the retry of a home that has left
// these plans meanwhile, because it does not reach the home.
func TestSupersede_ChangedPlan(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(2)
		w.plan("other")
		w.endpoint("ep", only(storage.EventPriceSignalUpdated))
		var back atomic.Bool
		w.partner.answers(func(*http.Request, arrival) int {
			if back.Load() {
				return http.StatusOK
			}
			return http.StatusServiceUnavailable
		})
		w.worker()
		older := w.trigger(24)
		<-time.After(500 * time.Millisecond)
		back.Store(true)
		w.changeHome(homeID(0), func(h *storage.Home) { h.RatePlanID = "other" })
		newer := w.triggerOf("org", 24, "plan")
		w.wants(newer, outcomes{events.OutcomeDelivered: 1})
		w.wants(older, outcomes{events.OutcomeDelivered: 1, events.OutcomeSuperseded: 1})
	})
}
