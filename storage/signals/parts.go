package signals

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/netbilling"
	"github.com/gridhook/gridhook/storage"
)

// planPart is a part of a composed plan, with its plan.
type planPart struct {
	pricing.PlanPart
	*plan
	// pays is the component of the export values that the part pays. takesValues says that
	// the export values of a home's own replace the part's.
	pays        netbilling.Component
	takesValues bool
}

// addParts resolves the parts of a composed plan. A change of a part is a change of the plan.
func (r *Reader) addParts(p *plan) error {
	composed := *p.tariff // the cached tariff belongs to all organizations
	p.tariff = &composed
	var key []byte
	for _, named := range p.composedOf {
		called := fmt.Sprintf("the part %q of the home's rate plan %q", named.PlanID, p.record.ID)
		of, err := r.loadPlan(named.PlanID, called)
		if err == nil && of.composedOf != nil {
			err = &Unpriceable{"ratePlanId", called + " has parts itself: a part needs a tariff"}
		}
		if err != nil {
			return err
		}
		p.parts = append(p.parts, planPart{PlanPart: named, plan: of})
		p.newest = max(p.newest, of.newest)
		p.tiered = p.tiered || of.tiered
		p.avoidedCosts = p.avoidedCosts || of.avoidedCosts
		stored := uint64(0)
		if of.series != nil {
			stored = of.series.stored
			if p.series == nil {
				p.series = of.series
			}
		}
		for _, revision := range []uint64{of.record.Revision, of.events, stored} {
			key = binary.AppendUvarint(key, revision)
		}
	}
	p.partsKey = string(key)
	p.shareExportValues()
	return nil
}

// shareExportValues decides who pays for exported energy. A supplier pays the generation
// component of the export values, the utility the rest. Without a GENERATION part the
// utility also supplies the energy.
func (p *plan) shareExportValues() {
	first := func(role pricing.PlanRole) int {
		return slices.IndexFunc(p.parts, func(of planPart) bool { return of.Role == role })
	}
	lead, supplier := first(pricing.RoleDelivery), first(pricing.RoleGeneration)
	p.eiaID = p.parts[lead].eiaID
	p.parts[lead].takesValues = true
	if supplier < 0 {
		return
	}
	p.parts[supplier].takesValues = true
	for i := range p.parts {
		p.parts[i].pays = netbilling.Delivery
		if p.parts[i].Role == pricing.RoleGeneration {
			p.parts[i].pays = netbilling.Generation
		}
	}
}

// pricedParts returns the inputs of a composed plan's parts for a home with export values.
func (r *Reader) pricedParts(parts []planPart, values homeValues) ([]pricing.PricedPart, error) {
	priced := make([]pricing.PricedPart, len(parts))
	for i := range parts {
		of, taken := &parts[i], homeValues{}
		if of.takesValues {
			taken = values
		}
		if of.Role == pricing.RoleGeneration {
			taken.payer = 0 // a supplier pays by its own terms
		}
		priced[i].PlanPart = of.PlanPart
		var err error
		if priced[i].Tariff, err = r.variant(of.plan, taken, of.pays); err != nil {
			return nil, err
		}
		if priced[i].Events, err = r.pricedEvents(of.plan); err != nil {
			return nil, err
		}
		if priced[i].Market, err = r.prices(of.series); err != nil {
			return nil, err
		}
	}
	return priced, nil
}

// refs names the stored inputs of the plan itself.
func (p *plan) refs() []storage.Ref {
	refs := []storage.Ref{p.record.Ref, storage.KindPlanEvent.Ref(p.record.Org, p.record.ID)}
	if p.series != nil {
		refs = append(refs, p.series.refs()...)
	}
	return refs
}

// refs names the stored series, if there is one.
func (s *series) refs() []storage.Ref {
	if s.stored == 0 {
		return nil
	}
	return []storage.Ref{s.ref}
}
