package api

import (
	"context"
	"errors"

	"github.com/gridhook/gridhook/storage"
)

// ofPlan names a rate plan, and whose it is.
type ofPlan struct {
	planOwner
	PlanID string `json:"planId"`
}

func (in *ofPlan) check(s *server, c *call, p *problems) {
	in.planOwner.check(s, c, p)
	checkID(p, "planId", in.PlanID)
}

// createPlanEventInput is an event of a rate plan.
type createPlanEventInput struct {
	ofPlan
	storage.PlanEvent
}

func (in *createPlanEventInput) check(s *server, c *call, p *problems) {
	in.ofPlan.check(s, c, p)
	in.SetDefaults()
	_ = p.addError(in.PlanEvent.Validate()) // nothing but field errors
}

// createPlanEvent adds an event to its plan, or puts it in the place of the one
// with its identifier.
func (s *server) createPlanEvent(ctx context.Context, _ *call, in *createPlanEventInput) (storage.PlanEvent, error) {
	plan := storage.RatePlanRef(in.owner(), in.PlanID)
	if _, err := storage.Get[storage.RatePlan](s.Store, plan); err != nil {
		return storage.PlanEvent{}, err
	}
	_, err := s.setEvents(ctx, plan, []storage.PlanEvent{in.PlanEvent})
	return in.PlanEvent, err
}

// setEvents sets events of a plan, all or none, and tells what became of each.
func (s *server) setEvents(ctx context.Context, plan storage.Ref, events []storage.PlanEvent) ([]storage.Change, error) {
	changes := make([]storage.Change, len(events))
	err := s.Store.Rewrite(ctx, func(v storage.View) (r storage.Revised, err error) {
		all, err := planEvents(v, plan)
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

// planEvents are the events of a plan, which may have none yet.
func planEvents(v storage.View, plan storage.Ref) (storage.PlanEvents, error) {
	all, _, err := storage.Read[storage.PlanEvents](v, storage.PlanEventsRef(plan.Org, plan.ID))
	if errors.Is(err, storage.ErrNotFound) {
		all, err = storage.PlanEvents{PlanID: plan.ID, Events: []storage.PlanEvent{}}, nil
		all.OrganizationID = plan.Org
	}
	return all, err
}

// PlanEventList has the events of a plan.
type PlanEventList struct {
	Data []storage.PlanEvent `json:"data"`
}

func (s *server) listPlanEvents(_ context.Context, _ *call, in *ofPlan) (PlanEventList, error) {
	var all storage.PlanEvents
	err := s.Store.View(func(v storage.View) (err error) {
		all, err = planEvents(v, storage.RatePlanRef(in.owner(), in.PlanID))
		return err
	})
	return PlanEventList{all.Events}, err
}

func (s *server) deletePlanEvent(ctx context.Context, c *call, in *ofPlan) (Deleted, error) {
	err := s.Store.Rewrite(ctx, func(v storage.View) (r storage.Revised, err error) {
		all, err := planEvents(v, storage.RatePlanRef(in.owner(), in.PlanID))
		if err == nil && !all.Remove(c.id) {
			err = storage.ErrNotFound
		}
		r.Put = []storage.Entity{&all}
		return r, err
	})
	return Deleted{c.id, true}, err
}

// planEventLine is an event of a rate plan of the organization's, or without one
// of a plan that all share.
type planEventLine struct {
	lineHead
	PlanID string `json:"planId"`
	storage.PlanEvent
}

// prepare names the events of the plan, of which the event becomes one.
func (l *planEventLine) prepare(_ *importer, v storage.View, _ *pending, p *problems) (storage.Entity, error) {
	of := planOwner{l.OrganizationID}
	events := &storage.PlanEvents{PlanID: l.PlanID, Base: storage.Base{OrganizationID: of.owner()}}
	if l.OrganizationID != "" {
		if err := l.owner(v, p); err != nil {
			return nil, err
		}
	}
	l.SetDefaults()
	if err := p.addError(l.PlanEvent.Validate()); err != nil {
		return nil, err
	}
	return events, refersTo(v, storage.RatePlanRef(of.owner(), l.PlanID), "planId", p)
}
