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

// Ledger is what a notifier needs of the ledger.
type Ledger interface {
	// Changed is closed at the next change.
	Changed() <-chan struct{}
	// Ended lists the triggers that have come to their end of which nobody has been
	// told; Told notes that somebody has been.
	Ended(limit int) ([]events.Progress, error)
	Told(triggers []events.Progress) error
	// EachHealth hands the health of every endpoint to do, until it returns false.
	EachHealth(do func(endpoint storage.Ref, h events.Health) bool) error
}

// Deps are what a notifier works with.
type Deps struct {
	Store      *storage.Store
	Ledger     Ledger
	Notices    events.NoticeLog
	Log        *slog.Logger
	Registerer prometheus.Registerer
	Now        func() time.Time
}

// Notifier puts notices. Any number of notifiers may run: of one notice one is
// stored, whoever puts it. What it has not put when it dies it finds again.
type Notifier struct {
	Deps
	notices, disabled *prometheus.CounterVec
	// revision is that of the store up to which disablings were told.
	revision uint64
}

// New makes a notifier. Run starts it.
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

// The notifier's patience.
const (
	// endsEvery is how often it is looked for ends of triggers at most, so that
	// many together cost one look; lookEvery how often without any change.
	endsEvery = 100 * time.Millisecond
	lookEvery = 5 * time.Second
	// stale is how old what happened may be for anybody to be told.
	stale = events.LongestRetry
)

// Run puts notices until ctx ends.
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

// regularly does something again and again, with a pause, and where changed is given
// after it at the next change or lookEvery.
func (n *Notifier) regularly(ctx context.Context, pause time.Duration, changed func() <-chan struct{}, what string, do func(context.Context) error) {
	for {
		var next <-chan struct{}
		if changed != nil {
			next = changed() // before it looks: what comes meanwhile counts
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

// put puts a notice, and says so where it is the first to.
func (n *Notifier) put(ctx context.Context, notice events.Notice) (fresh bool, err error) {
	fresh, err = n.Notices.PutNotice(ctx, notice)
	if fresh {
		n.notices.WithLabelValues(notice.Type).Inc()
		n.Log.Info("there is a notice", "notice", notice.ID, "type", notice.Type, "org", notice.OrganizationID)
	}
	return fresh, err
}

// endsAtOnce bounds the triggers whose ends are told in one go.
const endsAtOnce = 500

// tellEnds puts the notices of the triggers that have come to their end.
func (n *Notifier) tellEnds(ctx context.Context) error {
	for {
		ended, err := n.Ledger.Ended(endsAtOnce)
		if err != nil || len(ended) == 0 {
			return err
		}
		for i := range ended {
			p := &ended[i]
			if n.Now().Sub(p.CompletedAt.Time) > stale {
				continue // nobody wants to be told any more
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
