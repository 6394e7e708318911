package resume

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gridhook/gridhook/events"
)

// Limits of the search for stalled walks.
const (
	resumeEvery = time.Second
	// lookedAt is the maximum number of walks per search.
	lookedAt = 10_000
)

// Resumer resumes walks whose next slice was lost by the queue. The queue can lose slices
// when a machine dies. It is not synced to disk, because all slices can be derived from
// the triggers and the receipts. Resumer puts a slice again only if the slice is neither
// queued nor has a receipt, and all earlier slices have receipts. So any number of
// resumers may run.
type Resumer struct {
	walks   events.Walks
	bus     Bus
	log     *slog.Logger
	now     func() time.Time
	resumed prometheus.Counter

	seen map[string]sighting // by trigger
}

// sighting is the position of a walk, and the time since when it has not changed.
type sighting struct {
	next  int
	since time.Time
}

// Bus is the part of the message system that a resumer uses.
type Bus interface {
	PutSlice(ctx context.Context, s events.Slice) error
	// Reached reports whether a trigger's walk has reached a slice.
	Reached(ctx context.Context, t events.Trigger, number int) (bool, error)
}

// New returns a resumer. Run starts it.
func New(walks events.Walks, bus Bus, log *slog.Logger, r prometheus.Registerer, now func() time.Time) *Resumer {
	resumed := prometheus.NewCounter(prometheus.CounterOpts{
		Namespace: "gridhook", Name: "slices_resumed_total", Help: "Slices that the queue had lost and that were enqueued again.",
	})
	r.MustRegister(resumed)
	return &Resumer{walks: walks, bus: bus, log: log, now: now, resumed: resumed, seen: map[string]sighting{}}
}

// Run searches at intervals until ctx ends.
func (r *Resumer) Run(ctx context.Context) error {
	tick := time.NewTicker(resumeEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if err := r.look(ctx); err != nil && ctx.Err() == nil {
				r.log.Warn("search for stalled walks failed, retrying", "error", err)
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// look resumes the walks that have stalled.
func (r *Resumer) look(ctx context.Context) error {
	walks, err := r.walks.Unfinished(lookedAt)
	if err != nil {
		return err
	}
	seen, now := make(map[string]sighting, len(walks)), r.now()
	for i := range walks {
		w := &walks[i]
		s, known := r.seen[w.Trigger.ID]
		if !known || s.next != w.Next {
			s = sighting{w.Next, now}
		}
		if now.Sub(s.since) >= events.StalledAfter && w.Trigger.Check() == nil { // an invalid trigger is dropped for good
			if err := r.resume(ctx, w); err != nil {
				return err
			}
			s.since = now
		}
		seen[w.Trigger.ID] = s
	}
	r.seen = seen
	return nil
}

// resume puts the next slice of a walk, unless it is queued or done.
func (r *Resumer) resume(ctx context.Context, w *events.Walk) error {
	reached, err := r.bus.Reached(ctx, w.Trigger, w.Next)
	if reached || err != nil {
		return err
	}
	r.log.Warn("slice lost by the queue, resuming its walk", "trigger", w.Trigger.ID, "org", w.Trigger.OrganizationID, "slice", w.Next)
	r.resumed.Inc()
	return r.bus.PutSlice(ctx, events.Slice{
		Trigger: w.Trigger, Sequence: w.Trigger.Sequence, Number: w.Next, After: w.After, Resumed: true, Late: true,
	})
}
