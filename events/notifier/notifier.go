package notifier

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Ledger is the part of the ledger that a notifier uses.
type Ledger interface {
	// Changed returns a channel that is closed at the next change.
	Changed() <-chan struct{}
	// Ended lists the completed triggers without a notification. Told records that
	// endpoints were notified of them.
	Ended(limit int) ([]events.Progress, error)
	Told(triggers []events.Progress) error
	// EachHealth calls do for the health of every endpoint until do returns false.
	EachHealth(do func(endpoint storage.Ref, h events.Health) bool) error
}

// Deps are the dependencies of a notifier.
type Deps struct {
	Store      *storage.Store
	Ledger     Ledger
	Notices    events.NoticeLog
	Log        *slog.Logger
	Registerer prometheus.Registerer
	Now        func() time.Time
}

// Notifier stores notices. Any number of notifiers may run, because each notice is stored
// once. If a notifier dies, the next search finds the missing notices.
type Notifier struct {
	Deps
	notices, disabled *prometheus.CounterVec
	// revision is the store's revision at the last search for disabled endpoints.
	revision uint64
}

// New returns a notifier. Run starts it.
func New(d Deps) *Notifier {
	counter := func(name, help, label string, values ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "gridhook", Name: name, Help: help}, []string{label})
		d.Registerer.MustRegister(c)
		for _, v := range values {
			c.WithLabelValues(v)
		}
		return c
	}
	n := &Notifier{Deps: d}
	n.notices = counter("notices_total", "Notices that this process was the first to put, by type.", "type",
		storage.EventTriggerCompleted, storage.EventEndpointDisabled)
	var reasons []string
	for _, r := range storage.DisabledReasons() {
		reasons = append(reasons, string(r))
	}
	n.disabled = counter("endpoints_disabled_total", "Endpoints that the service has disabled, by reason.", "reason", reasons...)
	return n
}

// Intervals and limits of the notifier.
const (
	// endsEvery is the minimum interval between searches for completed triggers, so that
	// one search serves many triggers. lookEvery is the maximum interval without a
	// change.
	endsEvery = 100 * time.Millisecond
	lookEvery = 5 * time.Second
	// stale is the maximum age of an event for a notice.
	stale = events.LongestRetry
)

// Run stores notices until ctx ends.
func (n *Notifier) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		n.regularly(ctx, endsEvery, n.Ledger.Changed, "whether triggers have come to their end", n.tellEnds)
		return nil
	})
	group.Go(func() error {
		n.regularly(ctx, lookEvery, nil, "how endpoints do", n.lookAtEndpoints)
		return nil
	})
	return group.Wait()
}

// regularly calls do repeatedly, with a delay in between. If changed is not nil,
// regularly then also waits for the next change, or for lookEvery.
func (n *Notifier) regularly(ctx context.Context, pause time.Duration, changed func() <-chan struct{}, what string, do func(context.Context) error) {
	for {
		var next <-chan struct{}
		if changed != nil {
			next = changed() // before do, so that a change during do counts
		}
		if err := do(ctx); err != nil && ctx.Err() == nil {
			n.Log.Warn("it could not be seen "+what+"; trying again", "error", err)
		}
		wait(ctx, pause, nil)
		if changed != nil {
			wait(ctx, lookEvery, next)
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// wait returns after a time, at a change, or when ctx ends.
func wait(ctx context.Context, d time.Duration, changed <-chan struct{}) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-changed:
	case <-ctx.Done():
	}
}

// put stores a notice, and logs and counts it if it is new.
func (n *Notifier) put(ctx context.Context, notice events.Notice) (fresh bool, err error) {
	fresh, err = n.Notices.PutNotice(ctx, notice)
	if fresh {
		n.notices.WithLabelValues(notice.Type).Inc()
		n.Log.Info("there is a notice", "notice", notice.ID, "type", notice.Type, "org", notice.OrganizationID)
	}
	return fresh, err
}

// endsAtOnce limits the triggers of one call of Ended.
const endsAtOnce = 500

// tellEnds stores the notices of completed triggers.
func (n *Notifier) tellEnds(ctx context.Context) error {
	for {
		ended, err := n.Ledger.Ended(endsAtOnce)
		if err != nil || len(ended) == 0 {
			return err
		}
		for i := range ended {
			p := &ended[i]
			if p.Notification != nil || n.Now().Sub(p.CompletedAt.Time) > stale {
				continue // endpoints are notified of price signals only, and of no old events
			}
			notice, err := events.CompletedNotice(p)
			if err != nil {
				return err
			}
			if _, err := n.put(ctx, notice); err != nil {
				return err
			}
		}
		if err := n.Ledger.Told(ended); err != nil {
			return err
		}
	}
}
