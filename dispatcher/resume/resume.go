package resume

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/periodic"
)

// Limits of the search for stalled walks.
const (
	resumeEvery = time.Second
	// lookedAt is the maximum number of walks per look. The next look continues after them.
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

	// last is the last walk that was looked at, zero at the start of a round. A round of
	// looks passes every unfinished walk once.
	last events.Walk
	// seen and found hold the sightings of the previous round and of this one, by trigger.
	seen, found map[string]sighting
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
	resumed := promauto.With(r).NewCounter(prometheus.CounterOpts{
		Namespace: "gridhook", Name: "slices_resumed_total", Help: "Slices that the queue had lost and that were enqueued again.",
	})
	return &Resumer{walks: walks, bus: bus, log: log, now: now, resumed: resumed, found: map[string]sighting{}}
}

// Run searches at intervals until ctx ends.
func (r *Resumer) Run(ctx context.Context) error {
	return periodic.Run(ctx, resumeEvery, r.log, "resume stalled walks", r.look)
}

// look resumes stalled walks. After an error the next look continues with the next walk,
// so a walk that cannot be resumed does not hold up the others.
func (r *Resumer) look(ctx context.Context) error {
	walks, err := r.walks.Unfinished(r.last, lookedAt)
	if err != nil {
		return err
	}
	now := r.now()
	for i := range walks {
		w := &walks[i]
		r.last = *w
		s, known := r.seen[w.Trigger.ID]
		if !known || s.next != w.Next {
			s = sighting{w.Next, now}
		}
		r.found[w.Trigger.ID] = s
		if now.Sub(s.since) < events.StalledAfter || w.Trigger.Check() != nil { // an invalid trigger is dropped for good
			continue
		}
		if err := r.resume(ctx, w); err != nil {
			return fmt.Errorf("resume the walk of the trigger %s: %w", w.Trigger.ID, err)
		}
		r.found[w.Trigger.ID] = sighting{w.Next, now}
	}
	if len(walks) < lookedAt {
		r.last, r.seen, r.found = events.Walk{}, r.found, map[string]sighting{}
	}
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
