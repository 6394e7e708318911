package bill

import (
	"strings"

	"github.com/gridhook/gridhook/pricing"
)

// settle adds up the months, with minimum charges and the yearly settlement.
func (t *Terms) settle(b *Bill, minimums []minimum) {
	sent := 0.0
	for i := range b.Months {
		m := &b.Months[i]
		b.Fixed += m.Fixed
		b.Energy += m.Energy
		sent += m.SolarKWh
	}
	switch {
	case t.Rollover == None || sent == 0:
		for i := range b.Months {
			b.Credit += b.Months[i].Credit
		}
		b.topUp(minimums, t.plainDue(b))
	default:
		due, paid := t.trueUps(b)
		b.Credit = b.Fixed + b.Demand + b.Energy - paid
		b.topUp(minimums, due)
	}
	b.Total = b.Fixed + b.Demand + b.Energy - b.Credit
}

// plainDue returns each month's amount that counts toward a minimum charge. Feed-in
// payments are settled apart from the bill.
func (t *Terms) plainDue(b *Bill) []float64 {
	due := make([]float64, len(b.Months))
	for i, m := range b.Months {
		due[i] = m.Fixed + m.Demand + m.Energy
		if t.Metering == NetBilling {
			due[i] -= m.Credit
		}
	}
	return due
}

// settlesAfter reports whether net metering is settled at the end of a month within the
// bill.
func (t *Terms) settlesAfter(month pricing.Date) bool { return int(month.Month) == t.TrueUpMonth }

// trueUps settles net metering for each group of months up to a true-up, and for the
// rest. It returns the amount due each month, and the total paid.
func (t *Terms) trueUps(b *Bill) (due []float64, paid float64) {
	for from := 0; from < len(b.Months); {
		to := from + 1
		for to < len(b.Months) && !t.settlesAfter(b.Months[to-1].Start) {
			to++
		}
		months := b.Months[from:to]
		owed, left := t.rollOver(months)
		for _, amount := range owed {
			paid += amount
		}
		switch {
		case t.TrueUpMonth != 0 && !t.settlesAfter(months[len(months)-1].Start):
			b.OpenCredit = left
		case t.SurplusRetail:
			paid -= left
		default:
			paid -= surplus(months) * t.SurplusRate
		}
		due, from = append(due, owed...), to
	}
	return due, paid
}

// surplus returns the generated energy beyond the used energy, kWh.
func surplus(months []Month) float64 {
	total := 0.0
	for _, m := range months {
		total += m.SolarKWh - m.UsedKWh
	}
	return max(total, 0)
}

// rollOver carries credits from month to month. Credits pay for energy, never for fixed
// or demand charges, nor for the charges on every kWh drawn that net metering does not
// credit. rollOver returns the amount due each month and the remaining credit.
func (t *Terms) rollOver(months []Month) (due []float64, left float64) {
	credits := ledger{expiry: t.CreditMonths}
	for _, m := range months {
		due = append(due, m.Fixed+m.Demand+m.uncredited+credits.apply(m.Energy-m.Credit-m.uncredited))
	}
	return due, sumOf(credits.credits)
}

// ledger holds the credits of past months in dollars, oldest first.
type ledger struct {
	credits []float64
	expiry  int // months until a credit expires; 0 means never
}

// apply pays a month's debt from the credits, oldest first, and stores a new credit. It
// returns the unpaid amount.
func (l *ledger) apply(owed float64) float64 {
	if l.expiry > 0 && len(l.credits) > l.expiry {
		l.credits = l.credits[1:]
	}
	for i := range l.credits {
		part := min(l.credits[i], max(owed, 0))
		l.credits[i] -= part
		owed -= part
	}
	l.credits = append(l.credits, max(-owed, 0))
	return max(owed, 0)
}

// minimum is what a month must come to at least, in dollars for its metered days. ofMonth
// applies to the month alone, and ofYear to the sum of the months. apart is the part of ofMonth
// for days without a yearly minimum.
type minimum struct{ ofMonth, ofYear, apart float64 }

func (m *minimum) add(info *pricing.TariffInfo, days *monthOfSteps) {
	monthly, yearly := charged(info.MinimumCharge, days), charged(info.AnnualMinimum, days)
	if strings.EqualFold(strings.TrimPrefix(info.MinimumCharge.Unit, "$"), "/year") {
		monthly, yearly = 0, monthly
	}
	m.ofMonth += monthly
	m.ofYear += yearly
	if yearly == 0 {
		m.apart += monthly
	}
}

// topUp adds the difference between minimum charges and the amounts due.
func (b *Bill) topUp(minimums []minimum, due []float64) {
	yearly, paid := 0.0, 0.0
	for i, least := range minimums {
		if least.ofMonth > 0 {
			b.Months[i].Minimum = max(least.ofMonth-due[i], 0)
			b.Fixed += b.Months[i].Minimum
		}
		if least.ofYear > 0 {
			yearly += least.ofYear
			paid += due[i] + b.Months[i].Minimum - least.apart
		}
	}
	if more := yearly - paid; more > 0 {
		b.Months[len(b.Months)-1].Minimum += more
		b.Fixed += more
	}
}
