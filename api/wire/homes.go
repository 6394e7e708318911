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

// Eligibility lists the supported features in a zipcode.
type Eligibility struct {
	eligibility.Result
	NetMetering pricing.Regime `json:"netMetering" doc:"The regime of solar that is applied for today at the zipcode's main utility."`
}
