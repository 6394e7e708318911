// Package turns gives slots to organizations in turn.
package turns

import (
	"context"
	"slices"
	"sync"
)

// Turns gives a number of slots to organizations in turn: a worker's slots for slices, its
// requests in flight, the requests to unproven endpoints, the slow slices, the memory of
// slices that wait, or a process's slots for savings estimates or for long reads. Organizations
// always leave some slots free for others. A slice for many endpoints takes several slots,
// because it has more requests in flight.
type Turns struct {
	mu sync.Mutex
	// free is the number of free slots. It is below zero while a slice has more slots than
	// were free. held counts the slots of each organization.
	free int
	held map[string]int
	// most is the limit of an organization that is alone, and left the slots that it leaves
	// free. An organization beside others leaves the same share free: it has at most
	// most/left times the free slots (Choudhury and Hahne, Dynamic Queue Length Thresholds,
	// 1998). With a fixed limit, two organizations that hang would take all slots.
	most, left int
	// organizations are those with waiting slices, the next one first. waiting holds the
	// turn of each of their slices, oldest first.
	organizations []string
	waiting       map[string][]*turn
}

// turn is a slice or an estimate that waits for its slots.
type turn struct {
	slots   int
	granted chan struct{}
}

// New returns the turns of a number of slots. An organization that is alone may have most of
// them.
func New(slots, most int) *Turns {
	return &Turns{free: slots, most: most, left: slots - most, held: map[string]int{}, waiting: map[string][]*turn{}}
}

// Acquire waits until a slice has its slots, half of most at most. Release the
// returned number of slots. Errors: the error of ctx.
func (t *Turns) Acquire(ctx context.Context, org string, slots int) (int, error) {
	slots = min(slots, max(1, t.most/2))
	slice := t.enter(org, slots)
	if slice == nil {
		return slots, nil
	}
	select {
	case <-slice.granted:
		return slots, nil
	case <-ctx.Done():
	}
	if !t.withdraw(org, slice) {
		t.Release(org, slots) // they were granted at that very moment
	}
	return 0, ctx.Err()
}

// TryAcquire takes slots without waiting, and reports whether there were as many for the
// organization.
func (t *Turns) TryAcquire(org string, slots int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tryLocked(org, slots)
}

func (t *Turns) tryLocked(org string, slots int) bool {
	if t.free < slots || !t.mayLocked(org, slots) {
		return false
	}
	t.free -= slots
	t.held[org] += slots
	return true
}

// mayLocked reports whether an organization may have more slots. One without any may have
// the last one.
func (t *Turns) mayLocked(org string, slots int) bool {
	held := t.held[org]
	return t.free > 0 && (held == 0 || (held+slots)*t.left <= t.most*(t.free-slots))
}

// Release gives slots back.
func (t *Turns) Release(org string, slots int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free += slots
	if t.held[org] -= slots; t.held[org] == 0 {
		delete(t.held, org)
	}
	t.grantLocked()
}

// Full reports whether an organization may have no more slots.
func (t *Turns) Full(org string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.mayLocked(org, 1)
}

// enter returns the turn of a slice that has to wait, and nil if the slice has its slots.
func (t *Turns) enter(org string, slots int) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting[org] == nil {
		if t.tryLocked(org, slots) {
			return nil
		}
		t.organizations = append(t.organizations, org)
	}
	slice := &turn{slots: slots, granted: make(chan struct{})}
	t.waiting[org] = append(t.waiting[org], slice)
	t.grantLocked()
	return slice
}

// grantLocked gives free slots to the next organizations that may have more. An
// organization with more waiting slices goes to the end.
func (t *Turns) grantLocked() {
	for {
		at := slices.IndexFunc(t.organizations, func(org string) bool { return t.mayLocked(org, t.waiting[org][0].slots) })
		if at < 0 {
			return
		}
		org := t.organizations[at]
		slice := t.waiting[org][0]
		close(slice.granted)
		t.free -= slice.slots
		t.held[org] += slice.slots
		if t.dropLocked(org, 0); t.waiting[org] != nil {
			t.organizations = append(slices.Delete(t.organizations, at, at+1), org)
		}
	}
}

// withdraw removes a waiting slice. It returns false if the slice has its slots already.
func (t *Turns) withdraw(org string, slice *turn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := slices.Index(t.waiting[org], slice)
	if at >= 0 {
		t.dropLocked(org, at)
	}
	return at >= 0
}

// dropLocked removes a waiting slice, and its organization if no other slice waits.
func (t *Turns) dropLocked(org string, at int) {
	t.waiting[org] = slices.Delete(t.waiting[org], at, at+1)
	if len(t.waiting[org]) == 0 {
		delete(t.waiting, org)
		t.organizations = slices.DeleteFunc(t.organizations, func(o string) bool { return o == org })
	}
}
