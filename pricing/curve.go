package pricing

import "math"

// Curve is the price signal of a home for a window: one value per interval in
// each slice, in $/kWh rounded to six decimals. Treat it as read-only: one curve
// is shared by all the homes that have the same inputs.
type Curve struct {
	Window Window
	Import []float64 // what one kWh more drawn from the grid costs
	Export []float64 // what one kWh more sent to the grid earns

	// Price is the expected value of one kWh: import and export weighted by the
	// probability that the home exports then, and the cost of carbon.
	Price []float64

	// Confidence in the values, 0 to 1: 1 for a published tariff in force.
	Confidence []float64

	ExportCompensation ExportCompensation
	ImportSource       string
}

// newCurve makes room for n intervals in one allocation. The slices are capped,
// so that appending to one never runs into the next.
func newCurve(w Window, n int) *Curve {
	room := make([]float64, 4*n)
	return &Curve{
		Window:     w,
		Import:     room[0*n : 1*n : 1*n],
		Export:     room[1*n : 2*n : 2*n],
		Price:      room[2*n : 3*n : 3*n],
		Confidence: room[3*n : 4*n : 4*n],
	}
}

// Len is the number of intervals.
func (c *Curve) Len() int { return len(c.Price) }

// roundPrice rounds to six decimals, half away from zero, and never gives -0.
func roundPrice(v float64) float64 {
	rounded := math.Round(v*1e6) / 1e6
	if rounded == 0 {
		return 0
	}
	return rounded
}
