package dispatcher

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gridhook/gridhook/events"
)

// Looking for walks that stand still.
const (
	resumeEvery = time.Second
	// stalledAfter is how long a walk may stand still before it is looked at.
	stalledAfter = 4 * time.Second
	// lookedAt bounds the walks that are looked at together.
	lookedAt = 10_000
)

// Resumer takes up walks whose next slice the queue has lost, as it may when a
// machine dies: it is not synced to disk, because all that it holds follows from
// the triggers and the receipts. Looking is harmless: only a slice that is neither
// queued nor has a receipt, while all before it have theirs, is put again. Any
// number of resumers may run.
type Resumer struct {
	walks   events.Walks
	bus     Bus
	log     *slog.Logger
	now     func() time.Time
	resumed prometheus.Counter

	seen map[string]sighting // by trigger
}

// sighting is how far a walk had come, and since when.
type sighting struct {
	next  int
	since time.Time
}

// NewResumer makes a resumer. Run starts it.
func NewResumer(walks events.Walks, bus Bus, log *slog.Logger, r prometheus.Registerer, now func() time.Time) *Resumer {
	resumed := prometheus.NewCounter(prometheus.CounterOpts{
		Namespace: "gridhook", Name: "slices_resumed_total", Help: "Slices put on the queue again because it had lost them.",
	})
	r.MustRegister(resumed)
	return &Resumer{walks: walks, bus: bus, log: log, now: now, resumed: resumed, seen: map[string]sighting{}}
}

// Run looks from time to time until ctx ends.
func (r *Resumer) Run(ctx context.Context) error {
	tick := time.NewTicker(resumeEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if err := r.look(ctx); err != nil && ctx.Err() == nil {
				r.log.Warn("walks that stand still could not be looked for", "error", err)
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// look takes up the walks that have stood still for long enough.
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
		if now.Sub(s.since) >= stalledAfter && w.Trigger.Check() == nil { // otherwise it is dropped for good
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
	r.log.Warn("the queue has lost a slice: putting it again", "trigger", w.Trigger.ID, "org", w.Trigger.OrganizationID, "slice", w.Next)
	r.resumed.Inc()
	return r.bus.PutSlice(ctx, events.Slice{
		Trigger: w.Trigger, Sequence: w.Trigger.Sequence, Number: w.Next, After: w.After, Resumed: true, Late: true,
	})
}
