package pricing

import "time"

// Rider is a named adder to every kWh of a tariff: a rider, a surcharge, a credit or a
// tax.
type Rider struct {
	Name string
	// Rate is added to the energy rate, $/kWh; it may be negative.
	Rate float64
	// Percent is a tax on the sum of the energy rate and all riders' rates, in percent.
	Percent float64
	// From and To are the first and the last day in force; zero means no bound.
	From, To Date
	// Month is the only calendar month of each year in which the rider is in force; 0 means
	// every month.
	Month time.Month
	// Uncredited means that net metering does not credit Rate, which is charged on import.
	Uncredited bool
}

// adders is the sum of the riders of one local day.
type adders struct {
	rate       float64 // $/kWh
	tax        float64 // share of the price before taxes
	uncredited float64 // the part of rate and energy that net metering does not credit, before taxes
}

// addersOn returns the sum of the riders in force on a day.
func (v *version) addersOn(day localDay) adders {
	sum := adders{uncredited: v.Uncredited}
	for i := range v.Riders {
		r := &v.Riders[i]
		if !r.inForce(day) {
			continue
		}
		sum.rate += r.Rate
		sum.tax += r.Percent / 100
		if r.Uncredited {
			sum.uncredited += r.Rate
		}
	}
	return sum
}

func (r *Rider) inForce(day localDay) bool {
	return (r.Month == 0 || r.Month == day.date.Month) && newSpan(r.From, r.To).contains(day.number)
}
