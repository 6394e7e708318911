package bill

import (
	"time"

	"github.com/gridhook/gridhook/pricing"
)

// chargeDemand charges each month's demand and adds caveats for unknown charges. A
// feed-in home has a separate meter for its use, so its demand ignores solar.
func (t *Terms) chargeDemand(b *Bill, months []monthOfSteps, meterStep time.Duration) {
	of := drawn
	if t.Metering == FeedIn {
		of = used
	}
	for i := range months {
		m := &b.Months[i]
		for _, part := range months[i].versions() {
			d := part.seen[0].rates.Demand()
			if d.Charges() {
				kw, cost := part.demand(d, ratchet(d.Ratchet, b.Months[:i]), meterStep, of)
				m.DemandKW, m.Demand = max(m.DemandKW, kw), m.Demand+cost
			}
			b.doubt(d, meterStep)
		}
		b.Demand += m.Demand
	}
}

// doubt adds the caveats of a tariff's demand charges.
func (b *Bill) doubt(d *pricing.Demand, meterStep time.Duration) {
	if d.Problem != "" {
		b.caveat("demand charges: " + d.Problem)
	}
	if d.Charges() && window(d, meterStep) > time.Duration(d.WindowMinutes)*time.Minute && d.WindowMinutes != 0 {
		b.caveat("demand charges: the meter's steps are longer than the tariff's window, so peaks are too low")
	}
	if d.Ratchet.Share > 0 {
		b.caveat("demand charges: the ratchet counts the months of the bill alone")
	}
}

// window returns the averaging time of demand.
func window(d *pricing.Demand, meterStep time.Duration) time.Duration {
	return max(meterStep, time.Duration(d.WindowMinutes)*time.Minute)
}

// ratchet returns the minimum flat demand of the month after the given months, kW.
func ratchet(r pricing.Ratchet, before []Month) float64 {
	const usual = 11 // months before the billed month
	months := r.Months
	if months <= 0 {
		months = usual
	}
	peak := 0.0
	for _, m := range before[max(0, len(before)-months):] {
		if r.Counts == ([12]bool{}) || r.Counts[m.Start.Month-1] {
			peak = max(peak, m.DemandKW)
		}
	}
	return r.Share * peak
}

// demand returns the highest demand of a month in kW, and its cost. least is the minimum
// billed demand. It applies to the whole month, or to each period if the tariff has no
// flat charge. A charge of a season has its share of a month in which the season changes.
func (m *monthOfSteps) demand(d *pricing.Demand, least float64, meterStep time.Duration, of flow) (kw, cost float64) {
	flat, periods := make([]peak, len(d.Flat)), make([]peak, len(d.TimeOfUse))
	for i := range m.seen {
		day := &m.seen[i]
		all, byPeriod := day.peaks(len(periods), window(d, meterStep), of)
		kw = max(kw, all)
		if len(flat) > 0 {
			flat[d.FlatMonths[day.date.Month-1]].add(all, true)
		}
		for p := range periods {
			periods[p].add(byPeriod[p], d.HasPeriod(day.date.Month, p))
		}
	}
	if len(flat) > 0 {
		cost, least = m.charge(d.Flat, flat, least), 0
	}
	return kw, cost + m.charge(d.TimeOfUse, periods, least)
}

// peak is the demand of the days on which a charge applies.
type peak struct {
	highest float64 // kW
	daily   []float64
}

func (p *peak) add(kw float64, applies bool) {
	if applies {
		p.highest, p.daily = max(p.highest, kw), append(p.daily, kw)
	}
}

// charge returns the cost of the peaks. A monthly charge is for the highest demand, but at
// least for least, in proportion to the days on which it applies.
func (m *monthOfSteps) charge(charges []pricing.DemandCharge, peaks []peak, least float64) (cost float64) {
	for i, c := range charges {
		if !c.Unit.Daily {
			cost += c.Cost(max(peaks[i].highest, least)) * float64(len(peaks[i].daily)) / float64(m.days)
			continue
		}
		for _, kw := range peaks[i].daily {
			cost += c.Cost(kw)
		}
	}
	return cost
}

// peaks returns the highest demands of a day, kW: for the whole day, and for each period.
// A window has the tariff's length. For a period it ends with the period.
func (d *dayOfSteps) peaks(periods int, window time.Duration, of flow) (all float64, byPeriod []float64) {
	byPeriod = make([]float64, periods)
	width := int(window / pricing.Interval)
	whole, inPeriod, quarters := 0.0, 0.0, 0
	for i, s := range d.steps {
		kwh, p := of(s), d.rates.DemandPeriod(s.quarter)
		whole, inPeriod, quarters = whole+kwh, inPeriod+kwh, quarters+s.quarters
		ends, changes := true, true // the window and the period
		if i+1 < len(d.steps) {
			ends, changes = quarters == width, d.rates.DemandPeriod(d.steps[i+1].quarter) != p
		}
		if ends || changes {
			if p < periods {
				byPeriod[p] = max(byPeriod[p], inPeriod/window.Hours())
			}
			inPeriod = 0
		}
		if ends {
			all = max(all, whole/window.Hours())
			whole, quarters = 0, 0
		}
	}
	return all, byPeriod
}
