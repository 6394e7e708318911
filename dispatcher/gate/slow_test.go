package gate

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// await waits for capacity until a timeout.
func await(ctx context.Context, c *slowSlices, timeout time.Duration) bool {
	granted, ok := c.join(1)
	if !ok {
		return false
	}
	select {
	case <-granted:
		return true
	case <-ctx.Done():
	case <-time.After(timeout):
	}
	return !c.withdraw(granted)
}

// Waiting slices get capacity in order of arrival.
func TestSlowSlices_Await(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &slowSlices{most: 2}
		if c.enter(); c.full() || !await(t.Context(), c, time.Second) {
			t.Error("capacity before any slice ended")
		}
		c.enter()
		got := make(chan int, maxWaiting)
		for i := range maxWaiting {
			go func() {
				if await(t.Context(), c, time.Minute) {
					got <- i
				}
			}()
			synctest.Wait()
		}
		if !c.full() || await(t.Context(), c, time.Minute) {
			t.Error("more slices wait than maxWaiting")
		}
		for want := range 2 {
			c.leave()
			if i := <-got; i != want {
				t.Errorf("capacity went to slice %d, want %d", i, want)
			}
			c.enter()
		}
		<-time.After(2 * time.Minute)
		select {
		case i := <-got:
			t.Errorf("slice %d got capacity, want none", i)
		default:
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if await(ctx, c, time.Minute) || len(c.waiting) != 0 || c.units != 0 {
			t.Errorf("canceled slice still waits, with %d units", c.units)
		}
	})
}

// A waiting slice holds its slot only if capacity becomes free often.
func TestSlowSlices_Hold(t *testing.T) {
	for every, want := range map[time.Duration]time.Duration{
		slowAfter / 2: 4 * slowAfter, 2 * slowAfter: 4 * slowAfter, 3 * slowAfter: 0,
	} {
		synctest.Test(t, func(t *testing.T) {
			c := &slowSlices{most: 3}
			c.enter()
			c.enter()
			if c.leave(); c.hold() != 0 {
				t.Error("slot is held without a known interval")
			}
			<-time.After(every)
			if c.leave(); c.hold() != want {
				t.Errorf("with capacity every %s the slot is held for %s, want %s", every, c.hold(), want)
			}
		})
	}
}

// More slices may turn slow than the limit. When they end, only as many waiting slices get
// capacity as the limit allows, until the woken slices had time to turn slow. Then no slice
// keeps waiting beside free capacity.
func TestSlowSlices_WakeAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &slowSlices{most: 3}
		for range 4 {
			c.enter()
		}
		var woken atomic.Int64
		for range 4 {
			go func() {
				if await(t.Context(), c, time.Minute) {
					woken.Add(1)
				}
			}()
		}
		synctest.Wait()
		for range 4 {
			c.leave()
		}
		for _, want := range []int64{3, 4} {
			synctest.Wait()
			if n := woken.Load(); n != want {
				t.Errorf("%d slices got capacity, want %d", n, want)
			}
			<-time.After(turnsSlow)
		}
	})
}
