package gate

import (
	"context"
	"slices"
	"sync"
	"time"
)

// A slice holds one of the worker's slots. If an endpoint does not respond, the slice is
// slow: it frees its slot and continues beside the other slices. So hanging requests
// never take the slots that good endpoints need. The number of slow slices per endpoint
// and per worker is limited. Slices beyond an endpoint's limit wait in memory while the
// endpoint responds. They are parked on disk while it does not.
const (
	// slowAfter is how long a slice may hold its slot without a response from an
	// endpoint.
	slowAfter = 100 * time.Millisecond
	// suspectAfter is the same for an endpoint without a good response to its last
	// request, or without any request.
	suspectAfter = 5 * time.Millisecond
	// turnsSlow is the time after which a slice of a slow endpoint is slow.
	turnsSlow = slowAfter + slowAfter/4
	// maxSlow limits the slow slices of a worker, and so its memory. An organization has at
	// most half of them.
	maxSlow = 512
	// waitUnit is the unit of the memory of waiting slices and retries, in bytes. A waiting
	// slice has not been read yet, so it takes one unit. A retry has its homes and curves.
	waitUnit = 2 << 10
	// maxWaiting limits the units that wait for one endpoint: the walks of a hundred
	// triggers. maxWaitingAll limits the units of the worker. An organization has at most
	// half of them.
	maxWaiting    = 512
	maxWaitingAll = 4096
	// ParkAfter is how long an endpoint may be silent before its waiting slices are
	// parked. It is also how long they are parked.
	ParkAfter = 2 * time.Second
)

// slowSlices counts the slow slices of one endpoint.
type slowSlices struct {
	most int

	mu      sync.Mutex
	slow    int
	waiting []waiter
	units   int // of all waiting
	// coming is the number of slices that were granted capacity within the time in which a
	// slice turns slow.
	coming int
	// left is the time when the last slow slice ended. every is the time between the last
	// two ends.
	left  time.Time
	every time.Duration
}

// waiter is a slice or retry that waits. granted is closed when there may be capacity.
type waiter struct {
	units   int
	granted chan struct{}
}

func (c *slowSlices) full() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.slow >= c.most
}

// free reports whether there is capacity that was not granted to a slice.
func (c *slowSlices) free() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.slow+c.coming < c.most
}

func (c *slowSlices) enter() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slow++
}

// leave wakes as many waiting slices as there is capacity for. More slices may have
// entered than the limit allows, so there may be none.
func (c *slowSlices) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if !c.left.IsZero() {
		c.every = now.Sub(c.left)
	}
	c.left = now
	c.slow--
	c.wakeLocked()
}

func (c *slowSlices) wakeLocked() {
	for range min(c.most-c.slow-c.coming, len(c.waiting)) {
		close(c.waiting[0].granted)
		c.removeLocked(0)
		c.grantLocked()
	}
}

func (c *slowSlices) removeLocked(at int) {
	c.units -= c.waiting[at].units
	c.waiting = slices.Delete(c.waiting, at, at+1)
}

// grantLocked counts a slice among those that are coming. Otherwise slices that end together
// would each make way for all of them.
func (c *slowSlices) grantLocked() {
	c.coming++
	time.AfterFunc(turnsSlow, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.coming--
		c.wakeLocked()
	})
}

// hold returns how long a waiting slice keeps its slot. If slow slices end often, hold is
// a little longer than the usual wait, so a busy worker leaves the next slice to another
// worker. Otherwise hold is 0.
func (c *slowSlices) hold() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.every > 0 && c.every <= 2*slowAfter {
		return 4 * slowAfter
	}
	return 0
}

// join waits for capacity in order of arrival. granted is closed when there may be capacity.
// ok is false if as many units as allowed wait. A large retry may wait alone.
func (c *slowSlices) join(units int) (granted chan struct{}, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) > 0 && c.units+units > maxWaiting && c.slow+c.coming >= c.most {
		return nil, false
	}
	granted = make(chan struct{})
	c.waiting, c.units = append(c.waiting, waiter{units, granted}), c.units+units
	c.wakeLocked()
	return granted, true
}

// withdraw ends a wait. It returns false if capacity was granted before.
func (c *slowSlices) withdraw(granted chan struct{}) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.waiting, func(w waiter) bool { return w.granted == granted })
	if at >= 0 {
		c.removeLocked(at)
	}
	return at >= 0
}

// Full reports whether the endpoint or its organization has reached its limit of slow slices.
func (e *Endpoint) Full() bool { return e.slow.full() || e.gate.slow.Full(e.org) }

// Wait is the wait of a slice or a retry for capacity at one of an organization's endpoints.
type Wait struct {
	Endpoints []*Endpoint
	// Ready reports whether the slice may begin. A wait for a single endpoint needs none.
	Ready func() bool
	// Free frees the slot of the slice or retry.
	Free func()
	// Patience is how long the endpoint may be silent.
	Patience time.Duration
	// Size is the size of its message, in bytes.
	Size int
}

// AwaitCapacity waits until an endpoint has capacity for another slice; see awaited. It
// returns false if that has been silent for too long, all are down, too many slices wait,
// the gate is closed, or the organization has reached its limit of slow slices. The caller
// must then park the slice. The slice holds its slot for a while and then frees it. A
// waiting slice has not begun, so a crash does not repeat any part of it.
func (g *Gate) AwaitCapacity(ctx context.Context, w Wait) bool {
	e, units := g.awaited(&w), 1+w.Size/waitUnit
	if e == nil {
		return false
	}
	org := e.org
	if !g.waiting.TryAcquire(org, units) {
		return false
	}
	defer g.waiting.Release(org, units)
	if hold := e.slow.hold(); hold > 0 {
		defer time.AfterFunc(hold, w.Free).Stop()
	} else {
		w.Free()
	}
	var at *Endpoint // that the slice waits for
	var granted chan struct{}
	for ; e != nil && ctx.Err() == nil && !g.Closed() && !g.slow.Full(e.org); e = g.awaited(&w) {
		left := w.Patience - e.silence()
		if left <= 0 {
			break
		}
		if len(w.Endpoints) > 1 {
			left = min(left, slowAfter) // another may be faster by then
		}
		if e != at {
			if at != nil && !at.slow.withdraw(granted) {
				return true
			}
			var ok bool
			if granted, ok = e.slow.join(units); !ok {
				return false
			}
			at = e
		}
		select {
		case <-granted:
			return true
		case <-g.closing:
		case <-ctx.Done():
		case <-time.After(left):
		}
	}
	return at != nil && !at.slow.withdraw(granted)
}

// awaited returns the endpoint to wait for, nil if all are down. It is the fastest. If that has
// capacity, but the slice needs another one too, it is the fastest without capacity.
func (g *Gate) awaited(w *Wait) *Endpoint {
	var first, full *Endpoint
	now := g.opt.Now()
	for _, e := range w.Endpoints {
		if !e.OpenUntil(now).IsZero() {
			continue
		}
		if first == nil || e.Pace() < first.Pace() {
			first = e
		}
		if !e.slow.free() && (full == nil || e.Pace() < full.Pace()) {
			full = e
		}
	}
	if len(w.Endpoints) > 1 && first != nil && first.slow.free() && !w.Ready() {
		return full
	}
	return first
}

// Pace returns the time per delivery of the last slice at the endpoint. It includes waits for
// the rate limit.
func (e *Endpoint) Pace() time.Duration { return time.Duration(e.pace.Load()) }
