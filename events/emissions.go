package events

// EmissionRun is N consecutive intervals with the same emissions per additional kWh.
type EmissionRun struct {
	N     int     `json:"n"`
	Grams float64 `json:"g"` // grams of CO2
}

// EmissionRuns returns the compact form of emissions by interval, nil for nil.
func EmissionRuns(grams []float64) []EmissionRun {
	var runs []EmissionRun
	for _, g := range grams {
		if last := len(runs) - 1; last >= 0 && runs[last].Grams == g {
			runs[last].N++
		} else {
			runs = append(runs, EmissionRun{N: 1, Grams: g})
		}
	}
	return runs
}

// maxEmissions limits the intervals of all runs together to the longest window.
const maxEmissions = 31*24*4 + 8

// Emissions is the inverse of EmissionRuns.
func Emissions(runs []EmissionRun) []float64 {
	var grams []float64
	for _, r := range runs {
		for range min(r.N, maxEmissions-len(grams)) {
			grams = append(grams, r.Grams)
		}
	}
	return grams
}
