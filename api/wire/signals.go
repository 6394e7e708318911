package wire

import (
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

// PriceSignal is the price signal of a home. It documents the encoding of package
// pricing.
type PriceSignal struct {
	HomeID      string              `json:"homeId" example:"home_1"`
	StartTime   storage.Time        `json:"startTime"`
	EndTime     storage.Time        `json:"endTime" example:"2026-07-01T12:15:00.000Z"`
	Data        []PriceInterval     `json:"data" doc:"One element for each quarter hour."`
	Prices      []float64           `json:"prices" doc:"The expected price of each interval, in $/kWh." example:"[0.1423]"`
	Export      []float64           `json:"export" doc:"The export price of each interval, in $/kWh." example:"[0.0712]"`
	Import      []float64           `json:"import" doc:"The import price of each interval, in $/kWh." example:"[0.1423]"`
	Metadata    PriceSignalMetadata `json:"metadata"`
	Explanation []PriceReason       `json:"explanation,omitempty" doc:"There where it was asked for, one element for each of data."`
}

// PriceInterval is a quarter hour of a price signal.
type PriceInterval struct {
	StartTime  storage.Time `json:"startTime"`
	EndTime    storage.Time `json:"endTime" example:"2026-07-01T12:15:00.000Z"`
	Price      float64      `json:"price" doc:"The expected value of one kWh, in $/kWh." example:"0.1423"`
	Import     float64      `json:"import" doc:"What one more kWh drawn costs, in $/kWh." example:"0.1423"`
	Export     float64      `json:"export" doc:"What one more kWh sent out earns, in $/kWh." example:"0.0712"`
	Confidence float64      `json:"confidence" doc:"From 0 to 1: 1 for a published tariff in force." example:"1"`
}

// PriceSignalMetadata names the sources of the prices.
type PriceSignalMetadata struct {
	ExportCompensation ExportCompensation `json:"exportCompensation"`
	ImportSource       string             `json:"importSource" doc:"The tariff that the import prices are of." example:"Acme Electric: Residential Time of Use"`
	GeneratedAt        storage.Time       `json:"generatedAt"`
	Sequence           uint64             `json:"sequence" doc:"Rises with every change for the home." example:"1841"`
}

// ExportCompensation describes the compensation of exported energy.
type ExportCompensation struct {
	Type          pricing.CompensationType `json:"type" example:"NET_METERING"`
	Source        string                   `json:"source" example:"https://acme-electric.example/tariffs"`
	Description   string                   `json:"description" example:"Net metering: an exported kWh is credited at the import price of its interval."`
	RatePlanID    *string                  `json:"ratePlanId" example:"plan_1"`
	EffectiveFrom *pricing.Date            `json:"effectiveFrom" doc:"effectiveFrom and effectiveTo are the first and the last day of the tariff, null where it has no such bound."`
	EffectiveTo   *pricing.Date            `json:"effectiveTo" example:"null"`
}

// PriceReason lists the components of an interval's prices.
type PriceReason struct {
	StartTime    storage.Time   `json:"startTime"`
	EndTime      storage.Time   `json:"endTime"`
	Tariff       string         `json:"tariff" doc:"The version of the rate plan in force."`
	Day          string         `json:"day" doc:"What the day is priced as: a weekday, a weekend or a holiday."`
	Calendar     string         `json:"calendar,omitempty" doc:"The rate plan's calendar of holidays, and when those at a weekend are observed; absent where it has none." example:"PG&E, observed on Monday for a Sunday and on Friday for a Saturday"`
	Period       string         `json:"period" doc:"The tariff's period of use."`
	Tier         string         `json:"tier,omitempty" doc:"The step of the period's price, with the usage that led to it; it is absent where there is but one."`
	Import       []pricing.Part `json:"import" doc:"The parts that add up to the import price."`
	Export       []pricing.Part `json:"export" doc:"The parts that add up to the export price."`
	ExportChance float64        `json:"exportChance" doc:"The probability that the home exports then."`
	Carbon       float64        `json:"carbon" doc:"The cost of what one kWh more emits, in $/kWh."`
	Price        float64        `json:"price" doc:"The expected price, in $/kWh." example:"0.1423"`
	Confidence   float64        `json:"confidence" example:"1"`
	Doubt        string         `json:"doubt,omitempty" doc:"doubt says why confidence is not full, and is absent where it is."`
}
