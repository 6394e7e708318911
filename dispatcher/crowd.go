package dispatcher

import (
	"sync"
	"sync/atomic"
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
	// maxSlowEach bounds those of one endpoint. Beyond, what is for the endpoint
	// waits on disk.
	maxSlowEach = 8
	// crowdedFor is how long what a crowded endpoint is sent waits on disk.
	crowdedFor = 2 * time.Second
)

// crowd counts the slow slices of one endpoint.
type crowd struct{ slow atomic.Int64 }

func (c *crowd) full() bool { return c.slow.Load() >= maxSlowEach }

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
		l.endpoint.crowd.slow.Add(1)
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
		l.endpoint.crowd.slow.Add(-1)
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
