package gate

import (
	"context"
	"errors"
	"strconv"
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
		_, err := e.Enter(ctx, deliveries(1))
		synctest.Wait()
		if !errors.Is(err, context.DeadlineExceeded) || len(ahead) > 0 {
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
