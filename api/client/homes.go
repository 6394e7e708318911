package client

import (
	"context"
	"encoding/json"

	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/pricing/bill"
	"github.com/gridhook/gridhook/pricing/savings"
	"github.com/gridhook/gridhook/storage"
)

// Home is a home of an organization.
type Home = wire.OwnedHome

// HomeDetails is a home with its solar and the months of its measured load.
type HomeDetails = wire.HomeDetails

// NewHome has the fields of a new home. Only OrganizationID is required. A home without a
// rate plan has no prices.
type NewHome struct {
	OrganizationID string `json:"organizationId"`
	ID             string `json:"id,omitempty"`
	Name           string `json:"name,omitempty"`
	UserID         string `json:"userId,omitempty"`
	UtilityID      string `json:"UtilityId,omitempty"`
	RatePlanID     string `json:"ratePlanId,omitempty"`
	// Timezone is an IANA name such as America/Chicago.
	Timezone            string  `json:"timezone,omitempty"`
	Country             string  `json:"country,omitempty"`
	City                string  `json:"city,omitempty"`
	Zipcode             string  `json:"zipcode,omitempty"`
	StreetAddress       string  `json:"streetAddress,omitempty"`
	UnstructuredAddress *string `json:"unstructuredAddress,omitempty"`
	MeterID             *string `json:"meterId,omitempty"`
	MeterIDSource       *string `json:"meterIdSource,omitempty"`
	ChannelPartnerID    *string `json:"channelPartnerId,omitempty"`
	// Enabled is true by default, EnergyMarketBiddingEnabled false.
	Enabled                    *bool `json:"enabled,omitempty"`
	EnergyMarketBiddingEnabled *bool `json:"energyMarketBiddingEnabled,omitempty"`
	// CarbonSignalIntensity defaults to LOW.
	CarbonSignalIntensity storage.CarbonSignalIntensity `json:"carbonSignalIntensity,omitempty"`
}

// CreateHome creates a home. Operator only.
func (c *Client) CreateHome(ctx context.Context, h NewHome) (Home, error) {
	return Call[Home](ctx, c, "/v1/admin/homes/create", h)
}

// Homes lists an organization's homes. Operator only.
func (c *Client) Homes(ctx context.Context, organization string, p Page) (items []Home, next string, err error) {
	return List[Home](ctx, c, "/v1/admin/homes/list", ofOrganization{organization, p})
}

// HomesOn lists an organization's homes on a rate plan. Operator only.
func (c *Client) HomesOn(ctx context.Context, organization, ratePlanID string, p Page) (items []Home, next string, err error) {
	return List[Home](ctx, c, "/v1/admin/homes/list", wire.ListHomesInput{
		OrganizationPageInput: wire.OrganizationPageInput{OrganizationIDInput: wire.OrganizationIDInput{OrganizationID: organization}, PageInput: p},
		HomesFilter:           wire.HomesFilter{RatePlanID: ratePlanID},
	})
}

// OwnHomes lists the homes of the client's organization that a filter selects.
func (c *Client) OwnHomes(ctx context.Context, filter wire.HomesFilter, p Page) (items []Home, next string, err error) {
	return List[Home](ctx, c, "/v1/homes/list", wire.HomesInput{PageInput: p, HomesFilter: filter})
}

// OwnHome reads one home of the client's organization.
func (c *Client) OwnHome(ctx context.Context, id string) (HomeDetails, error) {
	return Call[HomeDetails](ctx, c, at("/v1/homes/{id}/get", id), nothing)
}

// GetHome reads one home. Operator only.
func (c *Client) GetHome(ctx context.Context, organization, id string) (HomeDetails, error) {
	return Call[HomeDetails](ctx, c, at("/v1/admin/homes/{id}/get", id), ofOrganization{OrganizationID: organization})
}

// UpdateHome changes the fields of a home that have a value. Operator only.
func (c *Client) UpdateHome(ctx context.Context, id string, h NewHome) (Home, error) {
	return Call[Home](ctx, c, at("/v1/admin/homes/{id}/update", id), h)
}

// DeleteHome removes a home. Operator only.
func (c *Client) DeleteHome(ctx context.Context, organization, id string) error {
	_, err := Call[struct{}](ctx, c, at("/v1/admin/homes/{id}/delete", id), ofOrganization{OrganizationID: organization})
	return err
}

// BillRequest selects the rate plan and the period of a bill.
type BillRequest = wire.BillInput

// Bill calculates a home's bill for a metered period or a typical year.
func (c *Client) Bill(ctx context.Context, homeID string, b BillRequest) (bill.Bill, error) {
	return Call[bill.Bill](ctx, c, at("/v1/homes/{id}/bill", homeID), b)
}

// SavingsRequest selects the period and the settings of a savings estimate.
type SavingsRequest = wire.SavingsInput

// SavingsStart is a month or a date. A month means the next such month that has not
// ended.
type SavingsStart = savings.Start

// EstimateSavings estimates the savings from optimizing a home's heating and cooling.
func (c *Client) EstimateSavings(ctx context.Context, homeID string, s SavingsRequest) (savings.Result, error) {
	return Call[savings.Result](ctx, c, at("/v1/homes/{id}/hvac/estimate_savings", homeID), s)
}

// Solar describes the solar system of a home.
type Solar = wire.SolarInput

// CreateSolar registers the solar system of a home and returns the home. It replaces an
// earlier registration.
func (c *Client) CreateSolar(ctx context.Context, s Solar) (storage.Home, error) {
	return Call[storage.Home](ctx, c, "/v1/homes/solar/create", s, s.IdempotencyKey)
}

// Signal is a home's price signal. Rates are in $/kWh.
type Signal = wire.PriceSignal

// Reason lists the components of an interval's prices. The components add up to the
// prices.
type Reason = wire.PriceReason

// Interval is a quarter hour of a signal.
type Interval = wire.PriceInterval

// SignalMetadata names the sources of a signal's prices.
type SignalMetadata = wire.PriceSignalMetadata

// ExportCompensation describes the compensation of exported energy.
type ExportCompensation = wire.ExportCompensation

// Window is the time that a signal covers. Set both times, or neither for the next 24
// hours.
type Window = wire.Window

// ExplainedSignal returns a home's price signal with the components of each price.
func (c *Client) ExplainedSignal(ctx context.Context, homeID string, w Window) (Signal, error) {
	return Call[Signal](ctx, c, at("/v1/homes/{id}/price_signal", homeID), wire.PriceSignalInput{Window: w, Explain: true})
}

// OpenADRSignal returns a home's price signal as a list with one OpenADR 3 event.
func (c *Client) OpenADRSignal(ctx context.Context, homeID string, w Window) (json.RawMessage, error) {
	return Call[json.RawMessage](ctx, c, at("/v1/homes/{id}/price_signal", homeID), wire.PriceSignalInput{Window: w, Format: storage.FormatOpenADR3})
}

// PriceSignal returns a home's price signal.
func (c *Client) PriceSignal(ctx context.Context, homeID string, w Window) (Signal, error) {
	return Call[Signal](ctx, c, at("/v1/homes/{id}/price_signal", homeID), w)
}
