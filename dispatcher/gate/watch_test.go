package gate

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// watched is a slice with a watch, in a bubble of synctest.
type watched struct {
	*Watch
	freed atomic.Int64 // how often its slot was freed
}

// watch starts the watch of a slice.
func watch(g *Gate, parts ...*Progress) *watched {
	w := &watched{}
	w.Watch = g.Watch(func() { w.freed.Add(1) })
	w.Start(parts)
	return w
}

// slowAt returns the number of slow slices of an endpoint.
func slowAt(e *Endpoint) int {
	e.slow.mu.Lock()
	defer e.slow.mu.Unlock()
	return e.slow.slow
}

// after waits, and lets the watches look that are due then.
func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// A slice is slow after a while without a response: 100 ms if the endpoint responded well to
// its last request, 5 ms otherwise. The watch frees the slot once.
func TestWatch_Patience(t *testing.T) {
	for name, proven := range map[string]bool{"proven": true, "unproven": false} {
		synctest.Test(t, func(t *testing.T) {
			g := newGate(100, 8)
			e := g.NewEndpoint("org")
			patience := suspectAfter
			if proven {
				prove(t, e)
				patience = slowAfter
			}
			w := watch(g, e.Progress(2))
			after(patience - time.Millisecond)
			if w.freed.Load() != 0 || slowAt(e) != 0 {
				t.Errorf("%s: the slot is free before %s", name, patience)
			}
			after(slowAfter/4 + time.Millisecond)
			if w.freed.Load() != 1 || slowAt(e) != 1 {
				t.Errorf("%s: the slot was freed %d times, %d slices are slow; want one each", name, w.freed.Load(), slowAt(e))
			}
			after(time.Second)
			w.End()
			if w.freed.Load() != 1 || slowAt(e) != 0 || !free(g.slow, maxSlow) {
				t.Errorf("%s: after the end the slot was freed %d times, %d slices are slow", name, w.freed.Load(), slowAt(e))
			}
		})
	}
}

// A slice whose deliveries go on, or have all ended, keeps its slot.
func TestWatch_SteadyProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(100, 8)
		e := g.NewEndpoint("org")
		prove(t, e)
		const n = 10
		p := e.Progress(n)
		w := watch(g, p)
		for i := range n {
			after(slowAfter * 3 / 4)
			if p.Done(1); e.Pace() != slowAfter*3/4 {
				t.Fatalf("the pace is %s after %d deliveries", e.Pace(), i+1)
			}
		}
		after(time.Second)
		if w.freed.Load() != 0 || e.Pace() != slowAfter*3/4 {
			t.Errorf("the slot was freed %d times, the pace is %s", w.freed.Load(), e.Pace())
		}
		w.End()
		after(time.Second)
	})
}

// A slice with several endpoints counts at each that is slow. It stops to count where it has
// all responses, but counts at one endpoint until its end.
func TestWatch_SeveralEndpoints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(100, 8)
		first, second, third := g.NewEndpoint("org"), g.NewEndpoint("org"), g.NewEndpoint("org")
		ends, postponed, hangs := first.Progress(1), second.Progress(1), third.Progress(1)
		w := watch(g, ends, postponed, hangs)
		for _, c := range []struct {
			do   func()
			want [3]int
		}{
			{func() {}, [3]int{1, 1, 1}},
			{func() { ends.Done(1) }, [3]int{0, 1, 1}},
			{func() { postponed.Postponed(1) }, [3]int{0, 0, 1}},
			{func() { hangs.Done(1) }, [3]int{0, 0, 1}},
			{w.End, [3]int{}},
		} {
			c.do()
			after(slowAfter / 2)
			if got := [3]int{slowAt(first), slowAt(second), slowAt(third)}; got != c.want {
				t.Errorf("the slice is slow at the endpoints: %v, want %v", got, c.want)
			}
		}
		if w.freed.Load() != 1 {
			t.Errorf("the slot was freed %d times", w.freed.Load())
		}
	})
}

// The pace of an endpoint rises while its next delivery is late, and not before.
func TestWatch_Pace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(100, 8)
		e := g.NewEndpoint("org")
		p := e.Progress(3)
		w := watch(g, p)
		defer w.End()
		after(time.Second)
		if p.Done(1); e.Pace() != time.Second {
			t.Errorf("the pace is %s after a delivery in a second", e.Pace())
		}
		after(time.Second - slowAfter/4)
		if e.Pace() != time.Second {
			t.Errorf("the pace is %s before the next delivery is late", e.Pace())
		}
		after(time.Second)
		if pace := e.Pace(); pace < 1450*time.Millisecond || pace > 1500*time.Millisecond {
			t.Errorf("the pace is %s, 3 seconds after the start and with the second delivery missing", pace)
		}
	})
}

// A watch has no effect after its end, and none without a start.
func TestWatch_Ended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(100, 8)
		w := watch(g, g.NewEndpoint("org").Progress(1))
		w.End()
		g.Watch(func() { t.Error("the slot is freed without a start") }).End()
		after(time.Second)
		if w.freed.Load() != 0 || !free(g.slow, maxSlow) {
			t.Error("the slot is freed after the end")
		}
	})
}
