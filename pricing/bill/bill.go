package bill

import (
	"slices"
	"strings"

	"github.com/gridhook/gridhook/pricing"
)

// Month is the bill of one billing month. All money is US dollars.
type Month struct {
	Start pricing.Date `json:"start" doc:"The first day of the billing month." example:"2026-07-01"`
	Days  int          `json:"days" doc:"The length of the billing month, metered or not." example:"31"`

	UsedKWh  float64 `json:"usedKwh" example:"744"`
	SolarKWh float64 `json:"solarKwh" doc:"The generated energy." example:"0"`
	DrawnKWh float64 `json:"drawnKwh" doc:"The imported energy: the excess of use over generation, summed over the steps." example:"744"`
	SentKWh  float64 `json:"sentKwh" doc:"The exported energy: the excess of generation over use, summed over the steps." example:"0"`

	Fixed    float64 `json:"fixed" doc:"Fixed charges and grid fees." example:"10"`
	Minimum  float64 `json:"minimum" doc:"The increase of the bill to the minimum charge." example:"0"`
	Energy   float64 `json:"energy" doc:"The cost of the used energy without solar." example:"148.8"`
	DemandKW float64 `json:"demandKw" doc:"The highest demand. 0 if the plan has no demand charges." example:"0"`
	Demand   float64 `json:"demand" doc:"The demand charges." example:"0"`
	Credit   float64 `json:"credit" doc:"The savings by solar in the month, before the rollover of credits." example:"0"`

	uncredited float64 // the charges on DrawnKWh that credits do not pay, if credits are in dollars
}

// Bill is the bill of a span of time, usually a year.
type Bill struct {
	Months   []Month  `json:"months"`
	Currency string   `json:"currency" example:"USD"`
	Metering Metering `json:"metering,omitempty" doc:"The settlement of the solar. Absent without solar." example:"NET_METERING"`
	// Regime is the home's solar regime; nil without solar.
	Regime *pricing.Regime `json:"regime,omitempty"`
	Fixed  float64         `json:"fixed" doc:"Fixed charges with all minimum charges." example:"10"`
	Demand float64         `json:"demand" example:"0"`
	Energy float64         `json:"energy" doc:"The cost of the used energy without solar." example:"148.8"`
	Credit float64         `json:"credit" doc:"The savings by solar after the settlement." example:"0"`
	Total  float64         `json:"total" doc:"fixed + demand + energy - credit" example:"158.8"`
	// OpenCredit and OpenKWh are not part of Credit.
	OpenCredit float64 `json:"openCredit" doc:"The open credits in dollars since the last settlement, not part of total." example:"0"`
	OpenKWh    float64 `json:"openKwh" doc:"The open credits in kWh since the last settlement, not part of total." example:"0"`
	// Parts are the shares of a composed plan's parts.
	Parts   []PartBill `json:"parts,omitempty" doc:"The share of each part of a composed plan: the increase of the bill by the part. Absent for a plan with a tariff."`
	Sun     string     `json:"sun,omitempty" doc:"The weather station of the typical year." example:"Chicago Ohare, IL, 20 km away, 8 m higher, climate zone 5A (the home's: 5A)"`
	Caveats []string   `json:"caveats" doc:"The reasons in the rate plan or the meter that make the bill uncertain." example:"[]"`
}

func (b *Bill) caveat(s string) {
	if !slices.Contains(b.Caveats, s) {
		b.Caveats = append(b.Caveats, s)
	}
}

// Calculate calculates the bill for metered data. The errors are *pricing.InvalidError.
func Calculate(m Meter, t Terms) (*Bill, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	t.defaults()
	if err := t.check(len(m.Load)); err != nil {
		return nil, err
	}
	months, err := m.months(&t)
	if err != nil {
		return nil, err
	}
	b := &Bill{Currency: "USD", Caveats: []string{}}
	var minimums []minimum
	kwh := &bank{}
	for i := range months {
		if i > 0 && t.settlesAfter(months[i-1].start) {
			kwh = &bank{}
		}
		month, least := t.month(&months[i], m.SendsOut(), kwh), minimum{}
		for _, part := range months[i].versions() {
			info := &part.seen[0].rates.Info
			month.Fixed += charged(info.FixedCharge, &part)
			least.add(info, &part)
		}
		b.Months, minimums = append(b.Months, month), append(minimums, least)
	}
	t.chargeDemand(b, months, m.Step)
	t.settle(b, minimums)
	if last := len(b.Months) - 1; t.TrueUpMonth != 0 && !t.settlesAfter(b.Months[last].Start) {
		b.OpenKWh = sumOf(kwh.kwh)
	}
	return b, nil
}

// month calculates the energy charges and the grid fees of one month, before credits roll
// over.
func (t *Terms) month(m *monthOfSteps, solar bool, bank *bank) Month {
	month := Month{Start: m.start, Days: m.days}
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
		month.uncredited = t.uncredited(m, drawn)
	case t.Rollover == Energy:
		month.Credit = month.Energy - t.banked(m, bank) - t.eventCharge(m, net)
	default:
		month.Credit = month.Energy - t.energy(m, net) - t.uncredited(m, sent)
		month.uncredited = t.uncredited(m, drawn)
	}
	return month
}

// charged returns the amount of a charge for the metered days of a month.
func charged(c pricing.Charge, m *monthOfSteps) float64 {
	switch unit := strings.ToLower(strings.TrimPrefix(c.Unit, "$")); unit {
	case "/day":
		return c.Amount * float64(len(m.seen))
	case "/year":
		return c.Amount * m.years()
	}
	return c.Amount * m.share()
}
