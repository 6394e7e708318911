package scheduler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
)

// A schedule may run when prices change. Every scheduler detects a change in its own
// replica, by the revisions of the records that decide prices. The schedule's last
// trigger records the revision of the last run. If several schedulers create the next
// trigger, only one is accepted. So schedulers need no stored state, and the next
// scheduler finds a change made while no scheduler ran.

const (
	// pricesEvery is the interval between checks for changed prices. An import arrives in
	// parts. So a schedule runs when a check finds nothing new, or after maxChecks
	// consecutive checks with changes.
	pricesEvery = 5 * time.Second
	maxChecks   = 12
	// changesFor is the maximum age of a change that causes a run, for example after the
	// schedule was disabled for a time.
	changesFor = 24 * time.Hour
	// maxPlans is the maximum number of plans in a trigger. With more changed plans, the
	// trigger covers all homes.
	maxPlans = 100
)

// priceKinds are the kinds of shared records that decide prices.
var priceKinds = []storage.Kind{storage.KindRatePlan, storage.KindPlanEvent, storage.KindMarketSeries}

// priceWatch is the observed state of one schedule.
type priceWatch struct {
	schedule uint64 // revision of the schedule
	newest   uint64 // newest observed change
	checks   int    // consecutive checks with new changes
	done     uint64 // newest processed change
	// retryAt is when a run beyond a limit of the organization is retried.
	retryAt time.Time
}

// retryEvery is the interval at which a run beyond a limit is retried. The change must
// reach the homes once the organization is below the limit.
const retryEvery = time.Minute

// checkPrices runs the schedules whose prices have changed.
func (s *Scheduler) checkPrices(ctx context.Context) error {
	revision := s.Store.Revision()
	if revision == s.revision {
		return nil
	}
	found, err := s.changes()
	if err != nil {
		return err
	}
	maps.DeleteFunc(s.prices, func(ref storage.Ref, _ *priceWatch) bool { return found[ref] == nil })
	waiting, failed := false, error(nil)
	for ref, c := range found {
		watch := s.prices[ref]
		if watch == nil || watch.schedule != c.revision {
			watch = &priceWatch{schedule: c.revision}
			s.prices[ref] = watch
		}
		if !watch.settled(c.newest()) {
			waiting = true
			continue
		}
		err := s.followPrices(ctx, watch, c)
		if errors.Is(err, storage.ErrUnavailable) || ctx.Err() != nil {
			return err
		}
		if err != nil { // the other schedules do not wait for it
			failed = errors.Join(failed, fmt.Errorf("schedule %s of %s: %w", ref.ID, ref.Org, err))
		}
		waiting = waiting || watch.done < c.newest()
	}
	if !waiting {
		s.revision = revision
	}
	return failed
}

// settled reports whether to process a change now.
func (w *priceWatch) settled(newest uint64) bool {
	if newest > w.newest && w.checks < maxChecks {
		w.newest = newest
		w.checks++
		return newest <= w.done
	}
	w.checks = 0
	return true
}

// priceChanges are the recent changes that may affect a schedule.
type priceChanges struct {
	schedule  storage.Schedule
	revision  uint64 // of the schedule
	first     uint64 // revision of the schedule's creation
	revisions []uint64
}

func (c *priceChanges) newest() uint64 {
	if len(c.revisions) == 0 {
		return 0
	}
	return slices.Max(c.revisions)
}

// since returns the first change after a revision, 0 if there is none.
func (c *priceChanges) since(revision uint64) (first uint64) {
	for _, r := range c.revisions {
		if r > max(revision, c.first) && (first == 0 || r < first) {
			first = r
		}
	}
	return first
}

