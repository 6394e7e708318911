package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/climate"
	"github.com/gridhook/gridhook/pricing/savings"
)

// publishedHouse has the inputs and the results of a simulated year, in MBtu.
type publishedHouse struct {
	place
	design, at            float64 // Btu/h of heat that the house loses at a temperature in F, without ducts and slab
	sun, gains            float64 // through windows; of people, lights and appliances
	gas                   float64 // of the furnace
	heat, heatLost        float64 // delivered to the ducts, and lost from them
	power                 float64 // of the air conditioner with its fan; 0 if not simulated
	cold, coldLost, aired float64 // as of heat, and removed by opened windows
}

// published are the houses that the tests of OpenStudio-HPXML simulate with EnergyPlus:
// base-location-*, and base in Denver, in results_simulations1_*.csv and
// results_simulations2_*.csv of workflow/tests/base_results. Colorado Springs is case
// L100AC of ASHRAE 140 in results_ashrae_140.csv, which gives the heat delivered alone.
// Its gas is at AFUE 0.92. Its loss is from the areas and R-values of the case, and its sun
// is Denver's by area, SHGC and shading of the windows.
var published = []publishedHouse{
	{place{"Miami FL", 25.82, -80.30, "America/New_York"}, 4278, 51.62, 19.646, 14.787, 0, 0, 0, 14.811, 44.339, 0.846, 2.841},
	{place{"Honolulu HI", 21.32, -157.93, "Pacific/Honolulu"}, 1536, 63.32, 20.458, 14.792, 0, 0, 0, 15.706, 47.760, 0.914, 2.061},
	{place{"Phoenix AZ", 33.45, -111.98, "America/Phoenix"}, 6696, 41.36, 26.066, 14.776, 0.003, 0.003, 0, 18.293, 52.864, 1.119, 3.212},
	{place{"Dallas TX", 32.90, -97.02, "America/Chicago"}, 10485, 25.88, 22.171, 14.735, 2.008, 1.878, 0.051, 10.773, 30.590, 0.470, 2.347},
	{place{"Baltimore MD", 39.17, -76.68, "America/New_York"}, 13846, 17.24, 20.558, 14.087, 9.975, 9.342, 1.631, 6.122, 16.832, 1.905, 2.238},
	{place{"Portland OR", 45.60, -122.62, "America/Los_Angeles"}, 11320, 28.58, 18.501, 14.042, 10.629, 9.956, 1.865, 3.339, 8.459, 0.729, 2.834},
	{place{"Denver CO", 39.83, -104.65, "America/Denver"}, 21792, 6.80, 24.414, 20.089, 23.217, 22.047, 4.860, 4.907, 13.825, 2.983, 3.781},
	{place{"Colorado Springs CO", 38.82, -104.72, "America/Denver"}, 43500, 6.80, 35.200, 20.470, 55.880, 51.410, 0, 0, 0, 0, 0.000},
	{place{"Duluth MN", 46.83, -92.22, "America/Chicago"}, 25072, -13.72, 21.238, 10.457, 41.334, 39.249, 7.511, 2.567, 5.452, 0.459, 1.617},
	{place{"Helena MT", 46.60, -111.97, "America/Denver"}, 27664, -8.14, 23.778, 20.064, 42.200, 40.070, 6.773, 2.529, 6.213, 1.085, 2.494},
}

// The published houses have 68 and 78 F, a furnace of AFUE 0.92 and an air conditioner of
// SEER 13.
const (
	storedKwh    = 5.0 // kWh per degree Celsius
	coolOversize = 1.15
	heatOversize = 1.40
	sensible     = 0.75
	heatedTo     = 68.0 // F
	cooledTo     = 78.0
	afue         = 0.92
	seer2        = 12.4 // of SEER 13
	wattsPerBtuh = 0.29307
	// meanLoss is the mean loss of a year over the loss of the design. It is the mean of
	// Baltimore, Portland and Duluth (0.65 to 0.69), from the published losses by component.
	meanLoss   = 0.67
	kwhPerMBtu = 293.07
)

// houseOf returns the device of a published house. Its parameters are inputs of the
// published simulation: the heat loss of its design, and the yearly sun and gains. The
// equipment is sized for the first and last percentile of the year's temperatures.
func houseOf(p *publishedHouse, y *climate.Year) savings.Device {
	var all []float64
	sun := 0.0 // kWh/m2
	for hour := range climate.Hours {
		w := y.Hour(hour)
		all, sun = append(all, w.Temperature), sun+w.GHI/1000
	}
	slices.Sort(all)
	cold, hot := all[len(all)/100], all[len(all)*99/100]
	const indoors, midday, warm = 25.6, 0.7, 20 // C, kW/m2, C
	lossKw := meanLoss * p.design * wattsPerBtuh / 1000 / ((70 - p.at) / 1.8)
	aperture, gains := p.sun*kwhPerMBtu/sun, p.gains*kwhPerMBtu/climate.Hours
	coolKw := coolOversize * (lossKw*(hot-indoors) + aperture*midday + gains) / sensible
	heatKw := heatOversize * lossKw * max(5, warm-cold)
	return savings.Device{
		ID: "dev", Units: savings.Fahrenheit,
		Settings:                savings.Settings{Mode: savings.Auto, Min: 55, Heat: heatedTo, Cool: cooledTo, Max: 90},
		HeatTransferCoefficient: lossKw / storedKwh, IrradianceCoefficient: aperture / storedKwh * 1.8,
		CoolingRate: coolKw * sensible / storedKwh * 1.8, HeatingRate: heatKw / storedKwh * 1.8,
		Equipment: savings.Equipment{HeatSource: savings.GasFurnace, CapacityKw: coolKw, InternalGainsKw: &gains, AFUE: afue, SEER2: seer2},
	}
}

