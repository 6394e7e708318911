package gate

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gridhook/gridhook/events/turns"
	"github.com/gridhook/gridhook/storage"
)

func newGate(concurrency, each int) *Gate {
	return New(Options{Concurrency: concurrency, EndpointConcurrency: each, SlowSlices: 3, Now: time.Now, Jitter: func() float64 { return 0.5 }})
}

// deliveries is the argument of Enter for a request that keeps its deliveries.
func deliveries(n int) func() int { return func() int { return n } }

// prove records a good response of an endpoint.
func prove(t *testing.T, e *Endpoint) {
	t.Helper()
	p := enter(t, e)
	p.Leave(Report{Sent: true, Responded: true, Delivered: true, Deliveries: 1})
}

func enter(t *testing.T, e *Endpoint) Pass {
	t.Helper()
	p, err := e.Enter(t.Context(), deliveries(1))
	if err != nil || !p.Until.IsZero() {
		t.Fatalf("Enter returns %+v, %v", p, err)
	}
	return p
}

// entering returns the number of requests of an endpoint that may enter, up to most.
func entering(ctx context.Context, e *Endpoint, most int) (in chan Pass) {
	in = make(chan Pass, most)
	for range most {
		go func() {
			if p, err := e.Enter(ctx, deliveries(1)); err == nil {
				in <- p
			}
		}()
	}
	synctest.Wait()
	return in
}

// With any number of endpoints, the requests in flight stay within the worker's
// concurrency limit. Half of it stays free for endpoints that respond. An organization has
// at most a quarter for endpoints that do not, and each leaves requests to others.
func TestEnter_WorkerConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(32, 8)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var good []*Endpoint
		for range 10 {
			e := g.NewEndpoint("org")
			prove(t, e)
			good = append(good, e)
		}
		for i, want := range []int{8, 4, 2} {
			hanging := make(chan Pass, 300)
			for range 300 {
				e := g.NewEndpoint(strconv.Itoa(i))
				go func() {
					if p, err := e.Enter(ctx, deliveries(1)); err == nil {
						hanging <- p
					}
				}()
			}
			synctest.Wait()
			if n := len(hanging); n != want {
				t.Errorf("%d requests to unproven endpoints of organization %d are in flight, want %d", n, i, want)
			}
		}
		in := 0
		for _, e := range good {
			in += len(entering(ctx, e, 8))
		}
		if in != 13 {
			t.Errorf("%d requests to proven endpoints are in flight, want three quarters of the other 18", in)
		}
	})
}

// The proven endpoints of an organization may all stop responding. They leave a quarter of the
// free slots to the next organization. A single endpoint may have its own limit.
func TestEnter_OrganizationConcurrency(t *testing.T) {
	for _, c := range []struct {
		each, endpoints int
		want            []int // of each organization
	}{{8, 10, []int{24, 6, 1, 1}}, {32, 1, []int{32}}} {
		synctest.Test(t, func(t *testing.T) {
			g := newGate(32, c.each)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			proven := make([][]*Endpoint, len(c.want))
			for org := range proven {
				for range c.endpoints {
					e := g.NewEndpoint(strconv.Itoa(org))
					prove(t, e)
					proven[org] = append(proven[org], e)
				}
			}
			for org, want := range c.want {
				n := 0
				for _, e := range proven[org] {
					n += len(entering(ctx, e, c.each))
				}
				if n != want {
					t.Errorf("%d requests of organization %d are in flight, want %d", n, org, want)
				}
				if !g.total.Full(strconv.Itoa(org)) {
					t.Errorf("organization %d is below its limit", org)
				}
			}
		})
	}
}

