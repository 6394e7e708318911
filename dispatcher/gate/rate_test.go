package gate

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// A request that is canceled while it waits for the rate limit does not enter.
func TestEnter_CanceledAtRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newGate(8, 8).NewEndpoint("org")
		e.Configure(storage.DefaultRetryPolicy(), 1, 1)
		prove(t, e)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		if _, err := e.Enter(ctx, deliveries(1)); !errors.Is(err, context.DeadlineExceeded) || e.pending != 0 {
			t.Errorf("Enter returns %v, %d requests are pending", err, e.pending)
		}
		began := time.Now()
		p := enter(t, e)
		p.Leave(Report{})
		if took := time.Since(began); took != time.Second/2 {
			t.Errorf("the next request waits %s: the canceled one has kept its place in the rate limit", took)
		}
	})
}

// A request whose deliveries are dropped while it waits for the rate limit leaves its place to
// the next one, as the first in the queue and behind it.
func TestEnter_DroppedAtRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newGate(8, 8).NewEndpoint("org")
		e.Configure(storage.DefaultRetryPolicy(), 1, 1)
		prove(t, e)
		began := time.Now()
		var left atomic.Int64
		left.Store(1)
		var waiting sync.WaitGroup
		for range 3 {
			waiting.Go(func() {
				if p, err := e.Enter(t.Context(), func() int { return int(left.Load()) }); err == nil {
					p.Leave(Report{})
				}
			})
		}
		synctest.Wait()
		left.Store(0)
		for range 2 {
			p := enter(t, e)
			p.Leave(Report{})
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("two requests behind three that were dropped enter after %s, want 2s", took)
		}
		waiting.Wait()
	})
}

// What ends the waits for the rate limit ends all of them with its error: no request of a
// disabled endpoint or of a stopping worker is sent. A request without deliveries does not wait.
func TestEnter_WaitsEnd(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(*Endpoint)
		want error
	}{
		"interrupted":  {(*Endpoint).Interrupt, ErrInterrupted},
		"another rate": {func(e *Endpoint) { e.Configure(storage.DefaultRetryPolicy(), 5, 1) }, ErrInterrupted},
		"closed":       {func(e *Endpoint) { e.gate.Close() }, ErrClosed},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := newGate(8, 8).NewEndpoint("org")
			e.Configure(storage.DefaultRetryPolicy(), 0.1, 1)
			prove(t, e)
			ended := make(chan error, 3)
			for range 3 {
				go func() {
					_, err := e.Enter(t.Context(), deliveries(1))
					ended <- err
				}()
			}
			synctest.Wait()
			if p, err := e.Enter(t.Context(), deliveries(0)); err != nil {
				t.Errorf("%s: a request without deliveries ends with %v", name, err)
			} else {
				p.Leave(Report{})
			}
			began := time.Now()
			tt.end(e)
			for range 3 {
				if err := <-ended; !errors.Is(err, tt.want) {
					t.Errorf("%s: a waiting request ends with %v, want %v", name, err, tt.want)
				}
			}
			if took := time.Since(began); took != 0 {
				t.Errorf("%s: the waits end after %s", name, took)
			}
		})
	}
}

// An endpoint that had nothing to do for long still counts as one that responds.
func TestEnter_AfterIdleTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newGate(8, 8).NewEndpoint("org")
		prove(t, e)
		<-time.After(time.Hour)
		if n := len(entering(t.Context(), e, 8)); n != 8 || !free(e.gate.unproven, 4) {
			t.Errorf("%d requests enter, want 8, and none of them as to an unproven endpoint", n)
		}
	})
}

// A rate limit counts deliveries. A delayed request is not in flight.
func TestEnter_RateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newGate(10, 10).NewEndpoint("org")
		e.Configure(storage.DefaultRetryPolicy(), 8, 4)
		began := time.Now()
		for range 4 {
			p, err := e.Enter(t.Context(), deliveries(4))
			if err != nil {
				t.Fatal(err)
			}
			p.Leave(Report{Sent: true, Responded: true, Delivered: true, Deliveries: 4})
		}
		if took := time.Since(began); took != 1500*time.Millisecond {
			t.Errorf("16 deliveries at 8/s took %s after the first 4", took)
		}
	})
}

// A changed rate limit or batch size applies at once. The same one, as after another change of
// the endpoint, does not admit another burst.
func TestConfigure_RateLimit(t *testing.T) {
	for _, c := range []struct {
		name      string
		perSecond float64
		batch     int
		wait      time.Duration
	}{
		{"the same", 8, 4, 500 * time.Millisecond},
		{"another rate", 80, 4, 0},
		{"another batch size", 8, 5, 0},
		{"none", 0, 4, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := newGate(8, 8).NewEndpoint("org")
			e.Configure(storage.DefaultRetryPolicy(), 8, 4)
			before := e.spread(t.Context(), deliveries(4))
			e.Configure(storage.DefaultRetryPolicy(), c.perSecond, c.batch)
			began := time.Now()
			after := e.spread(t.Context(), deliveries(4))
			if took := time.Since(began); before != nil || after != nil || took != c.wait {
				t.Errorf("%s: 4 deliveries wait %s, want %s; errors %v, %v", c.name, took, c.wait, before, after)
			}
		})
	}
}

// A request that waits for the rate limit, and enters again when Configure interrupts it, has
// the new limit. The same limit again does not delay it.
func TestConfigure_WaitingRequests(t *testing.T) {
	for perSecond, want := range map[float64]time.Duration{1: 10 * time.Second, 5: 5 * time.Second, 100: 5 * time.Second, 0.1: 5 * time.Second, 0: 5 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			e := newGate(8, 8).NewEndpoint("org")
			configure := func(perSecond float64) { e.Configure(storage.DefaultRetryPolicy(), perSecond, 10) }
			configure(1)
			began := time.Now()
			err := e.spread(t.Context(), deliveries(10))
			time.AfterFunc(5*time.Second, func() { configure(perSecond) })
			took := time.Since(began)
			again := e.spread(t.Context(), deliveries(10))
			if errors.Is(again, ErrInterrupted) {
				again = e.spread(t.Context(), deliveries(10))
			}
			if err != nil || again != nil || took != 0 || time.Since(began) != want {
				t.Errorf("after a change to %v per second: %v, %s, and then %s, want %s", perSecond, err, took, time.Since(began), want)
			}
		})
	}
}

// The wait for a rate limit is no silence of the endpoint.
func TestAwaitCapacity_RateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newGate(100, 8).NewEndpoint("org")
		e.Configure(storage.DefaultRetryPolicy(), 0.1, 1)
		prove(t, e)
		sending, stop := context.WithCancel(t.Context())
		defer stop()
		waiting := entering(sending, e, 1)
		for range e.slow.most {
			e.slow.enter()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
		defer cancel()
		began := time.Now()
		if e.gate.AwaitCapacity(ctx, waitFor(e, func() {})) || time.Since(began) < 9*time.Second {
			t.Errorf("a slice is parked after %s, because the worker obeys the rate limit", time.Since(began))
		}
		if len(waiting) != 0 {
			t.Error("a request entered before the rate limit admitted it")
		}
	})
}
