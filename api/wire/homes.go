package wire

import (
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/eligibility"
	"github.com/gridhook/gridhook/storage"
)

// OwnedHome is a home with its organization.
type OwnedHome struct {
	OrganizationID string `json:"organizationId" pattern:"id" example:"acme"`
	storage.Home
}

// HomeDetails is a home with the months of its measured load.
type HomeDetails struct {
	OwnedHome
	MeasuredMonths []storage.MeasuredMonth `json:"measuredMonths,omitempty" doc:"The metered energy by month. Absent if the home has no measured load."`
}

// NamedOrganization returns the organization.
func (h *OwnedHome) NamedOrganization() string { return h.OrganizationID }

// Eligibility lists the supported features in a zipcode.
type Eligibility struct {
	eligibility.Result
	NetMetering pricing.Regime `json:"netMetering" doc:"The net-metering regime of a solar system that is applied for today at the zipcode's main utility."`
}
