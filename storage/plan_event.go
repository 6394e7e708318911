package storage

import (
	"slices"
	"strings"
	"time"

	"github.com/gridhook/gridhook/pricing"
)

// PlanEvent is a stretch of time in which a rate plan has a price of its own: a
// critical peak, or a peak for whose avoidance a rebate is paid.
type PlanEvent struct {
	// ID is unique in the plan; by default it is made of the kind and the start.
	ID   string            `json:"id"`
	Kind pricing.EventKind `json:"kind"`
	Name string            `json:"name"`
	// From is part of the event, To is not.
	From Time `json:"from" null:"no"`
	To   Time `json:"to" null:"no"`
	// Adder comes on top of the plan's price, in $/kWh. For a rebate it is what a
	// kWh not used earns.
	Adder *float64 `json:"adder,omitempty"`
	// Price, where it is given, is paid in the place of the plan's, in $/kWh.
	Price *float64 `json:"price,omitempty"`
}

// SetDefaults gives an event that has none an identifier and a name.
func (e *PlanEvent) SetDefaults() {
	if e.ID == "" && !e.From.IsZero() {
		e.ID = string(e.Kind) + "-" + e.From.UTC().Format("20060102T150405Z")
	}
	e.Name = or(e.Name, strings.ToLower(strings.ReplaceAll(string(e.Kind), "_", " ")))
}

// longestEvent is beyond what any plan calls an event.
const longestEvent = 7 * 24 * time.Hour

// maxEventRate bounds a price, $/kWh.
const maxEventRate = 50

// Validate names every wrong field.
func (e *PlanEvent) Validate() error {
	var p Problems
	if e.ID != "" || !e.From.IsZero() { // without a start there could be none yet
		checkID(&p, "id", e.ID)
	}
	checkEnum(&p, "kind", e.Kind, pricing.CriticalPeak, pricing.PeakRebate)
	checkText(&p, "name", e.Name, 0, 255)
	p.Check(!e.From.IsZero(), "from", "is required")
	switch length := e.To.Sub(e.From.Time); {
	case e.To.IsZero():
		p.Addf("to", "is required")
	case !e.From.IsZero() && (length <= 0 || length > longestEvent):
		p.Addf("to", "must be after from, by at most 7 days")
	}
	checkWithin(&p, "adder", e.Adder, -maxEventRate, maxEventRate, "$/kWh")
	checkWithin(&p, "price", e.Price, -maxEventRate, maxEventRate, "$/kWh")
	p.Check(e.Adder != nil || e.Price != nil, "price", "is required where there is no adder")
	p.Check(e.Adder == nil || e.Price == nil, "adder", "cannot be given together with price")
	rebate := e.Kind == pricing.PeakRebate
	p.Check(!rebate || e.Price == nil, "price", "is nothing that a rebate has: say in adder what a kWh not used earns")
	p.Check(!rebate || e.Adder == nil || *e.Adder > 0, "adder", "must be above 0 for a rebate")
	return p.Err()
}

// Pricing is the event as package pricing takes it.
func (e *PlanEvent) Pricing() pricing.Event {
	return pricing.Event{Name: e.Name, Kind: e.Kind, From: e.From.Time, To: e.To.Time, Adder: known(e.Adder, 0), Price: e.Price}
}

// PlanEvents are the events of one rate plan. They belong to whom the plan belongs.
type PlanEvents struct {
	PlanID string      `json:"planId"`
	Events []PlanEvent `json:"events"`
	Base
}

// MaxPlanEvents is the most events that one plan has.
const MaxPlanEvents = 1000

// PlanEventsRef names the events of a rate plan.
func PlanEventsRef(org, planID string) Ref { return Ref{KindPlanEvent, org, planID} }

// Ref names the events, by their plan.
func (e *PlanEvents) Ref() Ref { return PlanEventsRef(e.OrganizationID, e.PlanID) }

// Validate names every wrong field.
func (e *PlanEvents) Validate() error {
	var p Problems
	checkID(&p, "planId", e.PlanID)
	p.Check(len(e.Events) <= MaxPlanEvents, "planId", "would have %d events; at most %d are kept: delete old ones", len(e.Events), MaxPlanEvents)
	return p.Err()
}

// Set adds an event, or puts it in the place of the one with its identifier. The
// events stay in the order of their start. It reports what became of it.
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

// Remove takes an event out and reports whether it was there.
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

func (e *PlanEvent) equal(other *PlanEvent) bool {
	return e.ID == other.ID && e.Kind == other.Kind && e.Name == other.Name && e.From.Equal(other.From.Time) && e.To.Equal(other.To.Time) &&
		sameNumber(e.Adder, other.Adder) && sameNumber(e.Price, other.Price)
}

func sameNumber(a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
