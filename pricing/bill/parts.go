package bill

import (
	"slices"

	"github.com/gridhook/gridhook/pricing"
)

// PartBill is the share of a composed plan's part in a bill.
type PartBill struct {
	PlanID string           `json:"planId" example:"pge-e-elec-delivery"`
	Role   pricing.PlanRole `json:"role" example:"DELIVERY"`
	Fixed  float64          `json:"fixed" doc:"Fixed charges with minimum charges." example:"10"`
	Demand float64          `json:"demand" example:"0"`
	Energy float64          `json:"energy" example:"148.8"`
	Credit float64          `json:"credit" example:"0"`
	Total  float64          `json:"total" doc:"fixed + demand + energy - credit" example:"158.8"`
}

// composed returns the bill of a composed plan: the sum of its parts' bills. Each part has
// its own charges and minimum, as the utility and the supplier of a home bill it
// separately. The credits of solar are settled for all parts together, because a part may
// have negative prices. An adjustment multiplies the energy prices of earlier parts. The
// share of a part is the increase of the bill by it.
func (h *Home) composed(m *Meter, rate *Terms) (total *Bill, caveats []string, err error) {
	terms, caveats, err := h.partTerms(m, rate)
	if err != nil {
		return nil, nil, err
	}
	bills, lead := make([]*Bill, len(rate.Parts)), terms[pricing.Lead(rate.Parts)]
	total = &Bill{}
	var shares []PartBill
	for i, part := range rate.Parts {
		from := i
		if part.Role == pricing.RoleAdjustment {
			from = 0 // it changes the bills of earlier parts
		}
		for p := from; p <= i; p++ {
			t := terms[p]
			t.adjust = func(d pricing.Date) float64 { return rate.adjusted(p, i, d) }
			if bills[p], err = Calculate(*m, t); err != nil {
				return nil, nil, err
			}
		}
		sum := lead.addUp(bills[:i+1])
		shares = append(shares, PartBill{
			part.PlanID, part.Role, sum.Fixed - total.Fixed, sum.Demand - total.Demand, sum.Energy - total.Energy,
			sum.Credit - total.Credit, sum.Total - total.Total,
		})
		total = sum
	}
	if total.Parts = shares; m.SendsOut() {
		total.Metering = lead.Metering
	}
	return total, caveats, nil
}

// partTerms returns the terms of each part. The amounts of a request are due once, with
// the lead part. Adjustments have the metering of the lead part. They pay for no exported
// energy, but they change its credit under net metering. If the home sells to a market, the
// lead part alone does.
func (h *Home) partTerms(m *Meter, rate *Terms) (terms []Terms, caveats []string, err error) {
	lead := pricing.Lead(rate.Parts)
	unpaid := make([]float64, len(m.Load))
	for i, part := range rate.Parts {
		t, home := *rate, *h
		t.Tariff, t.Parts, home.Market, home.Events = part.Tariff, nil, part.Market, part.Events
		if home.Bids = h.Bids && i == lead; home.Bids && home.Market == nil {
			home.Market = h.Market
		}
		found, err := home.setMetering(&t, m)
		if err != nil {
			return nil, nil, err
		}
		for _, caveat := range found {
			if part.Role == pricing.RoleAdjustment {
				break // it has no exports of its own
			}
			caveats = append(caveats, part.PlanID+": "+caveat)
		}
		if i != lead {
			if t.FeedInRate != 0 {
				t.ExportPrices = unpaid
			}
			t.FeedInRate, t.GridFee, t.GridFeePerKW, t.MinimumCharge.Amount = 0, 0, 0, 0 // the lead's SurplusRate settles all parts
		}
		terms = append(terms, t)
	}
	for i, part := range rate.Parts {
		switch {
		case part.Role == pricing.RoleAdjustment || i != lead && h.sells(rate): // the market pays for the whole kWh
			terms[i].Metering, terms[i].ExportPrices = terms[lead].Metering, unpaid
		case terms[lead].Metering == FeedIn: // one meter counts the generation for all parts
			terms[i].Metering = FeedIn
		case terms[i].Metering == FeedIn:
			terms[i].Metering = NetBilling
		}
		if terms[i].Metering != terms[lead].Metering { // addUp settles by the lead's rules
			terms[i].Rollover, terms[i].CreditMonths = "", 0
		}
	}
	return terms, caveats, nil
}

// adjusted returns the sum of a price of 1 of part p and of its adjustments up to part
// last, on a day.
func (t *Terms) adjusted(p, last int, d pricing.Date) float64 {
	shares := make([]float64, last+1)
	shares[p] = 1
	sum := 1.0
	for i := p + 1; i <= last; i++ {
		of := 0.0
		for j := p; j < i; j++ {
			if t.Parts[i].Adjusts(&t.Parts[j].PlanPart) {
				of += shares[j]
			}
		}
		if of == 0 {
			continue
		}
		terms := Terms{Tariff: t.Parts[i].Tariff, AnyDate: t.AnyDate}
		if day, err := terms.tariffOn(d); err == nil { // the part's own bill reports the error
			shares[i] = of * day.Tax
			sum += shares[i]
		}
	}
	return sum
}

// addUp returns the sum of bills of the same energy. It settles their credits together.
func (t *Terms) addUp(bills []*Bill) *Bill {
	sum := *bills[0]
	sum.Months, sum.Caveats = slices.Clone(sum.Months), slices.Clone(sum.Caveats)
	for _, b := range bills[1:] {
		for i := range sum.Months {
			m, of := &sum.Months[i], &b.Months[i]
			m.Fixed += of.Fixed
			m.Minimum += of.Minimum
			m.Energy += of.Energy
			m.Demand += of.Demand
			m.Credit += of.Credit
			m.uncredited += of.uncredited
			m.DemandKW = max(m.DemandKW, of.DemandKW)
		}
		sum.Demand += b.Demand
		sum.OpenKWh = max(sum.OpenKWh, b.OpenKWh)
		for _, caveat := range b.Caveats {
			sum.caveat(caveat)
		}
	}
	sum.Fixed, sum.Energy, sum.Credit, sum.OpenCredit = 0, 0, 0, 0
	rules := *t
	rules.defaults()
	rules.settle(&sum, make([]minimum, len(sum.Months)))
	for i := range sum.Months { // the minimums are those of the parts
		sum.Fixed += sum.Months[i].Minimum
		sum.Total += sum.Months[i].Minimum
	}
	return &sum
}