// comparison is a house's yearly energy, estimated and published. A published zero was
// not simulated, or has none.
type comparison struct {
	name                    string
	therms, wantTherms      float64
	coolingKwh, wantCooling float64
}

// compare estimates the published houses. The published energy lacks what ducts lose, as
// an estimate has no ducts.
func compare() (all []comparison, err error) {
	for i := range published {
		p := &published[i]
		r, err := newReference(p)
		if err != nil {
			return nil, err
		}
		cool, heat, err := r.energy(savings.Shift, nil)
		if err != nil {
			return nil, err
		}
		c := comparison{name: p.name, therms: heat.Gas.BaselineTherms, coolingKwh: cool.BaselineKwh}
		if p.heat > 0 {
			c.wantTherms = 10 * p.gas * (1 - p.heatLost/p.heat)
		}
		if p.cold > 0 {
			c.wantCooling = kwhPerMBtu * p.power * (1 + (p.aired-p.coldLost)/p.cold)
		}
		all = append(all, c)
	}
	return all, nil
}

// printReference prints the energy of the published houses, and their savings from
// setbacks.
func printReference() error {
	all, err := compare()
	if err != nil {
		return err
	}
	cell := func(got, want float64) string {
		if want < 1 {
			return fmt.Sprintf("| %.0f | - | - ", got)
		}
		return fmt.Sprintf("| %.0f | %.0f | %.2f ", got, want, got/want)
	}
	fmt.Printf("| place | heating, therms | published | ratio | cooling, kWh | published | ratio |\n|---|---|---|---|---|---|---|\n")
	for _, c := range all {
		fmt.Printf("| %s %s%s|\n", c.name, cell(c.therms, c.wantTherms), cell(c.coolingKwh, c.wantCooling))
	}
	return printSetbacks()
}

// printSetbacks prints what the usual schedule saves of each published house's energy, if
// heating or cooling is more than a trifle, and of the cost of both.
func printSetbacks() error {
	const trifle = 50 // $ a year
	cell := func(r *savings.Result) string {
		if r.BaselineCost < trifle {
			return "-"
		}
		return fmt.Sprintf("%.0f %%", r.SavingsPercent)
	}
	fmt.Printf("\n| place | heating saved | cooling saved | both, against 72 F |\n|---|---|---|---|\n")
	for i := range published {
		r, err := newReference(&published[i])
		if err != nil {
			return err
		}
		own := &r.device.Settings
		own.Heat, own.Cool = 70, 75
		cool, heat, err := r.energy(savings.Setback, nil)
		if err != nil {
			return err
		}
		coolHeld, heatHeld, err := r.energy(savings.Setback, new(72.0))
		if err != nil {
			return err
		}
		both := (coolHeld.Savings + heatHeld.Savings) / (coolHeld.BaselineCost + heatHeld.BaselineCost)
		fmt.Printf("| %s | %s | %s | %.0f %% |\n", published[i].name, cell(heat), cell(cool), 100*both)
	}
	return nil
}

// reference is a published house with the input of its estimates.
type reference struct {
	in     savings.Input
	device savings.Device
}

func newReference(p *publishedHouse) (*reference, error) {
	location, err := time.LoadLocation(p.zone)
	if err != nil {
		return nil, err
	}
	where := &climate.Place{Lat: p.lat, Lon: p.lon}
	r := &reference{in: savings.Input{HomeID: "home", Place: where, Location: location, Today: pricing.Date{Year: 2026, Month: time.January, Day: 1}}}
	r.device = houseOf(p, climate.Choose(*where).Year)
	r.in.Prices = func(w pricing.Window) ([]float64, error) {
		return slices.Repeat([]float64{0.16}, w.Len()), nil
	}
	return r, nil
}

// energy estimates cooling alone and heating alone, with the same price at all hours.
func (r *reference) energy(what savings.Comparison, hold *float64) (cool, heat *savings.Result, err error) {
	r.in.Devices = []savings.Device{r.device}
	for mode, result := range map[savings.Mode]**savings.Result{savings.Cool: &cool, savings.Heat: &heat} {
		r.in.Request = savings.Request{
			Type: savings.Annual, Start: savings.Start{Month: new(1)}, Comparison: what, Mode: &mode, TargetTemp: hold,
		}
		if *result, err = savings.Estimate(r.in); err != nil {
			return nil, nil, err
		}
	}
	return cool, heat, nil
}
