package storage

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gridhook/gridhook/pricing"
)

// PlanEvent is a period in which a rate plan has a price of its own. It is a critical
// peak, or a peak with a rebate for energy not used. An alert has no price.
type PlanEvent struct {
	ID    string            `json:"id" pattern:"id" doc:"Unique in the plan, by default the kind and the start." example:"CRITICAL_PEAK-20260702T210000Z"`
	Kind  pricing.EventKind `json:"kind" example:"CRITICAL_PEAK"`
	Name  string            `json:"name" maxLength:"255" example:"heat wave"`
	From  Time              `json:"from" nullable:"false" doc:"The start. Intervals that start within the event have its price." example:"2026-07-02T21:00:00.000Z"`
	To    Time              `json:"to" nullable:"false" doc:"The end, exclusive, at most 7 days after the start." example:"2026-07-03T01:00:00.000Z"`
	Adder *float64          `json:"adder,omitempty" minimum:"-50" maximum:"50" doc:"The addition to the plan's price, in $/kWh. For a rebate it is the credit for a kWh not used." example:"0.6"`
	Price *float64          `json:"price,omitempty" minimum:"-50" maximum:"50" doc:"The replacement of the plan's price, in $/kWh. Send either price or adder." example:"null"`
}

// SetDefaults fills in a missing identifier and name.
func (e *PlanEvent) SetDefaults() {
	if e.ID == "" && !e.From.IsZero() {
		e.ID = string(e.Kind) + "-" + e.From.UTC().Format("20060102T150405Z")
	}
	e.Name = cmp.Or(e.Name, strings.ToLower(strings.ReplaceAll(string(e.Kind), "_", " ")))
}

// longestEvent bounds an event. No rate plan has longer events.
const longestEvent = 7 * 24 * time.Hour

// Check adds every wrong field.
func (e *PlanEvent) Check(p *Problems) {
	if e.ID != "" || !e.From.IsZero() { // without a start no default identifier is set
		CheckID(p, "id", e.ID)
	}
	p.Check(!e.From.IsZero(), "from", "is required")
	switch length := e.To.Sub(e.From.Time); {
	case e.To.IsZero():
		p.Addf("to", "is required")
	case !e.From.IsZero() && (length <= 0 || length > longestEvent):
		p.Addf("to", "must be after from, by at most 7 days")
	}
	if e.Kind == pricing.FlexAlert {
		p.Check(e.Price == nil, "price", "must be left out for a FLEX_ALERT, which changes no price")
		p.Check(e.Adder == nil, "adder", "must be left out for a FLEX_ALERT, which changes no price")
		return
	}
	p.Check(e.Adder != nil || e.Price != nil, "price", "is required without adder")
	p.Check(e.Adder == nil || e.Price == nil, "adder", "cannot be combined with price")
	rebate := e.Kind == pricing.PeakRebate
	p.Check(!rebate || e.Price == nil, "price", "must be left out for a rebate: adder is the credit for a kWh not used")
	p.Check(!rebate || e.Adder == nil || *e.Adder > 0, "adder", "must be above 0 for a rebate")
}

// Pricing returns the event in the form of package pricing.
func (e *PlanEvent) Pricing() pricing.Event {
	return pricing.Event{Name: e.Name, Kind: e.Kind, From: e.From.Time, To: e.To.Time, Adder: known(e.Adder, 0), Price: e.Price}
}

// PlanEvents holds the events of one rate plan. They belong to the plan's owner.
type PlanEvents struct {
	PlanID string      `json:"planId"`
	Events []PlanEvent `json:"events"`
	Base
}

// MaxPlanEvents is the maximum number of events of one plan.
const MaxPlanEvents = 1000

// Ref names the events by their plan.
func (e *PlanEvents) Ref() Ref { return KindPlanEvent.Ref(e.OrganizationID, e.PlanID) }

// Check adds every wrong field.
func (e *PlanEvents) Check(p *Problems) {
	p.Check(len(e.Events) <= MaxPlanEvents, "planId", "would have %d events, at most %d are allowed: delete old events", len(e.Events), MaxPlanEvents)
}

// ReadPlanEvents returns the events of a plan. A plan without events is not an error.
func ReadPlanEvents(v View, plan Ref) (PlanEvents, error) {
	all, _, err := Read[PlanEvents](v, KindPlanEvent.Ref(plan.Org, plan.ID))
	if errors.Is(err, ErrNotFound) {
		all, err = PlanEvents{PlanID: plan.ID, Events: []PlanEvent{}}, nil
		all.OrganizationID = plan.Org
	}
	return all, err
}

// Set adds an event, or replaces the event with the same identifier. The events stay
// sorted by start. Set returns the change.
func (e *PlanEvents) Set(event PlanEvent) Change {
	change := Created
	if i := e.find(event.ID); i >= 0 {
		if e.Events[i].equal(&event) {
			return Unchanged
		}
		e.Events, change = slices.Delete(e.Events, i, i+1), Updated
	}
	e.Events = append(e.Events, event)
	slices.SortStableFunc(e.Events, func(a, b PlanEvent) int { return a.From.Compare(b.From.Time) })
	return change
}

// Remove deletes an event and reports whether it existed.
func (e *PlanEvents) Remove(id string) bool {
	i := e.find(id)
	if i >= 0 {
		e.Events = slices.Delete(e.Events, i, i+1)
	}
	return i >= 0
}

func (e *PlanEvents) find(id string) int {
	return slices.IndexFunc(e.Events, func(other PlanEvent) bool { return other.ID == id })
}

// equal reports whether the two events are stored alike.
func (e *PlanEvent) equal(other *PlanEvent) bool {
	own, err := json.Marshal(e)
	theirs, failed := json.Marshal(other)
	return err == nil && failed == nil && bytes.Equal(own, theirs)
}
