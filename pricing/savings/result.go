package savings

import "math"

// Figures are the outcome of a month, or of all of them. Dollars are rounded to
// cents, energy to 0.01 kWh, and the savings are the difference of the rounded
// costs, so that what is shown adds up.
type Figures struct {
	BaselineCost   float64 `json:"baselineCost"`
	OptimizedCost  float64 `json:"optimizedCost"`
	Savings        float64 `json:"savings"`
	SavingsPercent float64 `json:"savingsPercent"` // of the baseline's cost, to 0.1
	BaselineKwh    float64 `json:"baselineKwh"`
	OptimizedKwh   float64 `json:"optimizedKwh"`
}

// Month is the outcome of a calendar month, or of what of it lies in the period.
type Month struct {
	Year  int `json:"year"`
	Month int `json:"month"`
	Figures
}

// Result is the service's answer.
type Result struct {
	HomeID   string `json:"homeId"`
	Type     Type   `json:"type"`
	Currency string `json:"currency"`
	Figures
	Uncertainty Uncertainty    `json:"uncertainty"`
	Months      []Month        `json:"months"`
	Assumptions Assumptions    `json:"assumptions"`
	Devices     []DeviceResult `json:"devices"`
}

// DeviceResult is a device's part.
type DeviceResult struct {
	DeviceID string `json:"deviceId"`
	Figures
	// Day is the day of the greatest savings, for a schedule of setpoints and a
	// drawing. It is not part of the answer.
	Day *Day `json:"-"`
}

func newFigures(base, best *path) Figures {
	f := Figures{
		BaselineCost: hundredths(base.cost), OptimizedCost: hundredths(best.cost),
		BaselineKwh: hundredths(base.kwh), OptimizedKwh: hundredths(best.kwh),
	}
	f.settle()
	return f
}

func (f *Figures) add(g Figures) {
	f.BaselineCost = hundredths(f.BaselineCost + g.BaselineCost)
	f.OptimizedCost = hundredths(f.OptimizedCost + g.OptimizedCost)
	f.BaselineKwh = hundredths(f.BaselineKwh + g.BaselineKwh)
	f.OptimizedKwh = hundredths(f.OptimizedKwh + g.OptimizedKwh)
	f.settle()
}

// settle works out the savings of the costs.
func (f *Figures) settle() {
	f.Savings = hundredths(f.BaselineCost - f.OptimizedCost)
	f.SavingsPercent = 0
	if f.BaselineCost > 0 {
		f.SavingsPercent = math.Round(1000*f.Savings/f.BaselineCost) / 10
	}
}

// hundredths rounds, and never gives -0.
func hundredths(v float64) float64 {
	if r := math.Round(v*100) / 100; r != 0 {
		return r
	}
	return 0
}

// result sums up.
func (e *estimate) result() *Result {
	r := &Result{HomeID: e.in.HomeID, Type: e.in.Request.Type, Currency: "USD", Months: e.months}
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
