package signals

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/pricing/netbilling"
	"github.com/gridhook/gridhook/pricing/urdb"
	"github.com/gridhook/gridhook/storage"
)

// tariffKey identifies a tariff: a revision of a plan with the export values of a home, and
// the component of the export values that a part of a composed plan pays.
type tariffKey struct {
	revision uint64
	homeValues
	pays netbilling.Component
}

// homeValues are the export values that a home's solar has on any plan.
type homeValues struct {
	own   string // name of the values, if the home names them
	payer int    // utility whose values are paid where the plan has no price for exports; 0 for none
}

// tariff is a tariff with values that every home needs.
type tariff struct {
	*pricing.Tariff                    // nil for a composed plan
	composedOf      []pricing.PlanPart // nil for a plan with a tariff
	tiered          bool               // the price depends on the home's use of energy
	avoidedCosts    bool               // net billing pays avoided costs, by the home's vintage
	eiaID           int                // number of the utility; 0 if not given
	// node is the source of the prices that the tariff passes through. passes says
	// whether there is such a source.
	node   pricing.Passthrough
	passes bool
}

func newTariff(t *pricing.Tariff) *tariff {
	made := &tariff{Tariff: t, tiered: t.Tiered(), avoidedCosts: t.PaysAvoidedCosts(), eiaID: t.Info().EIAID}
	for _, version := range t.Versions() {
		if node, ok := version.Market(); ok {
			made.node, made.passes = node, true // the newest version takes precedence
		}
	}
	return made
}

// plan is a rate plan as the homes of an organization see it.
type plan struct {
	*tariff
	record storage.Record // without its value, which is valid only in the view
	// events is the last revision of the plan's events, 0 if it never had any.
	events uint64
	series *series // of the market that the plan passes through, nil if there is none
	// newest is the last write of the inputs that the plan's homes share.
	newest uint64
	// parts are the parts of a composed plan, and partsKey identifies their inputs.
	parts    []planPart
	partsKey string
}

// series is a market's series in a view.
type series struct {
	ref    storage.Ref
	stored uint64 // revision, which identifies the prices; 0 if there is no such series
	newest uint64 // last write of the organization's or the shared series
}

// plan looks up a plan and caches the result for the view.
func (r *Reader) plan(id string) (*plan, error) {
	found, ok := r.plans[id]
	if !ok {
		found.plan, found.err = r.findPlan(id)
		r.plans[id] = found
	}
	return found.plan, found.err
}

