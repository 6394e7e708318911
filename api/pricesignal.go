package api

import (
	"reflect"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

// windowInput asks for a window.
type windowInput struct {
	// StartTime and EndTime are given together or not at all: then it is the
	// 24 hours from the start of the current quarter hour.
	StartTime storage.Time `json:"startTime" null:"no"`
	EndTime   storage.Time `json:"endTime" null:"no"`

	window pricing.Window
}

func (in *windowInput) check(_ *server, c *call, p *problems) {
	in.window = resolveWindow(in.StartTime, in.EndTime, c.now, p)
}

// PriceSignal is the price signal of a home. It documents what package pricing
// encodes.
type PriceSignal struct {
	HomeID    string       `json:"homeId"`
	StartTime storage.Time `json:"startTime"`
	EndTime   storage.Time `json:"endTime"`
	// Data has one element for each quarter hour.
	Data []PriceInterval `json:"data"`
	// Prices, Export and Import repeat the values of Data, in $/kWh.
	Prices   []float64           `json:"prices"`
	Export   []float64           `json:"export"`
	Import   []float64           `json:"import"`
	Metadata PriceSignalMetadata `json:"metadata"`
	// Explanation is there where it was asked for, one element for each of Data.
	Explanation []PriceReason `json:"explanation,omitempty"`
}

// PriceInterval is a quarter hour of a price signal.
type PriceInterval struct {
	StartTime storage.Time `json:"startTime"`
	EndTime   storage.Time `json:"endTime"`
	// Price is the expected value of one kWh, in $/kWh.
	Price float64 `json:"price"`
	// Import is what one more kWh drawn costs, in $/kWh.
	Import float64 `json:"import"`
	// Export is what one more kWh sent out earns, in $/kWh.
	Export float64 `json:"export"`
	// Confidence is from 0 to 1: 1 for a published tariff in force.
	Confidence float64 `json:"confidence"`
}

// PriceSignalMetadata says where the prices come from.
type PriceSignalMetadata struct {
	ExportCompensation ExportCompensation `json:"exportCompensation"`
	ImportSource       string             `json:"importSource"`
	GeneratedAt        storage.Time       `json:"generatedAt"`
	// Sequence rises with every change for the home.
	Sequence uint64 `json:"sequence"`
}

// ExportCompensation says how exported energy is paid.
type ExportCompensation struct {
	Type        pricing.CompensationType `json:"type"`
	Source      string                   `json:"source"`
	Description string                   `json:"description"`
	RatePlanID  *string                  `json:"ratePlanId"`
	// EffectiveFrom and EffectiveTo are the first and the last day of the
	// tariff, null where it has no such bound.
	EffectiveFrom *pricing.Date `json:"effectiveFrom"`
	EffectiveTo   *pricing.Date `json:"effectiveTo"`
}

// ready appends a T as JSON.
type ready[T any] func(to []byte) []byte

func (r ready[T]) appendTo(b []byte) []byte { return r(b) }
func (r ready[T]) documented() reflect.Type { return reflect.TypeFor[T]() }
