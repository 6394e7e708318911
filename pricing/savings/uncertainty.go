package savings

import (
	"math"
	"slices"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/climate"
)

// Uncertainty is a band that contains the true savings in four of five cases.
// docs/savings.md describes its calibration.
type Uncertainty struct {
	SavingsLow  float64 `json:"savingsLow" doc:"In dollars: one case in ten is below." example:"4.9"`
	SavingsHigh float64 `json:"savingsHigh" doc:"In dollars: one case in ten is above." example:"9.3"`
	Basis       string  `json:"basis" doc:"How the band is made."`
}

const uncertaintyBasis = "contains four of five cases. It combines the errors of heat loss, sun, internal gains and weather, as they affect this home, " +
	"with the errors of capacity, efficiency and prices. It was checked on other weather stations, houses and tariffs"

// The uncertainties of an estimate, as standard deviations of the logarithm. The tuning
// draws of internal/calibrate set these values. Its own uncertainties are larger where
// errors cancel.
const (
	doubtTransfer   = 0.16
	doubtIrradiance = 0.24
	doubtGains      = 0.22
	doubtWeather    = 2.25 // degrees Celsius, times the error of the station's degree days
	doubtHeight     = 4.9  // degrees Celsius per km of difference in height between nearby stations
	doubtPrices     = 0.16 // level and spread of prices, and the rates of the device
	doubtEquipment  = 0.18 // capacity and efficiency, if either is assumed
	maxDoubt        = 1.5
	eighty          = 1.2816 // standard deviations that hold four of five cases
)

// doubts returns the houses that differ from x by one standard deviation in one respect.
func (x *house) doubts(warmer float64) []house {
	leaky, sunny, busy, warm := *x, *x, *x, *x
	leaky.h *= math.Exp(doubtTransfer)
	leaky.a = math.Exp(-leaky.h * stepHours)
	sunny.s *= math.Exp(doubtIrradiance)
	busy.g *= math.Exp(doubtGains)
	warm.warmer = warmer
	return []house{leaky, sunny, busy, warm}
}

// weatherDoubt returns the uncertainty of the home's temperature against its station, in
// degrees Celsius. It depends on the station's distance, zone and height, and on the
// spread in height of the stations within 100 km.
func weatherDoubt(c *climate.Choice) float64 {
	const near = 100 // km
	n, sum, squares := 0.0, 0.0, 0.0
	for _, y := range climate.All() {
		if y.DistanceKm(c.Lat, c.Lon) <= near {
			km := y.Elevation / 1000
			n, sum, squares = n+1, sum+km, squares+km*km
		}
	}
	relief := 0.0
	if n > 1 {
		relief = max(0, squares/n-sum*sum/n/n)
	}
	return math.Sqrt(math.Pow(doubtWeather*c.Error(), 2) + doubtHeight*doubtHeight*relief)
}

// addDoubts adds the effect of each uncertainty on the savings of a device, by month. It
// assumes that the savings of a shift are proportional to the cost.
func (e *estimate) addDoubts(d *deviceEstimate, b *baseline, r run, saved []float64) error {
	before, other := b.costs(r), newBaseline(b.conditions)
	for i, x := range d.house.doubts(e.warmer) {
		after := other.hold(&x, d.timetable).costs(r)
		var followed []float64
		if d.followed != nil {
			followed = other.hold(&x, d.followed).costs(r)
		}
		for m := range after {
			switch {
			case followed != nil:
				e.doubts[i] += after[m] - followed[m] - saved[m]
			case before[m] > 0:
				e.doubts[i] += saved[m] * (after[m]/before[m] - 1)
			}
		}
		if err := e.in.Rest(); err != nil {
			return err
		}
	}
	return nil
}

// uncertainty returns the band around the savings.
func (e *estimate) uncertainty(savings float64) Uncertainty {
	size := math.Abs(savings)
	variance := doubtPrices * doubtPrices
	if slices.ContainsFunc(e.devices, func(d deviceEstimate) bool { return d.device.Equipment.assumed(d.device) }) {
		variance += doubtEquipment * doubtEquipment
	}
	for _, change := range e.doubts {
		if size > 0 {
			variance += change * change / (size * size)
		}
	}
	doubt := min(maxDoubt, math.Sqrt(variance))
	return Uncertainty{
		SavingsLow:  pricing.Hundredths(savings - size*(1-math.Exp(-eighty*doubt))),
		SavingsHigh: pricing.Hundredths(savings + size*(math.Exp(eighty*doubt)-1)),
		Basis:       uncertaintyBasis,
	}
}
