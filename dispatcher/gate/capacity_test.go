package gate

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gridhook/gridhook/storage"
)

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
