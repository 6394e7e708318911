package main

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/climate"
	"github.com/gridhook/gridhook/pricing/savings"
)

// set is the places and the tariffs of a run.
type set struct {
	places  []place
	tariffs []tariff
}

// sets are the runs by name. The band was set by tuning. Some of its weights were changed
// after a look at seen. heldOut was written down before its first run, and no weight was
// changed after it: see docs/savings.md.
var sets = map[string]set{
	"tuning": {
		[]place{
			{"Phoenix", 33.45, -112.07, "America/Phoenix"},
			{"Miami", 25.76, -80.19, "America/New_York"},
			{"Los Angeles", 34.05, -118.24, "America/Los_Angeles"},
			{"Baltimore", 39.29, -76.61, "America/New_York"},
			{"Chicago", 41.88, -87.63, "America/Chicago"},
			{"Duluth", 46.79, -92.10, "America/Chicago"},
			{"Seattle", 47.60, -122.33, "America/Los_Angeles"},
			{"Fresno", 36.74, -119.78, "America/Los_Angeles"},
		},
		[]tariff{
			{"PG&E E-ELEC", afternoon(0.55, 0.33, 0.32, 0.285)},
			{"SCE TOU-D-PRIME", afternoon(0.59, 0.27, 0.57, 0.246)},
			{"PECO R-TOU", func(_, weekend bool, hour int) float64 {
				switch {
				case hour < 6:
					return 0.156
				case hour >= 14 && hour < 18 && !weekend:
					return 0.42
				}
				return 0.176
			}},
		},
	},
	"seen": {
		[]place{
			{"Houston", 29.76, -95.37, "America/Chicago"},
			{"Las Vegas", 36.17, -115.14, "America/Los_Angeles"},
			{"Atlanta", 33.75, -84.39, "America/New_York"},
			{"Sacramento", 38.58, -121.49, "America/Los_Angeles"},
			{"New York", 40.71, -74.01, "America/New_York"},
			{"Denver", 39.74, -104.99, "America/Denver"},
			{"Detroit", 42.33, -83.05, "America/Detroit"},
			{"Minneapolis", 44.98, -93.27, "America/Chicago"},
		},
		[]tariff{
			{"winter mornings", func(summer, weekend bool, hour int) float64 {
				if !weekend && (!summer && hour >= 6 && hour < 10 || summer && hour >= 13 && hour < 19) {
					return 0.31
				}
				return 0.12
			}},
			{"cheap nights", func(_, _ bool, hour int) float64 {
				switch {
				case hour < 6:
					return 0.14
				case hour >= 16 && hour < 21:
					return 0.44
				}
				return 0.29
			}},
		},
	},
	heldOut: {
		[]place{
			{"Tampa", 27.95, -82.46, "America/New_York"},
			{"San Antonio", 29.42, -98.49, "America/Chicago"},
			{"Albuquerque", 35.08, -106.65, "America/Denver"},
			{"Nashville", 36.16, -86.78, "America/Chicago"},
			{"Kansas City", 39.10, -94.58, "America/Chicago"},
			{"Boise", 43.62, -116.20, "America/Boise"},
			{"Boston", 42.36, -71.06, "America/New_York"},
			{"Portland ME", 43.66, -70.26, "America/New_York"},
		},
		[]tariff{
			{"cheap middays", func(_, _ bool, hour int) float64 {
				switch {
				case hour >= 9 && hour < 15:
					return 0.13
				case hour >= 17 && hour < 21:
					return 0.38
				}
				return 0.22
			}},
			{"long peaks", func(summer, weekend bool, hour int) float64 {
				switch {
				case weekend || hour < 7 || hour >= 22:
					return 0.10
				case summer && hour >= 12:
					return 0.27
				}
				return 0.19
			}},
		},
	},
}

const heldOut = "held-out"

// afternoon returns prices with a peak from 16 to 21 o'clock.
func afternoon(summerPeak, summer, winterPeak, winter float64) func(bool, bool, int) float64 {
	return func(isSummer, _ bool, hour int) float64 {
		switch peak := hour >= 16 && hour < 21; {
		case isSummer && peak:
			return summerPeak
		case isSummer:
			return summer
		case peak:
			return winterPeak
		}
		return winter
	}
}

// coverage counts draws by position: in, below or above the band. A draw's value is its
// true savings over one month of each season.
type coverage struct{ below, in, above int }

func cover(p place, location *time.Location, tariffs []tariff, draws int, r *rand.Rand) (c coverage, err error) {
	in := savings.Input{
		HomeID: "home", Location: location, Today: pricing.Date{Year: 2026, Month: time.January, Day: 1},
		Request: savings.Request{Type: savings.Annual, Start: savings.Start{Month: new(1)}, Months: []int{1, 4, 7, 10}},
	}
	places := map[*climate.Year]*climate.Place{}
	for range draws {
		home, taken := stations(r, p)
		if places[home] == nil {
			places[home] = located(home)
		}
		device, t := drawDevice(r), &tariffs[r.IntN(len(tariffs))]
		in.Place, in.Weather, in.Devices = places[home], taken, []savings.Device{device}
		in.Prices = t.prices(location, 1, 1)
		estimated, err := savings.Estimate(in)
		if err != nil {
			return c, err
		}
		in.Weather, in.Devices = home, []savings.Device{truth(r, device)}
		in.Prices = t.prices(location, math.Exp(doubtLevel*r.NormFloat64()), math.Exp(doubtSpread*r.NormFloat64()))
		truly, err := savings.Estimate(in)
		if err != nil {
			return c, err
		}
		switch u := estimated.Uncertainty; {
		case truly.Savings < u.SavingsLow:
			c.below++
		case truly.Savings > u.SavingsHigh:
			c.above++
		default:
			c.in++
		}
	}
	return c, nil
}
