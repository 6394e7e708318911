package gate

import (
	"context"
	"slices"
	"sync"
)

// Turns gives a worker's slots to organizations in turn. There are more slots than one
// organization may have, so that a slice of another organization does not wait until slices
// with many endpoints end.
type Turns struct {
	mu sync.Mutex
	// free is the number of free slots. most limits the slots of one organization, and held
	// counts them.
	free, most int
	held       map[string]int
	// organizations are those with waiting slices, the next one first. waiting holds the
	// turn of each of their slices, oldest first.
	organizations []string
	waiting       map[string][]chan struct{}
}

// NewTurns returns the turns of a number of slots, of which one organization may have most.
func NewTurns(slots, most int) *Turns {
	return &Turns{free: slots, most: most, held: map[string]int{}, waiting: map[string][]chan struct{}{}}
}

// Take waits for a slot of the worker. done gives the slot back; only the first call
// counts. Errors: the error of ctx.
func (t *Turns) Take(ctx context.Context, org string) (done func(), err error) {
	granted := t.enter(org)
	done = sync.OnceFunc(func() { t.release(org) })
	select {
	case <-granted:
		return done, nil
	case <-ctx.Done():
	}
	if !t.withdraw(org, granted) {
		done() // the slot was granted at that very moment
	}
	return nil, ctx.Err()
}

// enter returns a channel that is closed when the slice has a slot.
func (t *Turns) enter(org string) (granted chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	granted = make(chan struct{})
	if t.waiting[org] == nil {
		t.organizations = append(t.organizations, org)
	}
	t.waiting[org] = append(t.waiting[org], granted)
	t.grantLocked()
	return granted
}

func (t *Turns) release(org string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free++
	if t.held[org]--; t.held[org] == 0 {
		delete(t.held, org)
	}
	t.grantLocked()
}

// grantLocked gives free slots to the next organizations that have fewer than most. An
// organization with more waiting slices goes to the end.
func (t *Turns) grantLocked() {
	for t.free > 0 {
		at := slices.IndexFunc(t.organizations, func(org string) bool { return t.held[org] < t.most })
		if at < 0 {
			return
		}
		org := t.organizations[at]
		close(t.waiting[org][0])
		t.free--
		t.held[org]++
		if t.dropLocked(org, 0); t.waiting[org] != nil {
			t.organizations = append(slices.Delete(t.organizations, at, at+1), org)
		}
	}
}

// withdraw removes a waiting slice. It returns false if the slice has a slot already.
func (t *Turns) withdraw(org string, granted chan struct{}) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := slices.Index(t.waiting[org], granted)
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
