package gate

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Those that wait in a crowd get room in the order in which they came.
func TestSlowSlices_Await(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &slowSlices{most: 2}
		if c.enter(); c.full() || !c.await(t.Context(), time.Second) {
			t.Error("there was room")
		}
		c.enter()
		got := make(chan int, maxWaiting)
		for i := range maxWaiting {
			go func() {
				if c.await(t.Context(), time.Minute) {
					got <- i
				}
			}()
			synctest.Wait()
		}
		if !c.full() || c.await(t.Context(), time.Minute) {
			t.Error("one more waits than may")
		}
		for want := range 2 {
			c.leave()
			if i := <-got; i != want {
				t.Errorf("the room went to %d, and not to %d", i, want)
			}
			c.enter()
		}
		<-time.After(2 * time.Minute)
		select {
		case i := <-got:
			t.Errorf("%d got room that there was not", i)
		default:
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if c.await(ctx, time.Minute) || len(c.waiting) != 0 {
			t.Error("who does not wait any more is still waited for")
		}
	})
}

// A slice that waits holds its slot where there is room often, and nowhere else.
func TestSlowSlices_Hold(t *testing.T) {
	for every, want := range map[time.Duration]time.Duration{
		slowAfter / 2: 4 * slowAfter, 2 * slowAfter: 4 * slowAfter, 3 * slowAfter: 0,
	} {
		synctest.Test(t, func(t *testing.T) {
			c := &slowSlices{most: 3}
			c.enter()
			c.enter()
			if c.leave(); c.hold() != 0 {
				t.Error("of one nothing is known")
			}
			<-time.After(every)
			if c.leave(); c.hold() != want {
				t.Errorf("with room every %s a slot is held for %s, want %s", every, c.hold(), want)
			}
		})
	}
}

// More slices may turn slow than there are places for. Once they end, nobody is left
// waiting beside free places.
func TestSlowSlices_LeaveNobodyBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &slowSlices{most: 3}
		for range 4 {
			c.enter()
		}
		var woken atomic.Int64
		for range 4 {
			go func() {
				if c.await(t.Context(), time.Minute) {
					woken.Add(1)
				}
			}()
		}
		synctest.Wait()
		for range 4 {
			c.leave()
		}
		synctest.Wait()
		if n := woken.Load(); n != 4 {
			t.Errorf("%d of 4 got room", n)
		}
	})
}