// An endpoint has its concurrency limit after a good response. Before that, after a failure
// and while it is silent, it has an eighth. Waiting requests enter in order of arrival.
func TestEnter_EndpointConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1000, 16)
		e := g.NewEndpoint("org")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		in := entering(ctx, e, 40)
		if n := len(in); n != 2 {
			t.Fatalf("%d requests in flight before a response, want 2", n)
		}
		good, bad := Report{Sent: true, Responded: true, Delivered: true, Deliveries: 1}, Report{Sent: true, Responded: true, Deliveries: 1}
		for _, c := range []struct {
			after string
			wait  time.Duration
			r     Report
			want  int
		}{
			{"a response", 0, good, 16}, {"a failure", 0, bad, 15}, {"a good response", 0, good, 16},
			{"a silence", 2 * slowAfter, Report{}, 15}, {"a response after the silence", 0, good, 16},
		} {
			<-time.After(c.wait)
			p := <-in
			p.Leave(c.r)
			synctest.Wait()
			if n := len(in); n != c.want {
				t.Errorf("%d requests in flight after %s, want %d", n, c.after, c.want)
			}
		}
	})
}

// An endpoint that stops responding is silent from its first request on, although the worker
// sends more.
func TestEnter_SilenceOfBusyEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newGate(1000, 16).NewEndpoint("org")
		prove(t, e)
		<-time.After(time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for _, want := range []int{2, 2, 0} { // an eighth of the limit is 2
			if n := len(entering(ctx, e, 2)); n != want {
				t.Errorf("%d requests enter, want %d", n, want)
			}
			<-time.After(slowAfter * 3 / 4)
		}
	})
}

// A request that is canceled while it waits for a limit that endpoints share does not enter. It
// releases everything that it acquired, and nothing else.
func TestEnter_Canceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(8, 8)
		proven, unproven := g.NewEndpoint("org"), g.NewEndpoint("org")
		prove(t, proven)
		for i, c := range []struct {
			full  *turns.Turns
			slots int
			e     *Endpoint
		}{{g.total, 8, proven}, {g.total, 8, unproven}, {g.unproven, 4, unproven}} {
			c.full.TryAcquire("another", c.slots)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := c.e.Enter(ctx, deliveries(1))
			cancel()
			c.full.Release("another", c.slots)
			if !errors.Is(err, context.DeadlineExceeded) || c.e.inFlight+c.e.pending+c.e.sent != 0 || !free(g.total, 8) || !free(g.unproven, 4) {
				t.Errorf("case %d: Enter returns %v, or the slots differ: %+v", i, err, c.e)
			}
		}
	})
}

// free reports whether exactly that number of slots is free.
func free(slots *turns.Turns, n int) bool {
	if slots.TryAcquire("another", n+1) || !slots.TryAcquire("another", n) {
		return false
	}
	slots.Release("another", n)
	return true
}

// Only the first call of Leave counts. It releases what the request acquired, and nothing else.
func TestLeave_Twice(t *testing.T) {
	for name, proven := range map[string]bool{"proven": true, "unproven": false} {
		e := newGate(8, 8).NewEndpoint("org")
		if proven {
			prove(t, e)
		}
		p := enter(t, e)
		p.Leave(Report{})
		p.Leave(Report{Sent: true})
		if e.inFlight+e.pending+e.sent != 0 || e.breaker.weight != 0 || !free(e.gate.total, 8) || !free(e.gate.unproven, 4) {
			t.Errorf("%s: the second call counts, or slots differ: %+v", name, e)
		}
	}
}

// A request may be canceled at the moment in which it is granted. It releases its slot.
func TestAcquire_CanceledAndGranted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newGate(8, 1).NewEndpoint("org")
		for range 100 { // select takes either of the two
			ctx, cancel := context.WithCancel(t.Context())
			first, second := e.acquire(ctx), make(chan error, 1)
			go func() { second <- e.acquire(ctx) }()
			synctest.Wait()
			e.mu.Lock()
			cancel()
			e.releaseLocked() // of the first
			if e.mu.Unlock(); <-second == nil {
				e.mu.Lock()
				e.releaseLocked()
				e.mu.Unlock()
			}
			if first != nil || e.inFlight+e.pending != 0 {
				t.Fatalf("%v, slots are not released: %+v", first, e)
			}
		}
	})
}