func (r *Reader) findPlan(id string) (*plan, error) {
	if id == "" {
		return nil, &Unpriceable{"ratePlanId", "the home has no rate plan: set its ratePlanId"}
	}
	p, err := r.loadPlan(id, fmt.Sprintf("the home's rate plan %q", id))
	if err == nil && p.composedOf != nil {
		err = r.addParts(p)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// loadPlan looks up a plan without its parts. called names the plan in errors.
func (r *Reader) loadPlan(id, called string) (*plan, error) {
	record, err := storage.FindShared(r.view, storage.KindRatePlan.Ref(r.org, id))
	if errors.Is(err, storage.ErrNotFound) {
		return nil, &Unpriceable{"ratePlanId", called + " does not exist: set an existing plan, or ask the operator to import it"}
	}
	if err != nil {
		return nil, err
	}
	p := &plan{newest: record.Revision}
	var failed *HomeError
	if p.tariff, err = r.pricer.tariff(record); errors.As(err, &failed) {
		return nil, err
	} else if err != nil {
		return nil, &Unpriceable{"ratePlanId", fmt.Sprintf("%s cannot be read: %s", called, err)}
	}
	if record.Org != r.org { // the organization may have deleted its own plan
		p.newest = max(p.newest, r.lastWrite(storage.KindRatePlan.Ref(r.org, id)))
	}
	p.events = r.lastWrite(storage.KindPlanEvent.Ref(record.Org, id))
	if p.passes {
		if p.series, err = r.findSeries(p.node.Kind, p.node.Node); err != nil {
			return nil, err
		}
		p.newest = max(p.newest, p.series.newest)
	}
	p.newest = max(p.newest, p.events)
	record.Value = nil
	p.record = record
	return p, nil
}

func (p *Pricer) tariff(record storage.Record) (*tariff, error) {
	return p.tariffs.get(tariffKey{revision: record.Revision}, func() (*tariff, error) {
		stored, err := storage.Decode[storage.RatePlan](record)
		if err != nil {
			return nil, err
		}
		if len(stored.Parts) > 0 {
			return &tariff{composedOf: stored.Parts}, nil
		}
		return calculate(func() (*tariff, error) {
			parsed, err := urdb.Parse(stored.Tariff)
			if err != nil {
				return nil, err
			}
			return newTariff(parsed), nil
		})
	})
}

// EIAID returns the EIA number of the utility of a stored plan. It returns 0 if the tariff
// has no number, and for a plan without a readable tariff.
func (p *Pricer) EIAID(plan storage.Record) int {
	facts, err := p.facts(plan)
	if err != nil {
		return 0
	}
	return facts.eiaID
}

// Utilities returns the EIA numbers of the utilities whose plans an organization can use,
// its own and the shared ones. The caller must not change the result.
func (p *Pricer) Utilities(v storage.View, org string) (map[int]bool, error) {
	return p.utilities.get(atRevision{strings.Clone(org), v.Revision()}, func() (map[int]bool, error) {
		utilities := map[int]bool{}
		for plan, err := range storage.LiveOf(v, storage.KindRatePlan, storage.Shared, org) {
			if err != nil {
				return nil, err
			}
			eiaID := p.EIAID(plan)
			utilities[eiaID] = eiaID != 0
		}
		return utilities, nil
	})
}

// variant returns the plan's tariff with the export values of a home, or the component of
// the values that a part pays.
func (r *Reader) variant(p *plan, values homeValues, pays netbilling.Component) (*pricing.Tariff, error) {
	key := tariffKey{p.record.Revision, values, pays}
	if key == (tariffKey{revision: p.record.Revision}) {
		return p.Tariff, nil
	}
	made, err := r.pricer.tariffs.get(key, func() (*tariff, error) {
		own, ok := netbilling.Named(values.own)
		if !ok && values.own != "" {
			return nil, &Unpriceable{"exportValues", fmt.Sprintf("no export values %q of the home's solar are known", values.own)}
		}
		return calculate(func() (*tariff, error) {
			changed := p.Tariff
			switch {
			case values.own != "":
				changed = changed.WithExportValues(own)
			case values.payer != 0:
				changed = changed.WithUtilityValues(values.payer)
			}
			if pays != "" {
				changed = changed.Paying(pays)
			}
			return newTariff(changed), nil
		})
	})
	if err != nil {
		return nil, err
	}
	return made.Tariff, nil
}

// pricedEvents returns the events of a plan.
func (r *Reader) pricedEvents(p *plan) ([]pricing.Event, error) {
	if p.events == 0 {
		return nil, nil
	}
	return r.pricer.events.get(p.events, func() ([]pricing.Event, error) {
		stored, _, err := storage.Read[storage.PlanEvents](r.view, storage.KindPlanEvent.Ref(p.record.Org, p.record.ID))
		if errors.Is(err, storage.ErrNotFound) { // the events were deleted
			return nil, nil
		}
		events := make([]pricing.Event, len(stored.Events))
		for i := range stored.Events {
			events[i] = stored.Events[i].Pricing()
		}
		return events, err
	})
}

// findSeries looks up the series of a node, or the published emissions of a grid region, and
// caches the result for the view. It is the organization's own series, or the shared series.
func (r *Reader) findSeries(kind market.Kind, node string) (*series, error) {
	name := nodeName{kind, node}
	if found := r.series[name]; found != nil {
		return found, nil
	}
	own, shared := storage.MarketSeriesRef(r.org, kind, node), storage.MarketSeriesRef(storage.Shared, kind, node)
	s := &series{newest: max(r.lastWrite(own), r.lastWrite(shared))}
	record, err := storage.FindShared(r.view, own)
	switch {
	case err == nil:
		s.ref, s.stored = record.Ref, record.Revision
	case !errors.Is(err, storage.ErrNotFound):
		return nil, err
	}
	r.series[name] = s
	return s, nil
}

// prices returns the prices of a series, nil if there is no such series.
func (r *Reader) prices(s *series) (*market.Series, error) {
	if s == nil || s.stored == 0 {
		return nil, nil //nolint:nilnil // package pricing says what is missing
	}
	return r.pricer.markets.get(s.stored, func() (*market.Series, error) {
		stored, _, err := storage.Read[storage.MarketSeries](r.view, s.ref)
		if err != nil {
			return nil, err
		}
		return stored.Load(r.view)
	})
}

// lastWrite returns the revision of an entity's last write, 0 if there is none. A
// deletion is also a write: a home that loses its solar gets a newer signal, not its
// earlier signal again.
func (r *Reader) lastWrite(ref storage.Ref) uint64 {
	record, err := r.view.Get(ref)
	if err != nil {
		return 0
	}
	return record.Revision
}
