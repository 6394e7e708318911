package pricing

import "math"

// Hundredths rounds dollars to cents, or a quantity to 0.01 of its unit. It never returns
// -0.
func Hundredths(v float64) float64 {
	if r := math.Round(v*100) / 100; r != 0 {
		return r
	}
	return 0
}
