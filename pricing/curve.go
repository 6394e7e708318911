package pricing

import "math"

// Curve is the price signal of a home for a window. Each slice has one value per
// interval, in $/kWh rounded to six decimals. Treat a Curve as read-only: all homes with
// the same inputs share it.
type Curve struct {
	Window Window
	Import []float64 // cost of one more kWh drawn from the grid
	Export []float64 // earnings of one more kWh sent to the grid

	// Price is the expected value of one kWh. It weights import and export by the
	// probability that the home exports, and includes the cost of carbon.
	Price []float64

	// Confidence in the values is 0 to 1: 1 for a published tariff in force.
	Confidence []float64

	ExportCompensation ExportCompensation
	ImportSource       string
}

// newCurve allocates the slices for n intervals at once. It caps each slice, so that an
// append does not overwrite the next slice.
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

// Len returns the number of intervals.
func (c *Curve) Len() int { return len(c.Price) }

// roundPrice rounds to six decimals.
func roundPrice(v float64) float64 { return round(v, 1e6) }

// Hundredths rounds dollars to cents, or a quantity to 0.01 of its unit.
func Hundredths(v float64) float64 { return round(v, 100) }

// round rounds to multiples of 1/parts, half away from zero, and never returns -0.
func round(v, parts float64) float64 {
	if r := math.Round(v*parts) / parts; r != 0 {
		return r
	}
	return 0
}
