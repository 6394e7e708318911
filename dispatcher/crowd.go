package dispatcher

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Slices that wait for slow endpoints.
const (
	// slowAfter is how long a slice may hold its slot without an answer from one
	// of its endpoints. Then it is slow, and the slot goes to another one:
	// requests that hang are kept out of the slots that the others use.
	slowAfter = 100 * time.Millisecond
	// suspectAfter is the same where an endpoint has not been heard of, or did
	// not answer well when it was last tried.
	suspectAfter = 5 * time.Millisecond
	// maxSlow bounds the slow slices of a worker, and so its memory.
	maxSlow = 512
	// maxSlowEach bounds those of one endpoint: see Options.slowEach. Beyond, what is
	// for the endpoint waits.
	maxSlowEach = 8
	// maxWaitingEach bounds the slices that wait in memory for one endpoint to have
	// fewer slow ones: as many as a walk has under way ahead of each other.
	maxWaitingEach = lanes
	// crowdedFor is how long what a crowded endpoint is sent waits in memory, and
	// then on disk.
	crowdedFor = 2 * time.Second
)

// crowd counts the slow slices of one endpoint, and has others wait for room.
type crowd struct {
	most int // slow slices

	mu      sync.Mutex
	slow    int
	waiting []chan struct{} // each closed when there may be room
	// left is when one was done last, and every how long after the one before.
	left  time.Time
	every time.Duration
}

func (c *crowd) full() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.slow >= c.most
}

func (c *crowd) enter() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slow++
}

// leave makes room, for one of those that wait.
func (c *crowd) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if !c.left.IsZero() {
		c.every = now.Sub(c.left)
	}
	c.left = now
	if c.slow--; c.slow < c.most && len(c.waiting) > 0 {
		close(c.waiting[0])
		c.waiting = c.waiting[1:]
	}
}

// hold is how long a slice that waits may hold its slot: a little longer than that takes
// where there is room often, and not at all where there is not.
func (c *crowd) hold() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.every > 0 && c.every <= 2*slowAfter {
		return 4 * slowAfter
	}
	return 0
}

// await waits until there may be room, no longer than a time. It returns false when
// there is none, or so many wait that another one must not.
func (c *crowd) await(ctx context.Context, within time.Duration) bool {
	c.mu.Lock()
	if c.slow < c.most {
		c.mu.Unlock()
		return true
	}
	if len(c.waiting) >= maxWaitingEach || within <= 0 {
		c.mu.Unlock()
		return false
	}
	room := make(chan struct{})
	c.waiting = append(c.waiting, room)
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	select {
	case <-room:
		return true
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.Index(c.waiting, room)
	if at < 0 { // it was made at that very moment
		return true
	}
	c.waiting = slices.Delete(c.waiting, at, at+1)
	return false
}

// relief frees the slots of slices that have become slow.
type relief struct{ room *semaphore.Weighted }

func newRelief() *relief { return &relief{semaphore.NewWeighted(maxSlow)} }

// watch frees a slot once the slice in it has become slow, as long as there is
// room for another slow one. The returned function ends the watch.
func (r *relief) watch(lanes []*lane, free func()) (done func()) {
	w := &watch{relief: r, lanes: lanes, free: free}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(suspectAfter, w.look)
	return w.end
}

// await has a slice wait until there may be room in the crowd of its endpoint, no longer
// than a time. While it holds its slot, a worker that has enough to do takes no more, so
// that another one does. A slice that waits here is not begun: nothing of it comes twice
// after a crash, and its turn is not late.
func (r *relief) await(ctx context.Context, c *crowd, within time.Duration, free func()) bool {
	if !r.room.TryAcquire(1) {
		return false
	}
	defer r.room.Release(1)
	long := time.AfterFunc(c.hold(), free)
	defer long.Stop()
	return c.await(ctx, within)
}

// watch is the watch of one slice.
type watch struct {
	relief *relief
	lanes  []*lane
	free   func()

	mu    sync.Mutex
	timer *time.Timer
	ended bool
	slow  []*lane // those that were when the slot was freed
}

// look frees the slot where an endpoint has not answered for long, and otherwise
// looks again later.
func (w *watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	var slow []*lane
	now := time.Now()
	for _, l := range w.lanes {
		if l.left.Load() > 0 && now.Sub(time.Unix(0, l.answered.Load())) >= l.patience() {
			slow = append(slow, l)
		}
	}
	if slow == nil || !w.relief.room.TryAcquire(1) {
		w.timer.Reset(slowAfter / 4)
		return
	}
	for _, l := range slow {
		l.endpoint.crowd.enter()
	}
	w.slow = slow
	w.free()
}

func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.timer.Stop()
	if w.slow == nil {
		return
	}
	for _, l := range w.slow {
		l.endpoint.crowd.leave()
	}
	w.relief.room.Release(1)
}

// patience is how long an endpoint may go without an answer.
func (l *lane) patience() time.Duration {
	if l.endpoint.breaker.trusted() {
		return slowAfter
	}
	return suspectAfter
}
