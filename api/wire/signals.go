package wire

import (
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
)

// PriceSignal is the price signal of a home. It documents the encoding of package
// pricing.
type PriceSignal struct {
	HomeID      string              `json:"homeId" example:"home_1"`
	StartTime   storage.Time        `json:"startTime"`
	EndTime     storage.Time        `json:"endTime" example:"2026-07-01T12:15:00.000Z"`
	Data        []PriceInterval     `json:"data" doc:"One element per quarter hour."`
	Prices      []float64           `json:"prices" doc:"The expected price of each interval, in $/kWh." example:"[0.1423]"`
	Export      []float64           `json:"export" doc:"The export price of each interval, in $/kWh." example:"[0.0712]"`
	Import      []float64           `json:"import" doc:"The import price of each interval, in $/kWh." example:"[0.1423]"`
	Metadata    PriceSignalMetadata `json:"metadata"`
	Explanation []PriceReason       `json:"explanation,omitempty" doc:"One element per element of data. Present if the request has explain."`
}

// PriceInterval is a quarter hour of a price signal.
type PriceInterval struct {
	StartTime  storage.Time `json:"startTime"`
	EndTime    storage.Time `json:"endTime" example:"2026-07-01T12:15:00.000Z"`
	Price      float64      `json:"price" doc:"The expected value of one kWh, in $/kWh." example:"0.1423"`
	Import     float64      `json:"import" doc:"The cost of one more imported kWh, in $/kWh." example:"0.1423"`
	Export     float64      `json:"export" doc:"The credit for one more exported kWh, in $/kWh." example:"0.0712"`
	Confidence float64      `json:"confidence" doc:"From 0 to 1: 1 for a published tariff in force." example:"1"`
}

// PriceSignalMetadata names the sources of the prices.
type PriceSignalMetadata struct {
	ExportCompensation ExportCompensation `json:"exportCompensation"`
	ImportSource       string             `json:"importSource" doc:"The tariff of the import prices." example:"Acme Electric: Residential Time of Use"`
	GeneratedAt        storage.Time       `json:"generatedAt"`
	Sequence           uint64             `json:"sequence" doc:"Rises with every change for the home." example:"1841"`
}

// ExportCompensation describes the compensation of exported energy.
type ExportCompensation struct {
	Type          pricing.CompensationType `json:"type" example:"NET_METERING"`
	Source        string                   `json:"source" example:"https://acme-electric.example/tariffs"`
	Description   string                   `json:"description" example:"Net metering: an exported kWh is credited at the import price of its interval."`
	RatePlanID    *string                  `json:"ratePlanId" example:"plan_1"`
	EffectiveFrom *pricing.Date            `json:"effectiveFrom" doc:"The first day of the tariff, and the last day in effectiveTo. null for no limit."`
	EffectiveTo   *pricing.Date            `json:"effectiveTo" example:"null"`
}

// PriceReason lists the components of an interval's prices.
type PriceReason struct {
	StartTime storage.Time `json:"startTime"`
	EndTime   storage.Time `json:"endTime"`
	pricing.Reason
}

// OpenADREvent is a price signal as an OpenADR 3.1 event.
type OpenADREvent struct {
	signals.OpenADRHead
	Targets []string `json:"targets" doc:"The home."`
	signals.OpenADRSeries
}