// A canceled request leaves its place in the queue of its endpoint, and lets no other request
// in.
func TestEnter_CanceledInQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newGate(8, 1).NewEndpoint("org")
		first := enter(t, e)
		ahead := entering(t.Context(), e, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := e.Enter(ctx, deliveries(1)); !errors.Is(err, context.DeadlineExceeded) || len(ahead) > 0 {
			t.Fatalf("Enter returns %v, or a canceled request lets another one in", err)
		}
		first.Leave(Report{})
		second := <-ahead
		second.Leave(Report{})
		if e.inFlight+e.pending+e.sent+len(e.queue) != 0 {
			t.Errorf("slots are not released: %+v", e)
		}
	})
}

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

// down returns an endpoint with an open breaker.
func down(t *testing.T, g *Gate) *Endpoint {
	e := g.NewEndpoint("org")
	e.Configure(storage.DefaultRetryPolicy(), 0, 1)
	for range 11 {
		p := enter(t, e)
		p.Leave(Report{Sent: true})
	}
	return e
}

// A request to an endpoint that is down holds no slot. A probe that was canceled, or not made,
// leaves its place to the next request.
func TestEnter_Down(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1, 1)
		e := down(t, g)
		p, err := e.Enter(t.Context(), deliveries(1))
		if err != nil || p.Until.IsZero() || !g.total.TryAcquire("another", 1) {
			t.Fatalf("Enter returns %+v, %v, or holds a slot", p, err)
		}
		<-time.After(time.Until(p.Until))
		if until := e.OpenUntil(time.Now()); !until.IsZero() {
			t.Errorf("the probe is due, and the breaker is open until %s", until)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			_, err := e.Enter(ctx, deliveries(1)) // waits for a slot of the worker
			ended <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Enter returns %v", err)
		}
		g.total.Release("another", 1)
		for range 2 {
			p := enter(t, e)
			if !p.probe {
				t.Errorf("the request is no probe: %+v", p)
			}
			p.Leave(Report{})
		}
	})
}

// A missing response counts fifty times as much as the refusal of a home, and the refusal of a
// batch at most as much.
func TestLeave_Weights(t *testing.T) {
	for name, c := range map[string]struct {
		r    Report
		want int // reports until the breaker opens
	}{
		"no response":         {Report{Sent: true, Deliveries: 1}, 11},
		"refused":             {Report{Sent: true, Responded: true, Deliveries: 1}, 512},
		"refused batch of 16": {Report{Sent: true, Responded: true, Deliveries: 16}, 32},
		"refused batch of 64": {Report{Sent: true, Responded: true, Deliveries: 64}, 11},
	} {
		e := newGate(1, 1).NewEndpoint("org")
		n := 1
		for p := enter(t, e); p.Leave(c.r) != Opened; p = enter(t, e) {
			n++
		}
		if n != c.want {
			t.Errorf("%s: the breaker opens after %d requests, want %d", name, n, c.want)
		}
	}
}

// A batch that was made before the batch size was reduced waits for the rate limit, too.
func TestEnter_SmallerBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newGate(8, 8).NewEndpoint("org")
		e.Configure(storage.DefaultRetryPolicy(), 8, 1)
		began := time.Now()
		for range 2 {
			p, err := e.Enter(t.Context(), deliveries(16))
			if err != nil {
				t.Fatal(err)
			}
			p.Leave(Report{})
		}
		if took := time.Since(began); took == 0 {
			t.Error("the second batch did not wait")
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

// Enter returns the time of the next probe for an endpoint that is down, without a wait for the
// rate limit. A good probe closes the breaker.
func TestEnter_EndpointDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newGate(10, 10).NewEndpoint("org")
		e.Configure(storage.RetryPolicy{InitialSeconds: 8, Multiplier: 2, MaxSeconds: 60}, 1, 1)
		for {
			p := enter(t, e)
			if p.Leave(Report{Sent: true, Deliveries: 1}) == Opened {
				break
			}
		}
		p, err := e.Enter(t.Context(), deliveries(1))
		if want := time.Now().Add(6 * time.Second); err != nil || !p.Until.Equal(want) {
			t.Fatalf("Enter returns %s, %v, want %s", p.Until, err, want)
		}
		if p.Leave(Report{Sent: true}) != Unchanged {
			t.Error("Leave has an effect after a refusal")
		}
		<-time.After(6 * time.Second)
		probe := enter(t, e)
		if change := probe.Leave(Report{Sent: true, Responded: true, Delivered: true, Deliveries: 1}); change != Closed {
			t.Errorf("good probe changes %v", change)
		}
	})
}

