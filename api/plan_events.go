package api

import (
	"context"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// createPlanEvent adds an event to its plan. It replaces an event with the same
// identifier.
func (s *server) createPlanEvent(ctx context.Context, c *rest.Call, in *wire.CreatePlanEventInput) (storage.PlanEvent, error) {
	in.SetDefaults()
	if in.Check(&c.Wrong); c.Wrong.Err() != nil {
		return storage.PlanEvent{}, c.Wrong.Err()
	}
	plan := storage.KindRatePlan.Ref(in.Owner(), in.PlanID)
	if _, err := storage.Get[storage.RatePlan](s.Store, plan); err != nil {
		return storage.PlanEvent{}, err
	}
	_, err := s.setEvents(ctx, plan, []storage.PlanEvent{in.PlanEvent})
	return in.PlanEvent, err
}

// setEvents sets events of a plan atomically and returns the change of each event.
func (s *server) setEvents(ctx context.Context, plan storage.Ref, events []storage.PlanEvent) ([]storage.Change, error) {
	changes := make([]storage.Change, len(events))
	err := s.Store.Rewrite(ctx, func(v storage.View) (r storage.Revised, err error) {
		of, _, err := storage.Read[storage.RatePlan](v, plan)
		if err != nil {
			return r, err
		}
		if len(of.Parts) > 0 {
			return r, rest.Invalid("planId", "has parts: set the event of one of its parts")
		}
		all, err := storage.ReadPlanEvents(v, plan)
		changed := false
		for i, event := range events {
			changes[i] = all.Set(event)
			changed = changed || changes[i] != storage.Unchanged
		}
		if changed {
			r.Put = []storage.Entity{&all}
		}
		return r, err
	})
	return changes, err
}

func (s *server) listPlanEvents(_ context.Context, _ *rest.Call, in *wire.PlanIDInput) (wire.List[storage.PlanEvent], error) {
	all, err := storage.Query(s.Store, func(v storage.View) (storage.PlanEvents, error) {
		return storage.ReadPlanEvents(v, storage.KindRatePlan.Ref(in.Owner(), in.PlanID))
	})
	return wire.List[storage.PlanEvent]{Data: all.Events}, err
}

func (s *server) deletePlanEvent(ctx context.Context, c *rest.Call, in *wire.PlanIDInput) (wire.Deleted, error) {
	err := s.Store.Rewrite(ctx, func(v storage.View) (r storage.Revised, err error) {
		all, err := storage.ReadPlanEvents(v, storage.KindRatePlan.Ref(in.Owner(), in.PlanID))
		if err == nil && !all.Remove(c.ID) {
			err = &storage.NotFoundError{Ref: storage.Ref{Kind: storage.KindPlanEvent, ID: c.ID}}
		}
		r.Put = []storage.Entity{&all}
		return r, err
	})
	return deleted(c, err)
}
