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

func newGate(concurrency, each int) *Gate {
	return New(Options{Concurrency: concurrency, EndpointConcurrency: each, SlowSlices: 3, Now: time.Now, Jitter: func() float64 { return 0.5 }})
}

// prove lets an endpoint answer well once.
func prove(t *testing.T, e *Endpoint) {
	t.Helper()
	p := enter(t, e)
	p.Leave(Report{Sent: true, Responded: true, Delivered: true, Deliveries: 1})
}

func enter(t *testing.T, e *Endpoint) Pass {
	t.Helper()
	p, err := e.Enter(t.Context(), 1)
	if err != nil || !p.Until.IsZero() {
		t.Fatalf("entered as %+v, %v", p, err)
	}
	return p
}

// entering counts the requests of an endpoint that are let in, up to most.
func entering(ctx context.Context, e *Endpoint, most int) (in chan Pass) {
	in = make(chan Pass, most)
	for range most {
		go func() {
			if p, err := e.Enter(ctx, 1); err == nil {
				in <- p
			}
		}()
	}
	synctest.Wait()
	return in
}

// However many endpoints there are, no more requests are in flight than the worker may
// have, and half of its places stay free for endpoints that answer.
func TestEnter_HoldsTheWorkersConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(32, 8)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var good []*Endpoint
		for range 10 {
			e := g.NewEndpoint()
			prove(t, e)
			good = append(good, e)
		}
		hanging := make(chan Pass, 300)
		for range 300 {
			e := g.NewEndpoint()
			go func() {
				if p, err := e.Enter(ctx, 1); err == nil {
					hanging <- p
				}
			}()
		}
		synctest.Wait()
		if n := len(hanging); n != 16 {
			t.Errorf("%d requests to endpoints that never answered are in flight, want half of 32", n)
		}
		in := 0
		for _, e := range good {
			in += len(entering(ctx, e, 8))
		}
		if in != 16 {
			t.Errorf("%d requests to good endpoints are in flight beside them, want the other half", in)
		}
	})
}

// An endpoint has its concurrency limit once it has answered well, and an eighth before
// and while it is silent; places go to those that came first.
func TestEnter_HoldsTheEndpointsConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1000, 16)
		e := g.NewEndpoint()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		in := entering(ctx, e, 40)
		if n := len(in); n != 2 {
			t.Fatalf("%d are in flight before it has answered, want 2", n)
		}
		p := <-in
		p.Leave(Report{Sent: true, Responded: true, Delivered: true, Deliveries: 1})
		synctest.Wait()
		if n := len(in); n != 16 { // one of the two is still in flight, and fifteen more
			t.Fatalf("%d are in flight once it has answered, want 16", n)
		}
		<-time.After(2 * slowAfter)
		p = <-in
		p.Leave(Report{Sent: true, Deliveries: 1})
		synctest.Wait()
		if n := len(in); n != 15 {
			t.Errorf("%d are in flight while it is silent, want no more than there were", n)
		}
	})
}

// A request that enters while another one opens the breaker waits for no lock that the
// other one needs.
func TestLeave_OpensTheBreakerBesideEnter(t *testing.T) {
	var e *Endpoint
	opening, entered := false, make(chan struct{})
	g := New(Options{Concurrency: 64, EndpointConcurrency: 64, SlowSlices: 3, Now: time.Now, Jitter: func() float64 {
		if opening {
			opening = false
			go func() {
				defer close(entered)
				_, _ = e.Enter(t.Context(), 1)
			}()
			<-entered // Leave has not ended
		}
		return 0.5
	}})
	e = g.NewEndpoint()
	for range breakAfter/weightNoResponse + 1 {
		p := enter(t, e)
		opening = breakAfter-e.breaker.weight <= weightNoResponse
		p.Leave(Report{Sent: true, Deliveries: 1})
	}
	if _, _, open := e.Standing(); !open {
		t.Error("the breaker did not open")
	}
	<-entered
}

// Whoever does not wait any more takes no place, and leaves none behind.
func TestEnter_EndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1, 1)
		e := g.NewEndpoint()
		prove(t, e)
		p := enter(t, e)
		for _, other := range []*Endpoint{e, g.NewEndpoint()} {
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() {
				_, err := other.Enter(ctx, 1)
				ended <- err
			}()
			synctest.Wait()
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("it ended with %v", err)
			}
		}
		p.Leave(Report{})
		p.Leave(Report{}) // only the first counts
		again := enter(t, e)
		again.Leave(Report{})
		if len(g.total)+len(g.unproven)+e.inFlight+e.pending+e.sent != 0 {
			t.Errorf("something is left behind: %d, %d, %+v", len(g.total), len(g.unproven), e)
		}
	})
}

