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
	StartTime    storage.Time         `json:"startTime"`
	EndTime      storage.Time         `json:"endTime"`
	Tariff       string               `json:"tariff" doc:"The version of the rate plan in force."`
	Day          string               `json:"day" doc:"The kind of day: a weekday, a weekend or a holiday."`
	Calendar     string               `json:"calendar,omitempty" doc:"The rate plan's holiday calendar, and when a holiday at a weekend is observed. Absent if the plan has no calendar." example:"PG&E, observed on Monday for a Sunday and on Friday for a Saturday"`
	Period       string               `json:"period" doc:"The tariff's period of use."`
	Tier         string               `json:"tier,omitempty" doc:"The tier of the price, with the usage that led to it. Absent if the period has one tier."`
	Import       []pricing.Part       `json:"import" doc:"The components of the import price."`
	Export       []pricing.Part       `json:"export" doc:"The components of the export price."`
	Parts        []pricing.PartReason `json:"parts,omitempty" doc:"A section for each part of a composed rate plan, with its subtotals. import and export then have one element per part. Absent for a plan with a tariff."`
	ExportChance float64              `json:"exportChance" doc:"The probability that the home exports in the interval."`
	Measured     bool                 `json:"measured,omitempty" doc:"Whether exportChance is from the home's measured load."`
	Carbon       float64              `json:"carbon" doc:"The cost of the emissions of one more kWh, in $/kWh."`
	Price        float64              `json:"price" doc:"The expected price, in $/kWh." example:"0.1423"`
	Confidence   float64              `json:"confidence" example:"1"`
	Doubt        string               `json:"doubt,omitempty" doc:"Why confidence is below 1. Absent if it is 1."`
}
