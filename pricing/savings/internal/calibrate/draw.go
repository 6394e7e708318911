package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/climate"
	"github.com/gridhook/gridhook/pricing/eligibility"
	"github.com/gridhook/gridhook/pricing/savings"
)

// place is a home's location and time zone.
type place struct {
	name     string
	lat, lon float64
	zone     string
}

// The uncertainties of an estimate, as standard deviations of the logarithm of the true
// value over the assumed value. Rates and coefficients come from a device's fit, the rest
// from defaults.
const (
	doubtTransfer   = 0.20
	doubtIrradiance = 0.30
	doubtRate       = 0.10
	doubtGains      = 0.40
	doubtCapacity   = 0.20
	doubtEfficiency = 0.12
	doubtLevel      = 0.05 // of prices
	doubtSpread     = 0.15 // of the distance of prices from their mean
)

// drawDevice draws a typical device with the values that its thermostat reports.
func drawDevice(r *rand.Rand) savings.Device {
	between := func(low, high float64) float64 { return low + (high-low)*r.Float64() }
	heat, cool := between(66, 70), between(73, 77)
	return savings.Device{
		ID: "dev", Units: savings.Fahrenheit,
		Settings:    savings.Settings{Mode: savings.Auto, Min: heat - between(2, 4), Heat: heat, Cool: cool, Max: cool + between(2, 4)},
		HeatingRate: between(4, 8), CoolingRate: between(4, 7),
		HeatTransferCoefficient: between(0.025, 0.06), IrradianceCoefficient: between(0.5, 1.5),
	}
}

// truth draws the true device behind the assumed device d.
func truth(r *rand.Rand, d savings.Device) savings.Device {
	off := func(doubt float64) float64 { return math.Exp(doubt * r.NormFloat64()) }
	d.HeatTransferCoefficient *= off(doubtTransfer)
	d.IrradianceCoefficient *= off(doubtIrradiance)
	d.HeatingRate *= off(doubtRate)
	d.CoolingRate *= off(doubtRate)
	e := &d.Equipment
	e.CapacityKw = 10.55 * off(doubtCapacity)
	e.InternalGainsKw = new(0.0845 * 10.55 * off(doubtGains))
	e.SEER2, e.HSPF2 = 14.3*off(doubtEfficiency), 7.5*off(doubtEfficiency)
	return d
}

// stations draws a home at one of the five stations nearest to a place. Its own weather
// is held out. taken is the station that replaces it: the least remote one, as in
// climate.Choose.
func stations(r *rand.Rand, p place) (home, taken *climate.Year) {
	all := slices.Clone(climate.All())
	far := func(y *climate.Year) float64 { return y.DistanceKm(p.lat, p.lon) }
	slices.SortFunc(all, func(a, b *climate.Year) int { return cmp.Compare(far(a), far(b)) })
	home = all[r.IntN(5)]
	here := climate.Place{Lat: home.Lat, Lon: home.Lon, Height: home.Elevation, HeightKnown: true}
	remote := func(y *climate.Year) float64 {
		c := here.At(y)
		c.HomeZone = home.Zone
		return c.Remoteness()
	}
	slices.SortFunc(all, func(a, b *climate.Year) int { return cmp.Compare(remote(a), remote(b)) })
	return home, all[1]
}

// zipcodes are the places of all zipcodes by state.
var zipcodes = sync.OnceValue(func() map[string][]climate.Place {
	all := map[string][]climate.Place{}
	for code := range 100_000 {
		if p, ok := eligibility.Locate(fmt.Sprintf("%05d", code)); ok {
			all[p.State] = append(all[p.State], p.Place)
		}
	}
	return all
})

// located returns the place of a home at a station. The zipcode nearest to the station
// names its county, which determines the climate zone.
func located(y *climate.Year) *climate.Place {
	at := slices.MinFunc(zipcodes()[y.State], func(a, b climate.Place) int {
		return cmp.Compare(y.DistanceKm(a.Lat, a.Lon), y.DistanceKm(b.Lat, b.Lon))
	})
	at.Lat, at.Lon = y.Lat, y.Lon
	return &at
}

// tariff is a time-of-use rate by local hour, on working days and other days.
type tariff struct {
	name  string
	price func(summer, weekend bool, hour int) float64
}

// prices returns the tariff's prices with a changed level and spread.
func (t *tariff) prices(location *time.Location, level, spread float64) func(pricing.Window) ([]float64, error) {
	return func(w pricing.Window) ([]float64, error) {
		all, sum := make([]float64, w.Len()), 0.0
		for i := range all {
			local := w.At(i).In(location)
			m, d := local.Month(), local.Weekday()
			all[i] = t.price(m >= time.June && m <= time.September, d == time.Saturday || d == time.Sunday, local.Hour())
			sum += all[i]
		}
		mean := sum / float64(len(all))
		for i := range all {
			all[i] = level * max(0.01, mean+spread*(all[i]-mean))
		}
		return all, nil
	}
}
