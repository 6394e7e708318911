package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/climate"
	"github.com/gridhook/gridhook/pricing/savings"
)

// published are full-load hours of cooling and heating in public programs.
var published = []struct {
	place
	cooling, heating float64
	source           string
}{
	{place{"McAllen TX", 26.18, -98.24, "America/Chicago"}, 2958, 776, "ENERGY STAR, through Texas TRM"},
	{place{"Houston TX", 29.98, -95.36, "America/Chicago"}, 2209, 1127, "ENERGY STAR, through Texas TRM"},
	{place{"Fort Worth TX", 32.82, -97.05, "America/Chicago"}, 1926, 1343, "ENERGY STAR, through Texas TRM"},
	{place{"El Paso TX", 31.77, -106.50, "America/Denver"}, 1524, 1559, "ENERGY STAR, through Texas TRM"},
	{place{"Amarillo TX", 35.22, -101.72, "America/Chicago"}, 1142, 1880, "ENERGY STAR, through Texas TRM"},
	{place{"Chicago IL", 41.98, -87.92, "America/Chicago"}, 570, 1840, "Illinois TRM"},
	{place{"Rockford IL", 42.20, -89.09, "America/Chicago"}, 512, 1969, "Illinois TRM"},
	{place{"Philadelphia PA", 39.87, -75.23, "America/New_York"}, 591, 1060, "Pennsylvania TRM"},
	{place{"Pittsburgh PA", 40.50, -80.22, "America/New_York"}, 432, 1209, "Pennsylvania TRM"},
	{place{"Erie PA", 42.08, -80.18, "America/New_York"}, 389, 1349, "Pennsylvania TRM"},
}

// The reference house of about 2,000 ft2.
const (
	lossKw       = 0.20 // kW per degree Celsius
	storedKwh    = 5.0  // kWh per degree Celsius
	aperture     = 4.0  // kW of sun in 1 kW/m2
	gainsKw      = 0.95 // IECC: 2,000 ft2 and three bedrooms
	coolOversize = 1.15
	heatOversize = 1.40
	sensible     = 0.75
	holdHeat     = 70.0 // F
	holdCool     = 75.0
)

// referenceDevice returns a device sized for the first and last percentile of a typical
// year's temperatures. Heating is by gas, so that its full-load hours are hours of
// output.
func referenceDevice(y *climate.Year) (d savings.Device, furnaceKw float64) {
	var all []float64
	for hour := range climate.Hours {
		all = append(all, y.Hour(hour).Temperature)
	}
	slices.Sort(all)
	cold, hot := all[len(all)/100], all[len(all)*99/100]
	const indoors, midday = 23.9, 0.7 // C, kW/m2
	coolKw := coolOversize * (lossKw*(hot-indoors) + aperture*midday + gainsKw) / sensible
	furnaceKw = heatOversize * lossKw * (21.1 - cold)
	gains := gainsKw
	return savings.Device{
		ID: "dev", Units: savings.Fahrenheit,
		Settings:                savings.Settings{Mode: savings.Auto, Min: 55, Heat: holdHeat, Cool: holdCool, Max: 90},
		HeatTransferCoefficient: lossKw / storedKwh, IrradianceCoefficient: aperture / storedKwh * 1.8,
		CoolingRate: coolKw * sensible / storedKwh * 1.8, HeatingRate: furnaceKw / storedKwh * 1.8,
		Equipment: savings.Equipment{HeatSource: savings.GasFurnace, CapacityKw: coolKw, InternalGainsKw: &gains},
	}, furnaceKw
}

// printReference prints the full-load hours of the reference house, and its savings from
// setbacks.
func printReference(out io.Writer) error {
	fmt.Fprintf(out, "| place | cooling h | published | ratio | heating h | published | ratio | source |\n|---|---|---|---|---|---|---|---|\n") //nolint:errcheck // a terminal
	for i := range published {
		p := &published[i]
		r, err := newReference(p.place)
		if err != nil {
			return err
		}
		cool, heat, err := r.energy(savings.Shift, nil)
		if err != nil {
			return err
		}
		coolHours := cool.BaselineKwh / (r.device.Equipment.CapacityKw / (11.41 / 3.412)) // of SEER2 14.3, rated at 95 F
		heatHours := heat.Gas.BaselineTherms * 0.8 * 29.3 / r.furnaceKw
		fmt.Fprintf(out, "| %s | %.0f | %.0f | %.2f | %.0f | %.0f | %.2f | %s |\n", p.name, //nolint:errcheck // a terminal
			coolHours, p.cooling, coolHours/p.cooling, heatHours, p.heating, heatHours/p.heating, p.source)
	}
	fmt.Fprintf(out, "\n| place | heating saved | cooling saved | both, against 72 F |\n|---|---|---|---|\n") //nolint:errcheck // a terminal
	for i := range published {
		r, err := newReference(published[i].place)
		if err != nil {
			return err
		}
		cool, heat, err := r.energy(savings.Setback, nil)
		if err != nil {
			return err
		}
		hold := 72.0
		coolHeld, heatHeld, err := r.energy(savings.Setback, &hold)
		if err != nil {
			return err
		}
		both := (coolHeld.Savings + heatHeld.Savings) / (coolHeld.BaselineCost + heatHeld.BaselineCost)
		fmt.Fprintf(out, "| %s | %.0f %% | %.0f %% | %.0f %% |\n", published[i].name, heat.SavingsPercent, cool.SavingsPercent, 100*both) //nolint:errcheck // a terminal
	}
	return nil
}

type reference struct {
	in        savings.Input
	device    savings.Device
	furnaceKw float64
}

func newReference(p place) (*reference, error) {
	location, err := time.LoadLocation(p.zone)
	if err != nil {
		return nil, err
	}
	where := &savings.Place{Lat: p.lat, Lon: p.lon}
	r := &reference{in: savings.Input{HomeID: "home", Place: where, Location: location, Today: pricing.Date{Year: 2026, Month: time.January, Day: 1}}}
	r.device, r.furnaceKw = referenceDevice(climate.Choose(*where).Year)
	r.in.Prices = func(w pricing.Window) ([]float64, error) {
		return slices.Repeat([]float64{0.16}, w.Len()), nil
	}
	return r, nil
}

// energy estimates cooling alone and heating alone, with the same price at all hours.
func (r *reference) energy(what savings.Comparison, hold *float64) (cool, heat *savings.Result, err error) {
	january := 1
	r.in.Devices = []savings.Device{r.device}
	for mode, result := range map[savings.Mode]**savings.Result{savings.Cool: &cool, savings.Heat: &heat} {
		r.in.Request = savings.Request{
			Type: savings.Annual, Start: savings.Start{Month: &january}, Comparison: what, Mode: &mode, TargetTemp: hold,
		}
		if *result, err = savings.Estimate(r.in); err != nil {
			return nil, nil, err
		}
	}
	return cool, heat, nil
}