// A Retry-After opens the breaker. A good response to an earlier request does not
// shorten the wait, nor does a failure.
func TestLeave_RetryAfter(t *testing.T) {
	for name, late := range map[string]Report{
		"a late success": {Sent: true, Responded: true, Delivered: true, Deliveries: 1},
		"a late failure": {Sent: true, Deliveries: 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := newGate(100, 100).NewEndpoint("org")
			earlier, refused, again := enter(t, e), enter(t, e), enter(t, e)
			if change := refused.Leave(Report{Sent: true, Responded: true, RetryAfter: time.Hour, Deliveries: 1}); change != Opened {
				t.Errorf("%s: Retry-After changes %v, want Opened", name, change)
			}
			if change := again.Leave(Report{Sent: true, Responded: true, RetryAfter: time.Minute, Deliveries: 1}); change != Unchanged {
				t.Errorf("%s: a second Retry-After changes %v", name, change)
			}
			if change := earlier.Leave(late); change != Unchanged {
				t.Errorf("%s changes %v", name, change)
			}
			if until, want := e.OpenUntil(time.Now()), time.Now().Add(time.Hour); !until.Equal(want) {
				t.Errorf("%s: breaker is open until %s, want %s", name, until, want)
			}
			<-time.After(time.Hour)
			probe := enter(t, e)
			if change := probe.Leave(Report{Sent: true, Responded: true, Delivered: true, Deliveries: 1}); change != Closed {
				t.Errorf("%s: later probe changes %v, want Closed", name, change)
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
			e := newGate(100, 100).NewEndpoint("org")
			e.Configure(storage.RetryPolicy{InitialSeconds: 5, Multiplier: 2, MaxSeconds: 60}, 0, 1)
			earlier, refused := enter(t, e), enter(t, e)
			refused.Leave(Report{Sent: true, Responded: true, RetryAfter: time.Minute, Deliveries: 1})
			<-time.After(time.Minute)
			probe := enter(t, e)
			earlier.Leave(Report{Sent: true, Responded: true, RetryAfter: time.Hour, Deliveries: 1})
			probe.Leave(result)
			if until, want := e.OpenUntil(time.Now()), time.Now().Add(time.Hour); !until.Equal(want) {
				t.Errorf("after the probe's %s: breaker is open until %s, want %s", name, until, want)
			}
		})
	}
}

func waitFor(e *Endpoint, free func()) Wait {
	return Wait{Endpoints: []*Endpoint{e}, Free: free, Patience: ParkAfter}
}

// A slice keeps waiting for an endpoint that responds slowly. A slice for a silent
// endpoint is parked.
func TestAwaitCapacity_SilentEndpoint(t *testing.T) {
	for name, responds := range map[string]bool{"responds": true, "silent": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGate(100, 8)
				e := g.NewEndpoint("org")
				hangs := enter(t, e)
				for range e.slow.most {
					e.slow.enter()
				}
				later := time.AfterFunc(ParkAfter/2, func() { entering(t.Context(), e, 1) }) // it is no response
				defer later.Stop()
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				var answering sync.WaitGroup
				answering.Go(func() {
					for responds && ctx.Err() == nil {
						e.mu.Lock()
						e.respondedAt = time.Now()
						e.mu.Unlock()
						<-time.After(time.Second)
					}
				})
				if responds {
					e.slow.every = slowAfter // so the slice holds its slot at first
				}
				began, freed := time.Now(), make(chan time.Time, 1)
				capacity := e.gate.AwaitCapacity(ctx, waitFor(e, func() { freed <- time.Now() }))
				took, held := time.Since(began), (<-freed).Sub(began)
				if capacity || responds && (took != 10*time.Second || held != 4*slowAfter) || !responds && (took != ParkAfter || held != 0) {
					t.Errorf("wait took %s, capacity %v, slot held for %s", took, capacity, held)
				}
				answering.Wait()
				hangs.Leave(Report{})
			})
		})
	}
}

