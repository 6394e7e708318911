package api

import (
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

// PriceReason says what the prices of one interval are made of.
type PriceReason struct {
	StartTime storage.Time `json:"startTime"`
	EndTime   storage.Time `json:"endTime"`
	// Tariff is the version of the rate plan in force.
	Tariff string `json:"tariff"`
	// Day is what the day is priced as: a weekday, a weekend or a holiday.
	Day string `json:"day"`
	// Period is the tariff's period of use.
	Period string `json:"period"`
	// Tier is the step of the period's price, with the usage that led to it; it is
	// absent where there is but one.
	Tier string `json:"tier,omitempty"`
	// Import are the parts that add up to the import price.
	Import []PricePart `json:"import"`
	// Export are the parts that add up to the export price.
	Export []PricePart `json:"export"`
	// ExportChance is the probability that the home exports then.
	ExportChance float64 `json:"exportChance"`
	// Carbon is the cost of what one kWh more emits, in $/kWh.
	Carbon float64 `json:"carbon"`
	// Price is the expected price, in $/kWh.
	Price      float64 `json:"price"`
	Confidence float64 `json:"confidence"`
	// Doubt says why confidence is not full, and is absent where it is.
	Doubt string `json:"doubt,omitempty"`
}

// PricePart is one of the amounts that add up to a price.
type PricePart struct {
	Kind pricing.PartKind `json:"kind"`
	Name string           `json:"name"`
	// Rate is the amount, in $/kWh.
	Rate float64 `json:"rate"`
}

// explain shows the reasons of a signal.
func explain(reasons []pricing.Reason) []PriceReason {
	shown := make([]PriceReason, len(reasons))
	for i, r := range reasons {
		shown[i] = PriceReason{
			StartTime: storage.Time{Time: r.Start}, EndTime: storage.Time{Time: r.Start.Add(pricing.Interval)},
			Tariff: r.Tariff, Day: r.Day, Period: r.Period, Tier: r.Tier, Import: priceParts(r.Import), Export: priceParts(r.Export),
			ExportChance: r.ExportChance, Carbon: r.Carbon, Price: r.Price, Confidence: r.Confidence, Doubt: r.Doubt,
		}
	}
	return shown
}

func priceParts(parts []pricing.Part) []PricePart {
	shown := make([]PricePart, len(parts))
	for i, p := range parts {
		shown[i] = PricePart(p)
	}
	return shown
}
