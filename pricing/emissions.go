package pricing

import (
	"time"

	"github.com/gridhook/gridhook/pricing/carbon"
	"github.com/gridhook/gridhook/pricing/market"
)

// MarginalEmissions returns the emissions of one more kWh in a quarter hour, in lb CO2. at is
// its start in Unix seconds, month and hour its local time. The emissions are the published
// ones, or else the mean of the region's hour over the month. series may be nil.
func MarginalEmissions(region *carbon.Region, series *market.Series, at int64, month time.Month, hour int) (rate float64, published bool) {
	if kg, ok := series.Published(at); ok {
		return kg / market.KgPerPound, true
	}
	return region.Rate(month, hour), false
}
