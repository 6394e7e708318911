package savings

import (
	"cmp"
	"math"

	"github.com/gridhook/gridhook/pricing"
)

// Figures are the outcome of one month or several months. Dollars are rounded to cents,
// energy to 0.01 kWh. The savings are the difference of the rounded costs, so that the
// displayed figures add up.
type Figures struct {
	BaselineCost   float64 `json:"baselineCost" doc:"Cost with the unchanged setpoints, in dollars." example:"48.12"`
	OptimizedCost  float64 `json:"optimizedCost" doc:"Cost with the optimized setpoints, in dollars." example:"41.07"`
	Savings        float64 `json:"savings" doc:"The difference, in dollars." example:"7.05"`
	SavingsPercent float64 `json:"savingsPercent" doc:"The difference, in percent of baselineCost." example:"14.7"`
	BaselineKwh    float64 `json:"baselineKwh" doc:"Energy with the unchanged setpoints." example:"312.4"`
	OptimizedKwh   float64 `json:"optimizedKwh" doc:"Energy with the optimized setpoints." example:"309.9"`
	// Gas is nil if no device heats with gas.
	Gas *Gas `json:"gas,omitempty" doc:"The part of a gas furnace, where there is one. The costs above include it; the kWh do not."`
}

// Gas is the gas part of figures.
type Gas struct {
	BaselineTherms  float64 `json:"baselineTherms" doc:"Gas with the setpoints kept." example:"61.2"`
	OptimizedTherms float64 `json:"optimizedTherms" doc:"Gas optimized." example:"55.1"`
	BaselineCost    float64 `json:"baselineCost" doc:"Cost of the gas with the setpoints kept, in dollars." example:"89.96"`
	OptimizedCost   float64 `json:"optimizedCost" doc:"Cost of the gas optimized, in dollars." example:"81.00"`
}

// Month is the outcome of a calendar month, or of its part in the period.
type Month struct {
	Year  int `json:"year" example:"2026"`
	Month int `json:"month" example:"7"`
	Figures
}

// Result is the outcome of an estimate.
type Result struct {
	HomeID string `json:"homeId" example:"home_1"`
	Type   Type   `json:"type" example:"monthly"`
	// Comparison is the request's comparison.
	Comparison Comparison `json:"comparison" doc:"shift compares the setpoints kept with an optimum at equal comfort; setback compares a constant setpoint with the schedule." example:"shift"`
	Currency   string     `json:"currency" example:"USD"`
	Figures
	Uncertainty Uncertainty    `json:"uncertainty"`
	Months      []Month        `json:"months" doc:"The same figures by calendar month."`
	Assumptions Assumptions    `json:"assumptions"`
	Devices     []DeviceResult `json:"devices" doc:"The same figures by device."`
}

// DeviceResult is the outcome of one device.
type DeviceResult struct {
	DeviceID string `json:"deviceId" example:"dev_1"`
	Figures
	// Day is the day with the greatest savings, for a schedule of setpoints and a
	// drawing. It is not part of the JSON response.
	Day *Day `json:"-"`
}

func newFigures(h *house, base, best *path) (f Figures) {
	exact := Figures{BaselineCost: base.cost, OptimizedCost: best.cost, BaselineKwh: base.kwh, OptimizedKwh: best.kwh}
	if h.source == GasFurnace {
		exact.Gas = &Gas{base.therms, best.therms, base.therms * h.gasPrice, best.therms * h.gasPrice}
	}
	f.add(exact)
	return f
}

// add adds figures, rounds the sums and calculates their savings.
func (f *Figures) add(g Figures) {
	sum := func(to *float64, v float64) { *to = pricing.Hundredths(*to + v) }
	sum(&f.BaselineCost, g.BaselineCost)
	sum(&f.OptimizedCost, g.OptimizedCost)
	sum(&f.BaselineKwh, g.BaselineKwh)
	sum(&f.OptimizedKwh, g.OptimizedKwh)
	if g.Gas != nil {
		f.Gas = cmp.Or(f.Gas, &Gas{})
		sum(&f.Gas.BaselineTherms, g.Gas.BaselineTherms)
		sum(&f.Gas.OptimizedTherms, g.Gas.OptimizedTherms)
		sum(&f.Gas.BaselineCost, g.Gas.BaselineCost)
		sum(&f.Gas.OptimizedCost, g.Gas.OptimizedCost)
	}
	f.Savings, f.SavingsPercent = pricing.Hundredths(f.BaselineCost-f.OptimizedCost), 0
	if f.BaselineCost > 0 {
		f.SavingsPercent = math.Round(1000*f.Savings/f.BaselineCost) / 10
	}
}

// result returns the sum of all figures, with assumptions and uncertainty.
func (e *estimate) result() *Result {
	r := &Result{HomeID: e.in.HomeID, Type: e.in.Request.Type, Comparison: e.in.Request.Comparison, Currency: "USD", Months: e.months}
	for i := range e.months {
		r.add(e.months[i].Figures)
	}
	for i := range e.devices {
		d := &e.devices[i]
		r.Devices = append(r.Devices, DeviceResult{DeviceID: d.device.ID, Figures: d.figures, Day: d.day})
	}
	r.Assumptions = e.assumptions()
	r.Uncertainty = e.uncertainty(r.Savings)
	return r
}
