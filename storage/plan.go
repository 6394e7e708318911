package storage

import (
	"cmp"
	"encoding/json"
	"errors"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/urdb"
)

// RatePlan is a tariff with the identifier that homes refer to. A plan belongs to one
// organization or, as Shared, to all of them.
type RatePlan struct {
	ID      string          `json:"id" pattern:"id"`
	Name    string          `json:"name" maxLength:"500" doc:"By default the value in the tariff."`
	Utility string          `json:"utility" maxLength:"255" doc:"By default the value in the tariff."`
	Tariff  json.RawMessage `json:"tariff,omitempty" doc:"The tariff in the JSON of the US Utility Rate Database."`
	// Parts are the parts of a composed plan, which has no tariff.
	Parts []pricing.PlanPart `json:"parts,omitempty" doc:"Two to eight other plans whose prices add up to the plan's, as an alternative to tariff."`
	Base
}

// Ref names the plan.
func (r *RatePlan) Ref() Ref { return KindRatePlan.Ref(r.OrganizationID, r.ID) }

// Check adds every wrong field. Fields of the tariff are named by their path.
func (r *RatePlan) Check(p *Problems) {
	if len(r.Parts) > 0 {
		r.checkParts(p)
		return
	}
	tariff, err := urdb.Parse(r.Tariff)
	if err != nil {
		AddTariffError(p, err)
		return
	}
	checkNode(p, tariff)
	r.Name, r.Utility = cmp.Or(r.Name, tariff.Info().Name), cmp.Or(r.Utility, tariff.Info().Utility)
	for _, rider := range tariff.Riders() { // stored tariffs with it stay valid
		p.Check(!rider.Uncredited || rider.Percent == 0, "tariff.riders", "%q is in percent and must not have credited false: net metering credits every percentage", rider.Name)
	}
}

// AddTariffError adds an error of urdb.Parse, as the wrong fields of the field tariff.
func AddTariffError(p *Problems, err error) {
	wrong, ok := errors.AsType[*urdb.Error](err)
	if !ok {
		p.Addf("tariff", "%s", err)
		return
	}
	for _, problem := range wrong.Fields {
		p.Addf(join("tariff", problem.Field), "%s", problem.Message)
	}
}

// checkNode requires that all versions of a tariff follow the same node. Signals price every
// version by one series, the newest version's.
func checkNode(p *Problems, t *pricing.Tariff) {
	var first *pricing.Passthrough
	for _, version := range t.Versions() {
		followed, ok := version.Market()
		switch {
		case !ok:
		case first == nil:
			first = &followed
		case followed.Node != first.Node || followed.Kind != first.Kind:
			p.Addf("tariff", "has versions at node %q (%s) and at node %q (%s): all versions must name one node and market, so import a plan for each",
				first.Node, first.Kind, followed.Node, followed.Kind)
			return
		}
	}
}

// join joins two JSON paths.
func join(parent, path string) string {
	switch {
	case path == "":
		return parent
	case path[0] == '[':
		return parent + path
	default:
		return parent + "." + path
	}
}
