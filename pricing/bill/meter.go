package bill

import (
	"math"
	"slices"
	"time"

	"github.com/gridhook/gridhook/pricing"
)

// Meter holds a home's metered data, step by step from a start.
type Meter struct {
	Start time.Time
	Step  time.Duration // a quarter, half or whole hour
	// Location is the time zone of the home. A typical year has no time zone and no clock
	// changes. For a typical year use UTC, and start on a 1st of January with the year's
	// weekday.
	Location *time.Location
	// Load is the energy used in the home, kWh a step. A negative value is exported
	// energy, as counted by a meter in front of the home's solar.
	Load  []float64
	Solar []float64 // generated, kWh a step; empty or as long as Load
}

// maxStepKWh is above the energy of any home in a step. Without a bound a sum may overflow.
const maxStepKWh = 1_000_000

func (m *Meter) check() error {
	switch {
	case m.Location == nil:
		return pricing.Invalid("timezone", "is required")
	case len(m.Load) == 0:
		return pricing.Invalid("loadKwh", "has no steps")
	case len(m.Solar) != 0 && len(m.Solar) != len(m.Load):
		return pricing.Invalid("generatedKwh", "has %d steps, but loadKwh has %d", len(m.Solar), len(m.Load))
	case m.Step != pricing.Interval && m.Step != 2*pricing.Interval && m.Step != 4*pricing.Interval:
		return pricing.Invalid("stepMinutes", "must be 15, 30 or 60 minutes, not %v", m.Step)
	}
	for _, series := range [][]float64{m.Load, m.Solar} {
		for i, kwh := range series {
			if !(math.Abs(kwh) <= maxStepKWh) { // also NaN
				return pricing.Invalid("loadKwh", "or generatedKwh has %v kWh in step %d: at most %d are possible", kwh, i, maxStepKWh)
			}
		}
	}
	return nil
}

// SendsOut reports whether the home generates: it has solar, or exported energy.
func (m *Meter) SendsOut() bool {
	return len(m.Solar) > 0 || slices.ContainsFunc(m.Load, func(kwh float64) bool { return kwh < 0 })
}

// step is one step of a meter with its period in the tariff, or a quarter hour of a step in
// which the period changes.
type step struct {
	index       int
	quarter     int // of the local day
	quarters    int // length
	period      int // of the energy prices
	load, solar float64
}

// dayOfSteps holds the steps of one local day.
type dayOfSteps struct {
	date  pricing.Date
	rates pricing.Day
	steps []step
}

// monthOfSteps holds the metered days of one billing month.
type monthOfSteps struct {
	start pricing.Date
	days  int // length of the billing month, metered or not
	seen  []dayOfSteps
}

// share returns the metered part of the billing month, from 0 to 1.
func (m *monthOfSteps) share() float64 { return float64(len(m.seen)) / float64(m.days) }

// years returns the metered part of a calendar year. The days of a leap year also add up
// to 1.
func (m *monthOfSteps) years() float64 {
	sum := 0.0
	for i := range m.seen {
		newYearsEve := time.Date(m.seen[i].date.Year, time.December, 31, 0, 0, 0, 0, time.UTC)
		sum += 1 / float64(newYearsEve.YearDay())
	}
	return sum
}

// versions divides a month into the days of each version of the tariff, which have the
// charges of that version in proportion to their number.
func (m *monthOfSteps) versions() []monthOfSteps { return m.split((*pricing.Day).SameVersion) }

// samePrices reports whether two days have the same energy prices in a period and tier.
func samePrices(a, b *pricing.Day) bool { return a.SameVersion(b) && a.Tax == b.Tax }

// split divides a month into runs of consecutive days that are the same.
func (m *monthOfSteps) split(same func(a, b *pricing.Day) bool) (parts []monthOfSteps) {
	for from := 0; from < len(m.seen); {
		to := from + 1
		for to < len(m.seen) && same(&m.seen[to].rates, &m.seen[from].rates) {
			to++
		}
		parts = append(parts, monthOfSteps{m.start, m.days, m.seen[from:to]})
		from = to
	}
	return parts
}

// months groups the steps by billing month and local day.
func (m *Meter) months(t *Terms) ([]monthOfSteps, error) {
	var months []monthOfSteps
	var day *dayOfSteps
	for i, load := range m.Load {
		at := m.Start.Add(time.Duration(i) * m.Step).In(m.Location)
		date := pricing.DateOf(at)
		if day == nil || day.date != date {
			rates, err := t.on(date)
			if err != nil {
				return nil, err
			}
			start, days := pricing.BillingMonth(date, t.Usage.BillingDay)
			if len(months) == 0 || months[len(months)-1].start != start {
				months = append(months, monthOfSteps{start: start, days: days})
			}
			month := &months[len(months)-1]
			month.seen = append(month.seen, dayOfSteps{date: date, rates: rates})
			day = &month.seen[len(month.seen)-1]
		}
		s := step{index: i, quarter: (at.Hour()*60 + at.Minute()) / 15, quarters: int(m.Step / pricing.Interval), load: max(load, 0), solar: max(-load, 0)}
		if len(m.Solar) > 0 {
			s.solar += m.Solar[i]
		}
		day.add(s)
	}
	return months, nil
}

// add appends a step. It divides the energy evenly over the quarter hours of a step in which
// a period begins.
func (d *dayOfSteps) add(s step) {
	const last = pricing.QuartersADay - 1 // a step crosses midnight after a clock change of half an hour
	s.period = d.rates.Period(s.quarter)
	changes := false
	for q := s.quarter; q < s.quarter+s.quarters; q++ {
		at := min(q, last)
		changes = changes || d.rates.Period(at) != s.period || d.rates.DemandPeriod(at) != d.rates.DemandPeriod(s.quarter)
	}
	if !changes {
		d.steps = append(d.steps, s)
		return
	}
	length := float64(s.quarters)
	for q := s.quarter; q < s.quarter+s.quarters; q++ {
		at := min(q, last)
		d.steps = append(d.steps, step{index: s.index, quarter: at, quarters: 1, period: d.rates.Period(at), load: s.load / length, solar: s.solar / length})
	}
}
