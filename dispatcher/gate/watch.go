package gate

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Progress is the progress of a slice at one endpoint.
type Progress struct {
	endpoint   *Endpoint
	began      time.Time
	deliveries int64
	left       atomic.Int64 // remaining deliveries
	doneAt     atomic.Int64 // time of the last completed delivery, in ns since began
}

// Progress starts a slice's deliveries to the endpoint.
func (e *Endpoint) Progress(deliveries int) *Progress {
	p := &Progress{endpoint: e, began: time.Now(), deliveries: int64(deliveries)}
	p.left.Store(p.deliveries)
	return p
}

// Done records completed deliveries.
func (p *Progress) Done(deliveries int) {
	left, took := p.left.Add(-int64(deliveries)), int64(time.Since(p.began))
	p.doneAt.Store(took)
	p.endpoint.pace.Store(took / (p.deliveries - left))
}

// Postponed records deliveries that are left to a retry.
func (p *Progress) Postponed(deliveries int) { p.left.Add(-int64(deliveries)) }

// slow reports whether the slice has waited too long for a response of the endpoint.
func (p *Progress) slow(now time.Time) bool {
	patience := suspectAfter
	if p.endpoint.trusted() {
		patience = slowAfter
	}
	return p.left.Load() > 0 && now.Sub(p.began)-time.Duration(p.doneAt.Load()) >= patience
}

// measure raises the endpoint's pace if the next delivery is late.
func (p *Progress) measure(now time.Time) {
	if left := p.left.Load(); left > 0 {
		p.endpoint.pace.Store(max(p.endpoint.pace.Load(), int64(now.Sub(p.began))/(p.deliveries-left+1)))
	}
}

// Watch monitors a slice, and frees its slot if the slice is slow. The slice then counts as
// slow until End.
type Watch struct {
	gate *Gate
	free func()

	mu    sync.Mutex
	parts []*Progress
	timer *time.Timer
	ended bool
	// slow are the endpoints at which the slice counts as slow. counted reports whether it
	// counts as a slow slice of the worker.
	slow    []*Progress
	counted bool
}

// Watch returns the watch of a slice, which does nothing before Start.
func (g *Gate) Watch(free func()) *Watch { return &Watch{gate: g, free: free} }

// Start frees the slot once one of the endpoints is slow, if the worker may have another
// slow slice.
func (w *Watch) Start(parts []*Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.parts = parts
	w.timer = time.AfterFunc(suspectAfter, w.look)
}

// look frees the slot if an endpoint is slow, and checks again later.
func (w *Watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	defer w.timer.Reset(slowAfter / 4)
	now := time.Now()
	for _, p := range w.parts {
		p.measure(now)
		if !p.slow(now) || slices.Contains(w.slow, p) {
			continue
		}
		if !w.counted {
			if w.counted = w.gate.slow.TryAcquire(p.endpoint.org, 1); !w.counted {
				return
			}
			w.free()
		}
		p.endpoint.slow.enter()
		w.slow = append(w.slow, p)
	}
	w.leaveCompleted()
}

// leaveCompleted ends the count of the endpoints that have all deliveries of the slice, so
// that they need not wait for the others. At one endpoint the slice counts until End.
func (w *Watch) leaveCompleted() {
	left := w.slow[:0]
	for i, p := range w.slow {
		if p.left.Load() > 0 || len(left) == 0 && i == len(w.slow)-1 {
			left = append(left, p)
			continue
		}
		p.endpoint.slow.leave()
	}
	w.slow = left
}

// End ends the watch. Call it after the outcomes are stored: slices that wait for a stalled
// store then have the limits of slow slices.
func (w *Watch) End() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	if w.timer != nil {
		w.timer.Stop() // it would keep the slice in memory
	}
	for _, p := range w.slow {
		p.endpoint.slow.leave()
	}
	if w.counted {
		w.gate.slow.Release(w.parts[0].endpoint.org, 1)
	}
}
