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

// HomeDetails is a home with its solar and the months of its measured load.
type HomeDetails struct {
	OwnedHome
	Solar          *HomeSolar              `json:"solar,omitempty" doc:"The home's solar system, as the operation createSolar or an import has stored it. Absent if the home has none."`
	MeasuredMonths []storage.MeasuredMonth `json:"measuredMonths,omitempty" doc:"The metered energy by month. Absent if the home has no measured load."`
}

// HomeSolar is the solar system of a home, without the home's identifier.
type HomeSolar struct {
	SizeKw        float64 `json:"solarSystemSizeKw" doc:"The system's size in kW."`
	NonNetMetered bool    `json:"isNonNetMetered" doc:"Whether exported energy never earns the retail rate."`
	storage.SolarSettings
}

// NamedOrganization returns the organization.
func (h *OwnedHome) NamedOrganization() string { return h.OrganizationID }

// Eligibility lists the supported features in a zipcode.
type Eligibility struct {
	eligibility.Result
	NetMetering pricing.Regime `json:"netMetering" doc:"The net-metering regime of a solar system that is applied for today at the zipcode's main utility."`
}
