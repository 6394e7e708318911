package carbon

// Intensity is the weight of carbon in a home's price signal.
type Intensity string

// The values of Intensity.
const (
	Low    Intensity = "LOW"
	Medium Intensity = "MEDIUM"
	High   Intensity = "HIGH"
)

// The cost of a metric ton of carbon dioxide, $.
const (
	// mediumPerTonne is the interim social cost of carbon of the US Interagency
	// Working Group (February 2021): 3 % discount, emissions of 2020, dollars of
	// 2020.
	mediumPerTonne = 51
	// highPerTonne is the social cost of carbon of the EPA (December 2023): 2 %
	// discount, emissions of 2020, dollars of 2020.
	highPerTonne = 190
)

// Cost returns the cost of the emissions of one kWh, in $/kWh. rate is in lb CO2 a kWh. Low
// and unknown intensities cost nothing.
//
//	rate x 0.00045359237 t/lb x $/t
func (i Intensity) Cost(rate float64) float64 {
	const tonnesAPound = 0.45359237e-3
	switch i {
	case Medium:
		return rate * tonnesAPound * mediumPerTonne
	case High:
		return rate * tonnesAPound * highPerTonne
	}
	return 0
}
