package storage

import (
	"strconv"

	"github.com/gridhook/gridhook/pricing/eligibility"
)

// Utility is the operator's description of a utility. It replaces the published facts.
type Utility struct {
	eligibility.Utility
	Base
}

// NewUtility returns a utility without facts.
func NewUtility() Utility {
	return Utility{eligibility.Utility{DynamicPricing: []string{}, Programs: []string{}}, Base{OrganizationID: Shared}}
}

// utilityRef names what the operator says of a utility, by its EIA number.
func utilityRef(kind Kind, eiaID int) Ref { return kind.Ref(Shared, strconv.Itoa(eiaID)) }

// Ref names the utility.
func (u *Utility) Ref() Ref { return utilityRef(KindUtility, u.EIAID) }

// DemandResponse names the demand-response programs of a utility. It replaces the known
// programs and leaves other facts about the utility unchanged.
type DemandResponse struct {
	EIAID    int      `json:"eiaId" minimum:"1" doc:"The utility's number at the US Energy Information Administration." example:"4110"`
	Programs []string `json:"programs" maxItems:"100" itemsMinLength:"1" itemsMaxLength:"255" doc:"The names of the programs. An empty list means that there are no programs." example:"[\"Peak Time Savings\"]"`
	Base
}

// NewDemandResponse returns a DemandResponse without programs.
func NewDemandResponse() DemandResponse {
	return DemandResponse{Programs: []string{}, Base: Base{OrganizationID: Shared}}
}

// Ref names the programs by their utility.
func (d *DemandResponse) Ref() Ref { return utilityRef(KindDemandResponse, d.EIAID) }