// No slice waits for an endpoint that is down.
func TestAwaitCapacity_Down(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(100, 8)
		e, other := g.NewEndpoint("org"), g.NewEndpoint("org")
		for _, down := range []*Endpoint{e, other} {
			down.Configure(storage.DefaultRetryPolicy(), 0, 1)
			for down.OpenUntil(time.Now()).IsZero() {
				p := enter(t, down)
				p.Leave(Report{Sent: true})
			}
		}
		began := time.Now()
		for _, endpoints := range [][]*Endpoint{{e}, {e, other}} {
			if g.AwaitCapacity(t.Context(), Wait{Endpoints: endpoints, Ready: func() bool { return false }, Free: func() {}, Patience: ParkAfter}) || time.Since(began) > 0 {
				t.Errorf("a slice waits for %d endpoints that are down", len(endpoints))
			}
		}
	})
}

// A slice waits for the fastest of its endpoints. If that has capacity, but the slice needs
// another one too, it waits for the fastest without capacity.
func TestAwaitCapacity_FastestEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(100, 8)
		const isDown, isFast, isSlow, isSlower, none = 0, 1, 2, 3, -1
		for i, c := range []struct {
			endpoints, full []int
			ready           bool
			want            int
		}{
			{[]int{isFast}, nil, false, isFast},
			{[]int{isSlow, isFast, isSlower}, []int{isSlow, isFast, isSlower}, false, isFast},
			{[]int{isSlow, isFast, isSlower}, []int{isSlow, isSlower}, true, isFast},
			{[]int{isSlow, isFast, isSlower}, []int{isSlow, isSlower}, false, isSlow},
			{[]int{isSlower, isFast, isSlow}, []int{isSlow, isSlower}, false, isSlow},
			{[]int{isSlow, isFast, isSlower}, []int{isSlower}, false, isSlower},
			{[]int{isDown, isSlow}, []int{isDown, isSlow}, false, isSlow},
			{[]int{isDown, isSlower}, []int{isDown}, false, none},
			{[]int{isDown}, nil, false, none},
		} {
			all := []*Endpoint{down(t, g), g.NewEndpoint("org"), g.NewEndpoint("org"), g.NewEndpoint("org")}
			for i, e := range all {
				e.pace.Store(int64(i))
			}
			for _, at := range c.full {
				for range all[at].slow.most {
					all[at].slow.enter()
				}
			}
			w := Wait{Ready: func() bool { return c.ready }}
			for _, at := range c.endpoints {
				w.Endpoints = append(w.Endpoints, all[at])
			}
			got := g.awaited(&w)
			if at := slices.Index(all, got); got != nil && at != c.want || got == nil && c.want != none {
				t.Errorf("case %d: the slice waits for endpoint %d, want %d", i, at, c.want)
			}
		}
	})
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

// A slice keeps its place however long it waits.
func TestAwaitCapacity_InOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(100, 8)
		e := g.NewEndpoint("org")
		hangs := enter(t, e)
		defer hangs.Leave(Report{})
		for range e.slow.most {
			e.slow.enter()
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			for ctx.Err() == nil { // the endpoint responds every second
				e.mu.Lock()
				e.respondedAt = time.Now()
				e.mu.Unlock()
				<-time.After(time.Second)
			}
		})
		got := make(chan int, 2)
		for i, at := range []time.Duration{100 * time.Millisecond, 1500 * time.Millisecond} {
			running.Go(func() {
				<-time.After(at)
				if g.AwaitCapacity(ctx, waitFor(e, func() {})) {
					got <- i
				}
			})
		}
		<-time.After(2500 * time.Millisecond)
		e.slow.leave()
		if i := <-got; i != 0 {
			t.Error("capacity went to the slice that arrived last")
		}
		cancel()
		running.Wait()
	})
}

