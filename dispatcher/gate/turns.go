package gate

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// maxAhead limits the slices that wait for a turn, and so their memory. A waiting slice
// has not been read yet. An organization with 2,000 uncompleted triggers, 20 times the
// default limit, has up to 8,000 slices in the queue.
const maxAhead = 8192

// Turns gives a worker's slots to organizations in turn. The slots of the queue are not
// enough: the queue hands out slices in order of arrival, so an organization with many
// running triggers would take them all.
type Turns struct {
	mu   sync.Mutex
	free int
	// organizations are those with waiting slices, the next one first. waiting holds the
	// turn of each of their slices, oldest first.
	organizations []string
	waiting       map[string][]chan struct{}
	ahead         int // number of waiting slices
	closed        chan struct{}
}

// ErrClosed is the error of a slice that waited for a turn when the worker stopped.
var ErrClosed = errors.New("the worker stops")

// askEvery is how often a waiting slice asks whether other organizations have slices.
const askEvery = 100 * time.Millisecond

// NewTurns returns the turns of a number of slots.
func NewTurns(slots int) *Turns {
	return &Turns{free: slots, waiting: map[string][]chan struct{}{}, closed: make(chan struct{})}
}

// Close ends the waits for a turn. Slices that have a slot keep it. Call it once.
func (t *Turns) Close() { close(t.closed) }

// Take waits for a slot of the worker. done gives the slot back; only the first call
// counts. If other organizations may have slices in the queue, Take frees the slice's slot
// of the queue, so that the queue hands out their slices too. Errors: the error of ctx,
// ErrClosed.
func (t *Turns) Take(ctx context.Context, org string, contended func() bool, freeQueue func()) (done func(), err error) {
	granted := t.enter(org)
	done = sync.OnceFunc(t.release)
	if err := t.await(ctx, granted, contended, freeQueue); err != nil {
		if !t.withdraw(org, granted) {
			done() // the slot was granted at that very moment
		}
		return nil, err
	}
	return done, nil
}

// await waits until the slot is granted.
func (t *Turns) await(ctx context.Context, granted <-chan struct{}, contended func() bool, freeQueue func()) error {
	ask := time.NewTicker(askEvery)
	defer ask.Stop()
	lookAhead := func() {
		if contended() && t.mayLookAhead() {
			freeQueue()
			ask.Stop()
		}
	}
	lookAhead()
	for {
		select {
		case <-granted:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-t.closed:
			return ErrClosed
		case <-ask.C:
			lookAhead()
		}
	}
}

// mayLookAhead reports whether more slices may wait.
func (t *Turns) mayLookAhead() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ahead < maxAhead
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
	t.ahead++
	t.grantLocked()
	return granted
}

func (t *Turns) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free++
	t.grantLocked()
}

// grantLocked gives free slots to the next organizations. An organization with more
// waiting slices goes to the end.
func (t *Turns) grantLocked() {
	for t.free > 0 && len(t.organizations) > 0 {
		org := t.organizations[0]
		close(t.waiting[org][0])
		t.free--
		t.dropLocked(org, 0)
		if t.waiting[org] != nil {
			t.organizations = append(t.organizations[1:], org)
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
	t.ahead--
	t.waiting[org] = slices.Delete(t.waiting[org], at, at+1)
	if len(t.waiting[org]) == 0 {
		delete(t.waiting, org)
		t.organizations = slices.DeleteFunc(t.organizations, func(o string) bool { return o == org })
	}
}
