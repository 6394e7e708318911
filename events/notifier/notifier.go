package notifier

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/periodic"
	"github.com/gridhook/gridhook/storage"
)

// Ledger is the part of the ledger that a notifier uses.
type Ledger interface {
	// Changed returns a channel that is closed at the next change.
	Changed() <-chan struct{}
	// Unnotified lists the completed triggers without a notification. MarkNotified
	// records that endpoints were notified of them.
	Unnotified(limit int) ([]events.Progress, error)
	MarkNotified(triggers []events.Progress) error
	// EachHealth calls do for the health of every endpoint that has failed.
	EachHealth(do func(endpoint storage.Ref, h events.Health)) error
	// Usage returns the usage of an organization.
	Usage(org string) (events.Usage, error)
}

// Deps are the dependencies of a notifier.
type Deps struct {
	Store   *storage.Store
	Ledger  Ledger
	Notices events.NoticeLog
	// Quota limits each organization's triggers. FailureShare is the share of a trigger's
	// deliveries that may fail without a notice.
	Quota        events.Quota
	FailureShare float64
	Log          *slog.Logger
	Registerer   prometheus.Registerer
	Now          func() time.Time
}

// Notifier stores notices. Any number of notifiers may run, because each notice is stored
// once. If a notifier dies, the next search finds the missing notices.
type Notifier struct {
	Deps
	notices, disabled *prometheus.CounterVec
	// revision is the store's revision at the last search for disabled endpoints.
	revision uint64
	// repeats has the times of the notices that every check finds again, by identifier.
	repeats map[string]time.Time
}

// New returns a notifier. Run starts it.
func New(d Deps) *Notifier {
	counter := func(name, help, label string, values ...string) *prometheus.CounterVec {
		c := promauto.With(d.Registerer).NewCounterVec(prometheus.CounterOpts{Namespace: "gridhook", Name: name, Help: help}, []string{label})
		for _, v := range values {
			c.WithLabelValues(v)
		}
		return c
	}
	n := &Notifier{Deps: d, repeats: map[string]time.Time{}}
	n.notices = counter("notices_total", "Notices that this process stored first, by type.", "type",
		append(storage.ChannelEvents(), storage.EventTriggerCompleted)...)
	var reasons []string
	for _, r := range storage.DisabledReasons() {
		reasons = append(reasons, string(r))
	}
	n.disabled = counter("endpoints_disabled_total", "Endpoints that the service has disabled, by reason.", "reason", reasons...)
	return n
}

// Intervals and limits of the notifier.
const (
	// completedEvery is the minimum interval between searches for completed triggers, so that
	// one search serves many triggers. checkEvery is the maximum interval without a
	// change.
	completedEvery = 100 * time.Millisecond
	checkEvery     = 5 * time.Second
	quotasEvery    = time.Minute
	// stale is the maximum age of an event for a notice.
	stale = events.LongestRetry
)

// Run stores notices until ctx ends.
func (n *Notifier) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	repeat := func(every time.Duration, task string, do func(context.Context) error) {
		group.Go(func() error { return periodic.Run(ctx, every, n.Log, task, do) })
	}
	repeat(completedEvery, "notify of completed triggers", n.followCompleted)
	repeat(checkEvery, "check the health of endpoints", n.checkEndpoints)
	repeat(quotasEvery, "check the quotas of organizations", n.checkQuotas)
	return group.Wait()
}

// followCompleted notifies of the completed triggers, and then waits for the next change.
func (n *Notifier) followCompleted(ctx context.Context) error {
	changed := n.Ledger.Changed() // before the search, so that a change during it counts
	err := n.notifyCompleted(ctx)
	if err == nil {
		periodic.Wait(ctx, checkEvery, changed)
	}
	return err
}

// put stores a notice, and logs and counts it if it is new.
func (n *Notifier) put(ctx context.Context, notice events.Notice) (fresh bool, err error) {
	fresh, err = n.Notices.PutNotice(ctx, notice)
	if fresh {
		n.notices.WithLabelValues(notice.Type).Inc()
		n.Log.Info("notice stored", "notice", notice.ID, "type", notice.Type, "org", notice.OrganizationID)
	}
	return fresh, err
}

// maxCompleted limits the triggers of one call of Unnotified.
const maxCompleted = 500

// notifyCompleted stores the notices of completed triggers.
func (n *Notifier) notifyCompleted(ctx context.Context) error {
	for {
		completed, err := n.Ledger.Unnotified(maxCompleted)
		if err != nil || len(completed) == 0 {
			return err
		}
		for i := range completed {
			p := &completed[i]
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
			if failures, ok := events.FailuresNotice(p, n.FailureShare); ok {
				if _, err := n.put(ctx, failures); err != nil {
					return err
				}
			}
		}
		if err := n.Ledger.MarkNotified(completed); err != nil {
			return err
		}
	}
}
