package scheduler

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
)

// A schedule may run when prices change. Every scheduler sees it in its own replica, by
// the revisions of what prices homes; what is already done says the last trigger of the
// schedule, by the revision that it was accepted at, and of several that make the next,
// one is accepted. So nothing is to be kept, and a change that was made while nobody was
// there is found by who comes next.

const (
	// pricesEvery is how often it is looked whether prices have changed. A run is made
	// when nothing has changed from one look to the next, as an import comes in parts, or
	// after mostLooks that each found something new.
	pricesEvery = 5 * time.Second
	mostLooks   = 12
	// changesFor is how old a change may be for a run to be made of it, as after a time in
	// which the schedule was disabled.
	changesFor = 24 * time.Hour
	// mostPlans is how many plans a trigger names; where more have changed, it is of all
	// homes.
	mostPlans = 100
)

// priceKinds are what homes have in common that decides prices.
var priceKinds = []storage.Kind{storage.KindRatePlan, storage.KindPlanEvent, storage.KindMarketSeries}

// priceWatch is what was seen of one schedule.
type priceWatch struct {
	newest uint64 // the last change that was seen
	looks  int    // that found something new, in a row
	done   uint64 // the last change that needs nothing more
}

// lookAtPrices makes the runs of the schedules that run when prices change.
func (s *Scheduler) lookAtPrices(ctx context.Context) error {
	revision := s.Store.Revision()
	if revision == s.revision {
		return nil
	}
	found, err := s.changes()
	if err != nil {
		return err
	}
	maps.DeleteFunc(s.prices, func(ref storage.Ref, _ *priceWatch) bool { return found[ref] == nil })
	waiting := false
	for ref, c := range found {
		watch := s.prices[ref]
		if watch == nil {
			watch = &priceWatch{}
			s.prices[ref] = watch
		}
		if !watch.settled(c.newest()) {
			waiting = true
			continue
		}
		if err := s.followPrices(ctx, watch, c); err != nil {
			return err
		}
		waiting = waiting || watch.done < c.newest()
	}
	if !waiting {
		s.revision = revision
	}
	return nil
}

// settled reports whether it is time to see what a change means.
func (w *priceWatch) settled(newest uint64) bool {
	if newest > w.newest && w.looks < mostLooks {
		w.newest = newest
		w.looks++
		return newest <= w.done
	}
	w.looks = 0
	return true
}

// priceChanges are the changes of late that may be of interest to a schedule.
type priceChanges struct {
	schedule  storage.Schedule
	first     uint64 // the revision that the schedule was made at
	revisions []uint64
}

func (c *priceChanges) newest() uint64 {
	if len(c.revisions) == 0 {
		return 0
	}
	return slices.Max(c.revisions)
}

// since is the first change after a revision, 0 when there is none.
func (c *priceChanges) since(revision uint64) (first uint64) {
	for _, r := range c.revisions {
		if r > max(revision, c.first) && (first == 0 || r < first) {
			first = r
		}
	}
	return first
}

// changes finds the schedules that run when prices change, and what has changed of late
// for the organization of each.
func (s *Scheduler) changes() (map[storage.Ref]*priceChanges, error) {
	found := map[storage.Ref]*priceChanges{}
	err := s.Store.View(func(v storage.View) error {
		err := storage.EachOrganization(v, func(org string) error {
			var failed error
			err := v.Scan(storage.KindSchedule, org, "", func(r storage.Record) bool {
				if r.Deleted {
					return true
				}
				var schedule storage.Schedule
				if schedule, failed = storage.Decode[storage.Schedule](r); failed == nil && schedule.OnPriceChange && schedule.Enabled {
					found[r.Ref] = &priceChanges{schedule: schedule, first: r.First}
				}
				return failed == nil
			})
			return errors.Join(err, failed)
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

// changesOf are the revisions at which what an organization has, or all share, was changed
// of late.
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

// followPrices makes a schedule's run where a change affects homes and no run was made
// of it.
func (s *Scheduler) followPrices(ctx context.Context, watch *priceWatch, c *priceChanges) error {
	if c.newest() <= watch.done {
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
	now := s.Now()
	window, ok := s.window(schedule, now)
	if !ok {
		return nil
	}
	t := events.NewTrigger(schedule.OrganizationID, window, now)
	t.ScheduleID, t.Follows = schedule.ID, last.Sequence
	err = s.Store.View(func(v storage.View) error {
		t.Revision = v.Revision()
		t.RatePlanIDs, t.Homes, err = affected(s.Book.Reader(v), v, t.OrganizationID, since)
		return err
	})
	if err == nil && t.Homes > 0 {
		_, err = s.Triggers.Accept(ctx, t)
		if errors.Is(err, storage.ErrConflict) {
			return nil // another has; the next look sees whether anything is left
		}
		if err == nil {
			s.runs.Inc()
			s.Log.Info("prices have changed, and a schedule has run",
				"schedule", schedule.ID, "org", schedule.OrganizationID, "trigger", t.ID, "homes", t.Homes, "plans", t.RatePlanIDs)
		}
	}
	if err == nil {
		watch.done = t.Revision
	}
	return err
}

// affected are the plans of an organization's homes whose prices have changed from a
// revision on, and the homes that they have: the plans of those too that sell to a market
// which has changed. Where there are too many plans to name it is all homes.
func affected(prices *signals.Reader, v storage.View, org string, since uint64) (plans []string, homes int, err error) {
	counts, changed := map[string]int{}, map[string]bool{}
	var failed error
	err = v.Scan(storage.KindHome, org, "", func(r storage.Record) bool {
		if r.Deleted {
			return true
		}
		home, err := prices.Home(r)
		if err != nil {
			failed = err
			return false
		}
		counts[home.RatePlanID]++
		revision, err := prices.Shared(home)
		var unpriceable *signals.Unpriceable
		switch {
		case err == nil && revision >= since:
			changed[home.RatePlanID] = true
		case err != nil && !errors.As(err, &unpriceable): // which no change has made priceable
			failed = err
		}
		return failed == nil
	})
	if err = errors.Join(err, failed); err != nil || len(changed) == 0 {
		return nil, 0, err
	}
	if len(changed) > mostPlans {
		return nil, v.Count(storage.KindHome, org), nil
	}
	for plan := range changed {
		homes += counts[plan]
	}
	return slices.Sorted(maps.Keys(changed)), homes, nil
}