// What waits for the endpoints of one organization leaves memory for other organizations, and
// for a retry beside the slices that wait for the same endpoint.
func TestAwaitCapacity_Memory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(100, 8)
		full := func(org string) *Endpoint {
			e := g.NewEndpoint(org)
			for range e.slow.most {
				e.slow.enter()
			}
			return e
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		waits := func(e *Endpoint, size int) bool {
			began, w := time.Now(), waitFor(e, func() {})
			w.Size, w.Patience = size, time.Minute
			g.AwaitCapacity(ctx, w)
			return time.Since(began) > 0
		}
		waiting := func(e *Endpoint) int {
			synctest.Wait()
			e.slow.mu.Lock()
			defer e.slow.mu.Unlock()
			return len(e.slow.waiting)
		}
		const retry = 8*waitUnit - 1
		for range 8 {
			e := full("greedy")
			for range maxWaiting / 8 {
				go waits(e, retry)
			}
			waiting(e)
		}
		if waits(full("greedy"), 0) {
			t.Error("an organization has the memory of all slices that wait")
		}
		other := full("other")
		for range 64 {
			go waits(other, 0)
		}
		if n := waiting(other); n != 64 {
			t.Fatalf("%d slices of another organization wait", n)
		}
		go waits(other, 100*retry)
		if waiting(other) != 64 {
			t.Error("a retry waits that is larger than the endpoint's memory")
		}
		third := full("third")
		go waits(third, 2*maxWaiting*waitUnit)
		if waiting(third) != 1 {
			t.Error("a retry larger than the endpoint's memory does not wait alone")
		}
		if !waits(other, retry) {
			t.Error("a retry does not wait beside 64 slices")
		}
	})
}

// The responses to requests that went to an endpoint's former URL do not count.
func TestLeave_AfterAMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newGate(100, 100).NewEndpoint("org")
		prove(t, e)
		var former []Pass
		for range breakAfter/weightNoResponse + 1 {
			former = append(former, enter(t, e))
		}
		e.Moved()
		prove(t, e)
		for _, p := range former {
			if change := p.Leave(Report{Sent: true, Deliveries: 1}); change != Unchanged {
				t.Fatalf("a request to the former URL changes %v", change)
			}
		}
		if !e.breaker.trusted() {
			t.Error("requests to the former URL count against the new one")
		}
		broken := down(t, newGate(1, 1))
		_, _, before := broken.Standing()
		broken.Moved()
		if _, _, after := broken.Standing(); !before || after {
			t.Errorf("the breaker is open: %t, after a move: %t", before, after)
		}
	})
}

// An organization has at most half of the slow slices. More slices of the organization are
// parked, and other organizations go on.
func TestFull_GreedyOrganization(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(100, 8)
		slow := func(org string) (freed bool) {
			w := g.Watch(func() { freed = true })
			w.Start([]*Progress{g.NewEndpoint(org).Progress(1)})
			t.Cleanup(w.End)
			<-time.After(2 * suspectAfter)
			synctest.Wait()
			return freed
		}
		for i := range maxSlow / 2 {
			if !slow("greedy") {
				t.Fatalf("slice %d keeps its slot", i)
			}
		}
		if greedy := g.NewEndpoint("greedy"); slow("greedy") || !greedy.Full() || g.AwaitCapacity(t.Context(), waitFor(greedy, func() {})) {
			t.Error("an organization has more than half of the slow slices")
		}
		if other := g.NewEndpoint("other"); other.Full() || !slow("other") {
			t.Error("another organization has no slow slice")
		}
	})
}
