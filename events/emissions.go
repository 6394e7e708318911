package events

// EmissionRun are N intervals in a row in which a kWh more emits the same.
type EmissionRun struct {
	N     int     `json:"n"`
	Grams float64 `json:"g"` // of CO2
}

// EmissionRuns is the compact form of emissions by interval, nil of nil.
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

// maxEmissions bounds what runs may unfold to: the longest window.
const maxEmissions = 31*24*4 + 8

// Emissions gives back what EmissionRuns was made of.
func Emissions(runs []EmissionRun) []float64 {
	var grams []float64
	for _, r := range runs {
		for range min(r.N, maxEmissions-len(grams)) {
			grams = append(grams, r.Grams)
		}
	}
	return grams
}
