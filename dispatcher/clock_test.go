package dispatcher

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
)

// A worker's clock jumps by an hour or a year during a walk, and is corrected later.
// Each home ends with one outcome. Only deliveries past their deadline by the wrong
// clock fail, visibly. The next trigger is delivered normally.
func TestWorker_ClockJumps(t *testing.T) {
	const n = 3 * events.SliceHomes
	const hour, year = time.Hour, 365 * 24 * time.Hour
	for _, jump := range []time.Duration{hour, -hour, year, -year} {
		t.Run(fmt.Sprint(jump), func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				var off atomic.Int64
				w.clock = func() time.Time { return time.Now().Add(time.Duration(off.Load())).Round(0) }
				w.homes(n)
				w.endpoint("ep")
				w.worker()
				var requests atomic.Int64
				var failed sync.Map
				w.partner.answers(func(_ *http.Request, a arrival) int {
					if requests.Add(1) == n/2 {
						off.Store(int64(jump))
					}
					if a.home[len(a.home)-1] == '7' {
						if _, before := failed.LoadOrStore(a.home, true); !before {
							return http.StatusInternalServerError
						}
					}
					return http.StatusOK
				})
				list := w.outcomesAfter(t, w.trigger(24), n)
				w.checkDelivered(list, 1)
				given := 0
				for _, d := range list {
					if d.Outcome != events.OutcomeDelivered {
						given++
					}
				}
				if over := jump == year; over != (given > 0) {
					t.Errorf("%d deliveries failed", given)
				}
				off.Store(0)
				w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: n})
			})
		})
	}
}

// Retries and parked walks of a worker whose clock is behind the clock of NATS wait for their
// time. They would otherwise be due at once, again and again.
func TestWorker_ClockBehind(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.clock = func() time.Time { return time.Now().Add(-30 * time.Second).Round(0) }
		const n = 3 * events.SliceHomes
		w.homes(n)
		w.endpoint("ep")
		w.worker()
		w.partner.answers(func(*http.Request, arrival) int { return http.StatusServiceUnavailable })
		w.trigger(24)
		<-time.After(3 * time.Minute)
		if puts := w.retryPuts(); puts > 200 {
			t.Errorf("%d retries and parked walks were stored in three minutes", puts)
		}
		w.partner.answers(func(*http.Request, arrival) int { return http.StatusOK })
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: n})
	})
}

// outcomesAfter waits until no work is left. It checks that every home of a trigger has
// one final outcome.
func (w *world) outcomesAfter(t *testing.T, tr events.Trigger, homes int) []events.Delivery {
	t.Helper()
	p, list := w.settled(tr)
	if p.Status != events.TriggerCompleted || len(list) != homes {
		t.Errorf("trigger is %s, with %d outcomes of %d homes", p.Status, len(list), homes)
	}
	if twice := repeated(list); twice != "" {
		t.Errorf("%s has more than one outcome", twice)
	}
	for _, d := range list {
		if !d.Outcome.Final() {
			t.Errorf("outcome of %s is %s", d.HomeID, d.Outcome)
		}
	}
	return list
}
