package bill

import (
	"math"
	"strings"

	"github.com/gridhook/gridhook/pricing"
)

// Month is the bill of one billing month. All money is US dollars.
type Month struct {
	Start pricing.Date // first day of the billing month
	Days  int          // length of the billing month

	UsedKWh, SolarKWh, DrawnKWh, SentKWh float64

	Fixed   float64 // fixed charges and grid fees
	Minimum float64 // what a minimum charge adds
	Energy  float64 // what the energy used would cost without solar
	// Credit is what solar takes off in the month before credits roll over: the
	// difference to the energy charge, or what is paid for the energy.
	Credit float64
}

// Bill is the bill of a span of time, usually a year.
type Bill struct {
	Months []Month
	// Fixed holds all minimum charges, too.
	Fixed, Energy float64
	// Credit is what solar takes off after the settlement of the year.
	Credit float64
	// Total is Fixed + Energy - Credit.
	Total float64
	// HasDemandCharges warns that the tariff asks for power too, which is not
	// part of the bill.
	HasDemandCharges bool
}

// Calculate makes the bill of what a meter saw. The errors wrap ErrMeter or
// ErrTerms.
func Calculate(m Meter, t Terms) (*Bill, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	if err := t.check(len(m.Load)); err != nil {
		return nil, err
	}
	months, err := m.months(&t)
	if err != nil {
		return nil, err
	}
	b := &Bill{}
	var minimums []pricing.Charge
	bank := &bank{}
	for i := range months {
		info := months[i].seen[0].rates.Info
		b.Months = append(b.Months, t.month(&months[i], info, len(m.Solar) > 0, bank))
		b.HasDemandCharges = b.HasDemandCharges || info.HasDemandCharges
		minimums = append(minimums, info.MinimumCharge)
	}
	t.settle(b, minimums)
	return b, nil
}

// month charges one month by itself.
func (t *Terms) month(m *monthOfSteps, info pricing.TariffInfo, solar bool, bank *bank) Month {
	month := Month{Start: m.start, Days: m.days, Fixed: monthly(info.FixedCharge, m)}
	for i := range m.seen {
		for _, s := range m.seen[i].steps {
			month.UsedKWh += s.load
			month.SolarKWh += s.solar
			month.DrawnKWh += drawn(s)
			month.SentKWh += sent(s)
		}
	}
	month.Energy = t.energy(m, used)
	if !solar {
		return month
	}
	month.Fixed += (t.GridFee + t.GridFeePerKW*t.SolarKW) * m.share()
	switch {
	case t.Metering == FeedIn && t.FeedInRate != 0:
		month.Credit = month.SolarKWh * t.FeedInRate
	case t.Metering == FeedIn:
		month.Credit = t.pay(m, made)
	case t.Metering == NetBilling:
		month.Credit = month.Energy - t.energy(m, drawn) + t.pay(m, sent)
	case t.Rollover == Energy:
		month.Credit = month.Energy - t.banked(m, bank) - t.uncredited(m)
	default:
		month.Credit = month.Energy - t.energy(m, net) - t.uncredited(m)
	}
	return month
}

// monthly is what a charge comes to for the days seen of a month.
func monthly(c pricing.Charge, m *monthOfSteps) float64 {
	const daysAYear = 365
	switch unit := strings.ToLower(strings.TrimPrefix(c.Unit, "$")); unit {
	case "/day":
		return c.Amount * float64(len(m.seen))
	case "/year":
		return c.Amount * float64(len(m.seen)) / daysAYear
	}
	return c.Amount * m.share()
}

// settle adds the months up, with minimum charges and the settlement of the year.
func (t *Terms) settle(b *Bill, minimums []pricing.Charge) {
	sent, used := 0.0, 0.0
	for i := range b.Months {
		m := &b.Months[i]
		b.Fixed += m.Fixed
		b.Energy += m.Energy
		sent += m.SolarKWh
		used += m.UsedKWh
	}
	switch {
	case t.Metering != NetMetering || sent == 0:
		for i := range b.Months {
			b.Credit += b.Months[i].Credit
		}
		b.topUp(minimums, t.plainDue(b))
	default:
		due, left := b.rollOver(minimums)
		paid := 0.0
		for _, amount := range due {
			paid += amount
		}
		if t.SettleRetail {
			paid -= left
		} else {
			paid -= max(sent-used, 0) * t.SettleRate
		}
		b.Credit = b.Fixed + b.Energy - paid
		b.topUp(minimums, due)
	}
	b.Total = b.Fixed + b.Energy - b.Credit
}

// plainDue is what is due each month, counted against a minimum charge. What a
// feed-in tariff pays is settled apart from the bill.
func (t *Terms) plainDue(b *Bill) []float64 {
	due := make([]float64, len(b.Months))
	for i, m := range b.Months {
		due[i] = m.Fixed + m.Energy
		if t.Metering == NetBilling {
			due[i] -= m.Credit
		}
	}
	return due
}

// rollOver carries the credits of net metering from month to month. They pay for
// energy, never for fixed charges. It gives what is due each month and the
// credit that is left.
func (b *Bill) rollOver(minimums []pricing.Charge) (due []float64, left float64) {
	yearly := len(minimums) > 0 && perYear(minimums[0])
	due = make([]float64, len(b.Months))
	credit, energy := 0.0, 0.0
	for i, m := range b.Months {
		owed := m.Energy - m.Credit
		energy += owed
		owed -= credit
		credit = max(-owed, 0)
		due[i] = m.Fixed + max(owed, 0)
	}
	if !yearly {
		return due, credit
	}
	// Under a yearly minimum the year is settled as a whole.
	for i, m := range b.Months {
		due[i] = m.Fixed
	}
	if n := len(due); n > 0 {
		due[n-1] += max(energy, 0)
	}
	return due, max(-energy, 0)
}

func perYear(c pricing.Charge) bool {
	return strings.EqualFold(strings.TrimPrefix(c.Unit, "$"), "/year")
}

// topUp adds what minimum charges ask for beyond what is due.
func (b *Bill) topUp(minimums []pricing.Charge, due []float64) {
	total := 0.0
	for i := range b.Months {
		total += due[i]
		if least := minimums[i]; !perYear(least) && least.Amount > 0 {
			m := &b.Months[i]
			amount := least.Amount
			if strings.EqualFold(strings.TrimPrefix(least.Unit, "$"), "/day") {
				amount *= float64(m.Days)
			}
			m.Minimum = max(amount-due[i], 0)
			b.Fixed += m.Minimum
		}
	}
	if n := len(b.Months); n > 0 && perYear(minimums[n-1]) {
		m := &b.Months[n-1]
		m.Minimum = math.Max(minimums[n-1].Amount-total, 0)
		b.Fixed += m.Minimum
	}
}
