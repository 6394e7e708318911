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
	// MediumPerTonne is the interim social cost of carbon of the US Interagency
	// Working Group (February 2021): 3 % discount, emissions of 2020, dollars of
	// 2020.
	MediumPerTonne = 51
	// HighPerTonne is the social cost of carbon of the EPA (December 2023): 2 %
	// discount, emissions of 2020, dollars of 2020.
	HighPerTonne = 190
)

const tonnesAPound = 0.45359237e-3

// PerTonne returns the cost of a metric ton of carbon dioxide at an intensity, $. Low and
// unknown intensities cost nothing.
func (i Intensity) PerTonne() float64 {
	switch i {
	case Medium:
		return MediumPerTonne
	case High:
		return HighPerTonne
	}
	return 0
}

// Cost returns the cost of the emissions of one kWh, in $/kWh. rate is in lb CO2 a kWh:
//
//	rate x 0.00045359237 t/lb x $/t
func (i Intensity) Cost(rate float64) float64 { return rate * tonnesAPound * i.PerTonne() }