// A rate limit counts deliveries, and what it makes wait is not in flight.
func TestEnter_HoldsTheRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newGate(10, 10).NewEndpoint()
		e.Configure(storage.DefaultRetryPolicy(), 8, 4)
		began := time.Now()
		for range 4 {
			p, err := e.Enter(t.Context(), 4)
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

// An endpoint that is down refuses with the time of its next probe, and the report of
// the probe opens it.
func TestEnter_SaysUntilWhenAnEndpointIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newGate(10, 10).NewEndpoint()
		e.Configure(storage.RetryPolicy{InitialSeconds: 8, Multiplier: 2, MaxSeconds: 60}, 0, 1)
		for {
			p := enter(t, e)
			if p.Leave(Report{Sent: true, Deliveries: 1}) == Opened {
				break
			}
		}
		p, err := e.Enter(t.Context(), 1)
		if want := time.Now().Add(6 * time.Second); err != nil || !p.Until.Equal(want) {
			t.Fatalf("it says %s, %v, want %s", p.Until, err, want)
		}
		if p.Leave(Report{Sent: true}) != Unchanged {
			t.Error("what was not let in has something to leave")
		}
		<-time.After(6 * time.Second)
		probe := enter(t, e)
		if change := probe.Leave(Report{Sent: true, Responded: true, Delivered: true, Deliveries: 1}); change != Closed {
			t.Errorf("the probe that succeeds changes %v", change)
		}
	})
}

// A Retry-After opens the breaker and says so. A success that was in flight before does
// not cut the time short, nor does the failure of another request.
func TestLeave_HoldsAsLongAsRetryAfterAsks(t *testing.T) {
	for name, late := range map[string]Report{
		"a late success": {Sent: true, Responded: true, Delivered: true, Deliveries: 1},
		"a late failure": {Sent: true, Deliveries: 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := newGate(100, 100).NewEndpoint()
			earlier, refused := enter(t, e), enter(t, e)
			if change := refused.Leave(Report{Sent: true, Responded: true, RetryAfter: time.Hour, Deliveries: 1}); change != Opened {
				t.Errorf("%s: a Retry-After changes %v, want Opened", name, change)
			}
			if change := earlier.Leave(late); change != Unchanged {
				t.Errorf("%s changes %v", name, change)
			}
			if until, want := e.OpenUntil(time.Now()), time.Now().Add(time.Hour); !until.Equal(want) {
				t.Errorf("%s: the breaker is open until %s, want %s", name, until, want)
			}
			<-time.After(time.Hour)
			probe := enter(t, e)
			if change := probe.Leave(Report{Sent: true, Responded: true, Delivered: true, Deliveries: 1}); change != Closed {
				t.Errorf("%s: the probe afterwards changes %v, want Closed", name, change)
			}
		})
	}
}

// A Retry-After that arrives during the probe outlasts the result of the probe.
func TestLeave_RetryAfterDuringAProbe(t *testing.T) {
	for name, result := range map[string]Report{
		"success": {Sent: true, Responded: true, Delivered: true, Deliveries: 1},
		"failure": {Sent: true, Deliveries: 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := newGate(100, 100).NewEndpoint()
			e.Configure(storage.RetryPolicy{InitialSeconds: 5, Multiplier: 2, MaxSeconds: 60}, 0, 1)
			earlier, refused := enter(t, e), enter(t, e)
			refused.Leave(Report{Sent: true, Responded: true, RetryAfter: time.Minute, Deliveries: 1})
			<-time.After(time.Minute)
			probe := enter(t, e)
			earlier.Leave(Report{Sent: true, Responded: true, RetryAfter: time.Hour, Deliveries: 1})
			probe.Leave(result)
			if until, want := e.OpenUntil(time.Now()), time.Now().Add(time.Hour); !until.Equal(want) {
				t.Errorf("after the probe's %s the breaker is open until %s, want %s", name, until, want)
			}
		})
	}
}

// What waits for an endpoint that answers slowly waits on; what waits for one that is
// silent is to be parked.
func TestAwaitCapacity_ParksTheSilentAlone(t *testing.T) {
	for name, answers := range map[string]bool{"answers": true, "silent": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGate(100, 8)
				e := g.NewEndpoint()
				hangs := enter(t, e)
				for range e.slow.most {
					e.slow.enter()
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				var answering sync.WaitGroup
				answering.Go(func() {
					for answers && ctx.Err() == nil {
						e.requestEnded(true)
						e.requestSent()
						<-time.After(time.Second)
					}
				})
				began := time.Now()
				var freed atomic.Bool
				capacity := e.AwaitCapacity(ctx, func() { freed.Store(true) })
				if took := time.Since(began); capacity || !freed.Load() || answers && took != 10*time.Second || !answers && took != ParkAfter {
					t.Errorf("it waited %s, capacity %v, slot freed %v", took, capacity, freed.Load())
				}
				answering.Wait()
				hangs.Leave(Report{})
			})
		})
	}
}
