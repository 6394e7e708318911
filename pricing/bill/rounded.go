package bill

import "github.com/gridhook/gridhook/pricing"

// Rounded rounds a bill for output: money to cents, energy to 0.01 kWh and demand to 0.01
// kW. The year's charges are the sums of the rounded months, so that a printed bill adds
// up. The shares of parts are rounded one by one.
func (b *Bill) Rounded() *Bill {
	b.Fixed, b.Demand, b.Energy = 0, 0, 0
	for i := range b.Months {
		m := &b.Months[i]
		hundredths(&m.UsedKWh, &m.SolarKWh, &m.DrawnKWh, &m.SentKWh, &m.DemandKW, &m.Fixed, &m.Minimum, &m.Energy, &m.Demand, &m.Credit)
		b.Fixed, b.Demand, b.Energy = b.Fixed+m.Fixed+m.Minimum, b.Demand+m.Demand, b.Energy+m.Energy
	}
	hundredths(&b.Fixed, &b.Demand, &b.Energy, &b.Credit, &b.OpenCredit, &b.OpenKWh)
	b.Total = b.Fixed + b.Demand + b.Energy - b.Credit
	hundredths(&b.Total)
	for i := range b.Parts {
		p := &b.Parts[i]
		hundredths(&p.Fixed, &p.Demand, &p.Energy, &p.Credit)
		p.Total = p.Fixed + p.Demand + p.Energy - p.Credit
		hundredths(&p.Total)
	}
	return b
}

// hundredths rounds values to hundredths.
func hundredths(values ...*float64) {
	for _, v := range values {
		*v = pricing.Hundredths(*v)
	}
}
