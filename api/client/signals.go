package client

import (
	"context"
	"encoding/json"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

// Signal is a home's price signal. Rates are in $/kWh.
type Signal struct {
	HomeID    string       `json:"homeId"`
	StartTime storage.Time `json:"startTime"`
	EndTime   storage.Time `json:"endTime"`
	// Data has one item per quarter of an hour; Prices, Export and Import repeat
	// their values.
	Data     []Interval     `json:"data"`
	Prices   []float64      `json:"prices"`
	Export   []float64      `json:"export"`
	Import   []float64      `json:"import"`
	Metadata SignalMetadata `json:"metadata"`
	// Explanation is there where it was asked for, one reason for each interval.
	Explanation []Reason `json:"explanation,omitempty"`
}

// Reason says what the prices of an interval are made of. The parts add up to the
// prices.
type Reason struct {
	StartTime storage.Time `json:"startTime"`
	EndTime   storage.Time `json:"endTime"`
	// Tariff is the version in force, Day what the day is priced as, Tier empty
	// where a period has but one.
	Tariff string         `json:"tariff"`
	Day    string         `json:"day"`
	Period string         `json:"period"`
	Tier   string         `json:"tier,omitempty"`
	Import []pricing.Part `json:"import"`
	Export []pricing.Part `json:"export"`
	// ExportChance is the probability that the home exports then.
	ExportChance float64 `json:"exportChance"`
	Carbon       float64 `json:"carbon"`
	Price        float64 `json:"price"`
	Confidence   float64 `json:"confidence"`
	Doubt        string  `json:"doubt,omitempty"`
}

// Interval is a quarter of an hour of a signal.
type Interval struct {
	StartTime storage.Time `json:"startTime"`
	EndTime   storage.Time `json:"endTime"`
	Price     float64      `json:"price"`
	Import    float64      `json:"import"`
	Export    float64      `json:"export"`
	// Confidence is 1 for a published tariff in force, and less for a forecast.
	Confidence float64 `json:"confidence"`
}

// SignalMetadata says where a signal's figures are from.
type SignalMetadata struct {
	ExportCompensation ExportCompensation `json:"exportCompensation"`
	ImportSource       string             `json:"importSource"`
	GeneratedAt        storage.Time       `json:"generatedAt"`
	// Sequence rises with every change for the home.
	Sequence uint64 `json:"sequence"`
}

// ExportCompensation says what energy sent out is paid by.
type ExportCompensation struct {
	Type        pricing.CompensationType `json:"type"`
	Source      string                   `json:"source"`
	Description string                   `json:"description"`
	RatePlanID  *string                  `json:"ratePlanId"`
	// EffectiveFrom and EffectiveTo are nil where the tariff has no such bound.
	EffectiveFrom *pricing.Date `json:"effectiveFrom"`
	EffectiveTo   *pricing.Date `json:"effectiveTo"`
}

// Window is what a signal shall cover: both times, or neither for the next 24
// hours.
type Window struct {
	StartTime *storage.Time `json:"startTime,omitempty"`
	EndTime   *storage.Time `json:"endTime,omitempty"`
}

// signalRequest asks for a signal.
type signalRequest struct {
	Window
	Explain bool                 `json:"explain,omitempty"`
	Format  storage.SignalFormat `json:"format,omitempty"`
}

// ExplainedSignal prices a home, and says what each price is made of.
func (c *Client) ExplainedSignal(ctx context.Context, homeID string, w Window) (Signal, error) {
	return call[Signal](ctx, c, "/v1/homes/"+segment(homeID)+"/price_signal", signalRequest{Window: w, Explain: true})
}

// OpenADRSignal prices a home, as a list of one event of OpenADR 3.
func (c *Client) OpenADRSignal(ctx context.Context, homeID string, w Window) (json.RawMessage, error) {
	return call[json.RawMessage](ctx, c, "/v1/homes/"+segment(homeID)+"/price_signal", signalRequest{Window: w, Format: storage.FormatOpenADR3})
}

// PriceSignal prices a home.
func (c *Client) PriceSignal(ctx context.Context, homeID string, w Window) (Signal, error) {
	return call[Signal](ctx, c, "/v1/homes/"+segment(homeID)+"/price_signal", w)
}
