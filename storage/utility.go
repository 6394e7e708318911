package storage

import (
	"errors"
	"strconv"
	"strings"

	"github.com/gridhook/gridhook/pricing/eligibility"
)

// Utility is a utility as the operator knows it, in the place of what is
// published of it.
type Utility struct {
	// EIAID is its number at the US Energy Information Administration.
	EIAID     int    `json:"eiaId"`
	Name      string `json:"name"`
	Ownership string `json:"ownership"`
	// DynamicPricing are the kinds offered, such as time-of-use.
	DynamicPricing []string `json:"dynamicPricing"`
	// DemandResponseCustomers and NetMeteringCustomers are how many homes take
	// part.
	DemandResponseCustomers int `json:"demandResponseCustomers"`
	NetMeteringCustomers    int `json:"netMeteringCustomers"`
	// Programs are the names of its demand-response programs.
	Programs []string `json:"programs"`
	Base
}

// NewUtility is a utility of which nothing is said.
func NewUtility() Utility {
	return Utility{DynamicPricing: []string{}, Programs: []string{}, Base: Base{OrganizationID: Shared}}
}

// UtilityRef names a utility of the operator's by its EIA number.
func UtilityRef(eiaID int) Ref { return Ref{KindUtility, Shared, strconv.Itoa(eiaID)} }

// Ref names the utility.
func (u *Utility) Ref() Ref { return UtilityRef(u.EIAID) }

// Facts are the utility as eligibility checks take it.
func (u *Utility) Facts() eligibility.Utility {
	return eligibility.Utility{
		EIAID: u.EIAID, Name: u.Name, Ownership: u.Ownership, DynamicPricing: u.DynamicPricing,
		DemandResponseCustomers: u.DemandResponseCustomers, NetMeteringCustomers: u.NetMeteringCustomers, Programs: u.Programs,
	}
}

// Validate names every wrong field.
func (u *Utility) Validate() error {
	var p Problems
	checkOverrides(&p, eligibility.Overrides{Utilities: []eligibility.Utility{u.Facts()}})
	checkText(&p, "name", u.Name, 0, 255)
	checkText(&p, "ownership", u.Ownership, 0, 255)
	checkNames(&p, "dynamicPricing", u.DynamicPricing)
	p.Check(u.DemandResponseCustomers >= 0, "demandResponseCustomers", "must be at least 0")
	p.Check(u.NetMeteringCustomers >= 0, "netMeteringCustomers", "must be at least 0")
	checkNames(&p, "programs", u.Programs)
	return p.Err()
}

// DemandResponse names the demand-response programs of a utility, in the place of
// those that are known. What else is known of the utility stays.
type DemandResponse struct {
	// EIAID is the utility's number at the US Energy Information Administration.
	EIAID int `json:"eiaId"`
	// Programs are their names; none says that there are none.
	Programs []string `json:"programs"`
	Base
}

// NewDemandResponse has no programs.
func NewDemandResponse() DemandResponse {
	return DemandResponse{Programs: []string{}, Base: Base{OrganizationID: Shared}}
}

// DemandResponseRef names the programs of a utility by its EIA number.
func DemandResponseRef(eiaID int) Ref { return Ref{KindDemandResponse, Shared, strconv.Itoa(eiaID)} }

// Ref names the programs, by their utility.
func (d *DemandResponse) Ref() Ref { return DemandResponseRef(d.EIAID) }

// Facts are the programs as eligibility checks take them.
func (d *DemandResponse) Facts() eligibility.Programs {
	return eligibility.Programs{EIAID: d.EIAID, Names: d.Programs}
}

// Validate names every wrong field.
func (d *DemandResponse) Validate() error {
	var p Problems
	checkOverrides(&p, eligibility.Overrides{Programs: []eligibility.Programs{d.Facts()}})
	checkNames(&p, "programs", d.Programs)
	return p.Err()
}

// maxNames bounds the names that one entity lists.
const maxNames = 100

func checkNames(p *Problems, field string, names []string) {
	p.Check(len(names) <= maxNames, field, "must have at most %d names", maxNames)
	for i, name := range names[:min(len(names), maxNames)] {
		checkText(p, index(field, i), name, 1, 255)
	}
}

// checkOverrides adds what is wrong with facts of one entity, by the names of its
// fields.
func checkOverrides(p *Problems, o eligibility.Overrides) {
	var wrong *eligibility.OverridesError
	if errors.As(o.Validate(), &wrong) {
		for _, w := range wrong.Problems {
			_, field, _ := strings.Cut(w.Field, ".") // such as utilities[0].name
			p.Addf(field, "%s", w.Message)
		}
	}
}
