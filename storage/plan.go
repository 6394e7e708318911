package storage

import (
	"encoding/json"
	"errors"

	"github.com/gridhook/gridhook/pricing"
)

// RatePlan is a tariff under the identifier that homes name it by. A plan
// belongs to one organization or, as Shared, to all of them.
type RatePlan struct {
	ID string `json:"id"`
	// Name and Utility are taken from the tariff where they are not given.
	Name    string `json:"name"`
	Utility string `json:"utility"`
	// Tariff is the tariff in the JSON of the US Utility Rate Database.
	Tariff json.RawMessage `json:"tariff"`
	Base
}

// RatePlanRef names a rate plan.
func RatePlanRef(org, id string) Ref { return Ref{KindRatePlan, org, id} }

// Ref names the plan.
func (r *RatePlan) Ref() Ref { return RatePlanRef(r.OrganizationID, r.ID) }

// Validate names every wrong field, those of the tariff by their path in it.
func (r *RatePlan) Validate() error {
	var p Problems
	checkID(&p, "id", r.ID)
	checkText(&p, "name", r.Name, 0, 500)
	checkText(&p, "utility", r.Utility, 0, 255)
	tariff, err := pricing.ParseURDB(r.Tariff)
	var wrong *pricing.TariffError
	switch {
	case errors.As(err, &wrong):
		for _, problem := range wrong.Problems {
			p.Addf(join("tariff", problem.Path), "%s", problem.Message)
		}
	case err != nil:
		p.Addf("tariff", "%s", err)
	default:
		r.Name, r.Utility = or(r.Name, tariff.Info().Name), or(r.Utility, tariff.Info().Utility)
	}
	return p.Err()
}

// FindRatePlan is the record of the organization's own plan of that identifier,
// or else of the shared one. Errors: ErrNotFound.
func FindRatePlan(v View, org, id string) (Record, error) {
	r, err := v.Get(RatePlanRef(org, id))
	if errors.Is(err, ErrNotFound) || err == nil && r.Deleted {
		r, err = v.Get(RatePlanRef(Shared, id))
	}
	if err == nil && r.Deleted {
		return Record{}, ErrNotFound
	}
	return r, err
}

// join makes one JSON path of two.
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

// or is s, or other when s is empty.
func or(s, other string) string {
	if s != "" {
		return s
	}
	return other
}