// changes returns the schedules that run when prices change, each with the recent changes
// for its organization. It leaves out organizations that are not active. Once an
// organization is resumed, the changes of the last changesFor count.
func (s *Scheduler) changes() (map[storage.Ref]*priceChanges, error) {
	found := map[storage.Ref]*priceChanges{}
	err := s.Store.View(func(v storage.View) error {
		damaged := func(error) {} // plan logs it
		err := storage.Each(v, storage.KindSchedule, damaged, func(schedule *storage.Schedule, r storage.Record) error {
			if !schedule.OnPriceChange || !schedule.Enabled {
				return nil
			}
			active, err := storage.IsActive(v, r.Org)
			if active {
				found[r.Ref] = &priceChanges{schedule: *schedule, revision: r.Revision, first: r.First}
			}
			return err
		})
		if err != nil || len(found) == 0 {
			return err
		}
		shared, err := s.changesOf(v, storage.Shared)
		for ref, c := range found {
			own, failed := s.changesOf(v, ref.Org)
			c.revisions, err = append(own, shared...), errors.Join(err, failed)
		}
		return err
	})
	return found, err
}

// changesOf returns the revisions of recent changes to an organization's or the shared
// records.
func (s *Scheduler) changesOf(v storage.View, org string) (revisions []uint64, err error) {
	now := s.Now()
	for _, kind := range priceKinds {
		failed := v.Scan(kind, org, "", func(r storage.Record) bool {
			if now.Sub(r.At) < changesFor {
				revisions = append(revisions, r.Revision)
			}
			return true
		})
		err = errors.Join(err, failed)
	}
	return revisions, err
}

// followPrices runs a schedule if a change affects homes and has not caused a run yet.
func (s *Scheduler) followPrices(ctx context.Context, watch *priceWatch, c *priceChanges) error {
	now := s.Now()
	if c.newest() <= watch.done || now.Before(watch.retryAt) {
		return nil
	}
	schedule := &c.schedule
	last, err := s.Runs.LastOf(ctx, schedule.OrganizationID, schedule.ID)
	if err != nil {
		return err
	}
	since := c.since(last.Revision)
	if since == 0 {
		watch.done = c.newest()
		return nil
	}
	window, ok := s.window(schedule, now)
	if !ok { // until the next change
		watch.done = c.newest()
		return nil
	}
	t := events.NewTrigger(schedule.OrganizationID, window, now)
	t.ScheduleID, t.Follows = schedule.ID, last.Sequence
	err = s.Store.View(func(v storage.View) error {
		plans, homes, err := affected(s.Pricer.Reader(v, t.OrganizationID), v, t.OrganizationID, since)
		if err != nil {
			return err
		}
		t.RatePlanIDs = plans
		return t.StartFrom(v, homes)
	})
	if err == nil && t.Homes > 0 {
		var skipped bool
		if skipped, err = s.accept(ctx, &t); skipped {
			watch.retryAt = now.Add(retryEvery)
			return nil
		}
		if errors.Is(err, storage.ErrConflict) {
			return nil // another scheduler's trigger was accepted; the next check finds any other change
		}
	}
	if err == nil {
		watch.done = t.Revision
	}
	return err
}

// affected returns the plans whose prices have changed since a revision, and the number
// of their homes. This includes plans with homes that sell to a changed market. With too
// many plans it returns no plans and the number of all homes.
func affected(prices *signals.Reader, v storage.View, org string, since uint64) (plans []string, homes int, err error) {
	counts, changed := map[string]int{}, map[string]bool{}
	for r, err := range storage.Live(v, storage.KindHome, org, "") {
		if err != nil {
			return nil, 0, err
		}
		home, err := prices.Home(r)
		var revision uint64
		if err == nil {
			counts[home.RatePlanID]++
			revision, err = prices.Shared(home)
		}
		switch {
		case err == nil && revision >= since:
			changed[home.RatePlanID] = true
		case err != nil && !signals.IsDataError(err): // an error of the home alone means that no change made it priceable
			return nil, 0, err
		}
	}
	if len(changed) > maxPlans {
		return nil, v.Count(storage.KindHome, org), nil
	}
	for plan := range changed {
		homes += counts[plan]
	}
	return slices.Sorted(maps.Keys(changed)), homes, nil
}
