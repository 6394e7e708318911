package bill_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/bill"
	"github.com/gridhook/gridhook/pricing/market"
)

// hourly returns a request with a load for each hour of some days from a day on.
func hourly(start string, days int, kwh func(hour int) float64) bill.Request {
	r := bill.Request{Start: start, StepMinutes: 60}
	for i := range days * 24 {
		r.Load = append(r.Load, kwh(i%24))
	}
	return r
}

func flatRate(rate float64) []any { return []any{[]any{fields{"rate": rate}}} }

// billing returns the bill of a home with a billing month from the 15th on.
func billing(t *testing.T, r bill.Request, versions ...fields) *bill.Bill {
	t.Helper()
	b, err := bill.ForHome(bill.Home{Location: time.UTC, Usage: pricing.Usage{BillingDay: 15}}, bill.Terms{Tariff: parse(t, versions)}, r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A version that starts within the billing month has its fixed and minimum charges for its
// days.
func TestVersions_FixedCharges(t *testing.T) {
	b := billing(t, hourly("2026-02-15", 28, func(int) float64 { return 0 }),
		fields{"startdate": "2025-01-01", "energyratestructure": flatRate(0.4), "mincharge": 28},
		fields{"startdate": "2026-03-01", "energyratestructure": flatRate(0.3), "mincharge": 56, "fixedchargefirstmeter": 0.5, "fixedchargeunits": "$/day"})
	// 14 days at 0.50 are 7.00; the minimum is 28 and 56 for half a month each.
	if m := b.Months[0]; !near(m.Fixed, 7) || !near(m.Minimum, 42-7) || !near(b.Total, 42) {
		t.Errorf("fixed %v, minimum %v, total %v, want 7, 35 and 42", m.Fixed, m.Minimum, b.Total)
	}
}

// A month whose plan changes has a monthly and a yearly minimum, each for its days. The usage
// of the next month counts toward the yearly one alone, and the usage of the month before toward
// none. Two yearly minimums of a month add up.
func TestVersions_MinimumUnits(t *testing.T) {
	// 14 days of 28 a month are 14. 14 + 31 days of 365 a year are 45, less than 744 kWh cost.
	yearly := func(start string) fields {
		return fields{"startdate": start, "energyratestructure": flatRate(0.5), "mincharge": 365, "minchargeunits": "$/year"}
	}
	for load, minimum := range map[float64]float64{0: 45, 1: 0} {
		r := hourly("2026-02-15", 28+31, func(int) float64 { return 0 })
		for i := 28 * 24; i < len(r.Load); i++ {
			r.Load[i] = load
		}
		monthly := fields{"startdate": "2025-01-01", "energyratestructure": flatRate(0.5), "mincharge": 28}
		b := billing(t, r, monthly, yearly("2026-03-01"))
		if !near(b.Months[0].Minimum, 14) || !near(b.Months[1].Minimum, minimum) || !near(b.Total, 14+minimum+372*load) {
			t.Errorf("minimums %v and %v, total %v, want 14 and %v", b.Months[0].Minimum, b.Months[1].Minimum, b.Total, minimum)
		}
		r.Load, r.Start = append(slices.Repeat([]float64{1}, 31*24), r.Load...), "2026-01-15"
		if b := billing(t, r, monthly, yearly("2026-03-01")); !near(b.Total, 372+14+minimum+372*load) {
			t.Errorf("after a month of use: total %v, want %v", b.Total, 372+14+minimum+372*load)
		}
		r.Load, r.Start = r.Load[31*24:], "2026-02-15"
		if b := billing(t, r, yearly("2025-01-01"), yearly("2026-03-01"), yearly("2026-03-08")); !near(b.Total, max(59, 372*load)) {
			t.Errorf("yearly minimums: total %v, want %v", b.Total, max(59, 372*load))
		}
	}
}

// A plan has a minimum by month and one by year: January costs $100, and each later month its
// minimum of $10. The year comes to $210, or to the yearly minimum. A request replaces both.
func TestMinimum_MonthAndYear(t *testing.T) {
	request := hourly("2026-01-01", 365, always(0))
	request.Load[0] = 1000
	for yearly, want := range map[float64]float64{0: 210, 200: 210, 300: 300} {
		plan := parse(t, fields{"energyratestructure": flatRate(0.1), "minmonthlycharge": 10, "annualmincharge": yearly})
		b, err := bill.ForHome(bill.Home{Location: time.UTC}, bill.Terms{Tariff: plan}, request)
		if err != nil || !near(b.Total, want) {
			t.Errorf("a yearly minimum of $%v: $%+v, %v; want $%v", yearly, b, err, want)
		}
		replaced := request
		replaced.Minimum = new(5.0)
		b, err = bill.ForHome(bill.Home{Location: time.UTC}, bill.Terms{Tariff: plan}, replaced)
		if err != nil || !near(b.Total, 155) {
			t.Errorf("a minimum of the request instead of a yearly one of $%v: $%+v, %v; want $155", yearly, b, err)
		}
	}
}

// A version that starts within the billing month has its prices for its days under every rule
// of tiers: 14 days of 24 kWh at 0.40 and at 0.30. A tax counts from its first day on.
func TestVersions_EnergyPrices(t *testing.T) {
	for _, rule := range bill.TierRules() {
		r := hourly("2026-02-15", 28, func(int) float64 { return 1 })
		r.Tiers = rule
		changed := []fields{
			{"startdate": "2025-01-01", "energyratestructure": flatRate(0.4)}, {"startdate": "2026-03-01", "energyratestructure": flatRate(0.3)},
		}
		b := billing(t, r, changed...)
		if !near(b.Energy, 336*0.7) {
			t.Errorf("%s: energy for $%v, want $%v", rule, b.Energy, 336*0.7)
		}
		netted := r
		netted.Load, netted.Metering, netted.Rollover = append(slices.Clone(r.Load[:27*24]), slices.Repeat([]float64{-0.5}, 24)...), bill.NetMetering, bill.Energy
		if b := billing(t, netted, changed...); !near(b.Energy-b.Credit, (27*24-12)*0.35) {
			t.Errorf("%s: net use for $%v, want the mean price of the days, $%v", rule, b.Energy-b.Credit, (27*24-12)*0.35)
		}
		taxed := billing(t, r, fields{
			"energyratestructure": flatRate(0.4), "riders": []any{fields{"name": "tax", "rate": 10, "unit": "%", "startdate": "2026-03-01"}},
		})
		if !near(taxed.Energy, 336*0.84) {
			t.Errorf("%s: energy with a tax for $%v, want $%v", rule, taxed.Energy, 336*0.84)
		}
	}
}

// Versions with other periods share the net use of a month in kWh.
func TestVersions_NetUseOfPeriods(t *testing.T) {
	two := func(start string) fields {
		return fields{"startdate": start, "energyratestructure": append(flatRate(0.1), flatRate(0.1)...), "energyweekdayschedule": schedule()}
	}
	one := func(start string) fields { return fields{"startdate": start, "energyratestructure": flatRate(0.1)} }
	r := hourly("2026-02-15", 28, always(1))
	r.Load[0], r.Metering, r.Rollover = -9, bill.NetMetering, bill.Energy
	for name, versions := range map[string][]fields{"fewer": {two("2025-01-01"), one("2026-03-01")}, "more": {one("2025-01-01"), two("2026-03-01")}} {
		if b := billing(t, r, versions...); !near(b.Total, (672-10)*0.1) {
			t.Errorf("%s periods: $%v, want $66.2", name, b.Total)
		}
	}
}

// Versions and seasons may number the same periods differently. The kWh of a period then offset
// the use of the same hours: in a month of both, and from there in the next month. Two months
// with 40 kWh sent in one afternoon use 28 + 31 afternoons of 12 kWh, less 40, and as many mornings.
func TestVersions_RenumberedPeriods(t *testing.T) {
	numbered := func(start string, morning, afternoon func(month int) int) fields {
		rates := []any{[]any{fields{"rate": 9}}, []any{fields{"rate": 9}}, []any{fields{"rate": 9}}}
		hours := make([][]int, 12)
		for month := range hours {
			hours[month] = append(slices.Repeat([]int{morning(month)}, 12), slices.Repeat([]int{afternoon(month)}, 12)...)
			rates[morning(month)], rates[afternoon(month)] = []any{fields{"rate": 0.1}}, []any{fields{"rate": 0.3}}
		}
		return fields{"startdate": start, "energyratestructure": rates, "energyweekdayschedule": hours}
	}
	always := func(period int) func(int) int { return func(int) int { return period } }
	season := func(month int) int { return 1 + month/2%2 } // another period from March on
	for name, versions := range map[string][]fields{
		"one version":     {numbered("2025-01-01", always(0), always(1))},
		"of two versions": {numbered("2025-01-01", always(0), always(1)), numbered("2026-03-01", always(1), always(0))},
		"of more periods": {numbered("2025-01-01", always(0), always(1)), numbered("2026-03-01", always(2), always(0))},
		"of two seasons":  {numbered("2025-01-01", always(0), season)},
	} {
		for _, sent := range []int{0, 27, 28} {
			r := hourly("2026-02-15", 28+31, func(int) float64 { return 1 })
			r.Load[sent*24+15] = -39
			r.Metering, r.Rollover = bill.NetMetering, bill.Energy
			if want := 59*12*0.1 + (59*12-40)*0.3; !near(billing(t, r, versions...).Total, want) {
				t.Errorf("%s, sent on day %d: $%v, want $%v", name, sent, billing(t, r, versions...).Total, want)
			}
		}
		r := hourly("2026-02-15", 28+31, func(int) float64 { return 0 })
		r.Load[15], r.Load[28*24+15], r.Load[28*24+5] = -40, 50, 50
		r.Metering, r.Rollover = bill.NetMetering, bill.Energy
		if b := billing(t, r, versions...); !near(b.Total, 10*0.3+50*0.1) {
			t.Errorf("%s, carried: $%v, want $8", name, b.Total)
		}
	}
}

// Each version of a plan has its own demand charges and periods. These two cost the same,
// and number their periods differently.
func TestVersions_DemandPeriods(t *testing.T) {
	version := func(start string, peak int) fields {
		hours := make([][]int, 12)
		for m := range hours {
			for h := range 24 {
				p := 1 - peak
				if h >= 16 && h < 21 {
					p = peak
				}
				hours[m] = append(hours[m], p)
			}
		}
		rates := []any{[]any{fields{"rate": 0}}, []any{fields{"rate": 0}}}
		rates[peak] = []any{fields{"rate": 20}}
		return fields{
			"startdate": start, "energyratestructure": flatRate(0.1),
			"demandratestructure": rates, "demandweekdayschedule": hours, "demandweekendschedule": hours,
		}
	}
	load := func(hour int) float64 {
		if hour < 6 {
			return 10
		}
		return 1
	}
	r := hourly("2026-02-15", 28, load)
	r.Load[0] = 12 // of the first version
	b := billing(t, r, version("2025-01-01", 1), version("2026-03-01", 0))
	if m := b.Months[0]; !near(m.Demand, 20) || !near(m.DemandKW, 12) {
		t.Errorf("demand of %v kW for %v, want 12 and 20 for the 1 kW of the peak hours", m.DemandKW, m.Demand)
	}
}

// The last tier of a demand charge has no end, as for energy.
func TestDemand_BeyondLastTier(t *testing.T) {
	b := billing(t, hourly("2026-02-15", 28, func(int) float64 { return 8 }),
		fields{"energyratestructure": flatRate(0.1), "flatdemandstructure": []any{[]any{fields{"rate": 10, "max": 5}}}})
	if !near(b.Demand, 80) {
		t.Errorf("8 kW cost %v, want 80", b.Demand)
	}
}

// A yearly minimum changes nothing about the credits of net metering: credits of February do
// not pay for January.
func TestSettle_YearlyMinimum(t *testing.T) {
	for _, unit := range []string{"$/month", "$/year"} {
		r := hourly("2026-01-15", 31, func(int) float64 { return 1 })
		r.Load = append(r.Load, hourly("", 28, func(int) float64 { return -1 }).Load...)
		b := billing(t, r, fields{"energyratestructure": flatRate(0.2), "dgrules": "Net Metering", "mincharge": 1, "minchargeunits": unit})
		want := 744 * 0.2
		if unit == "$/month" {
			want++ // the minimum of the second month
		}
		if !near(b.Total, want) {
			t.Errorf("%s: total %v, want %v", unit, b.Total, want)
		}
	}
}

// A bill that crosses the end of a regime is refused. The bills before and after it have
// different settlements.
func TestSettlement_Change(t *testing.T) {
	tariff := parse(t, fields{"energyratestructure": []any{[]any{fields{"rate": 0.4, "sell": 0.05}}}})
	home := bill.Home{Location: time.UTC, Solar: &bill.Solar{}}
	home.Solar.Regime = pricing.Regime{Name: "NEM 1.0", Metering: pricing.NetMetering, Ends: pricing.Date{Year: 2025, Month: time.December, Day: 31}}
	load := func(hour int) float64 {
		if hour == 12 {
			return -10
		}
		return 1
	}
	for start, want := range map[string]bill.Metering{"2025-12-01": bill.NetMetering, "2026-01-01": bill.NetBilling} {
		b, err := bill.ForHome(home, bill.Terms{Tariff: tariff}, hourly(start, 31, load))
		if err != nil || b.Metering != want {
			t.Errorf("from %s: %+v, %v; want %s", start, b, err, want)
		}
	}
	_, err := bill.ForHome(home, bill.Terms{Tariff: tariff}, hourly("2025-12-15", 31, load))
	if err == nil || !strings.Contains(err.Error(), "settled by NET_BILLING instead of NET_METERING") {
		t.Errorf("across the end of the regime: %v", err)
	}
}

// A typical year of a home that bids has no market prices, also under a plan that pays
// them for exports.
func TestSettlement_WholesaleTypicalYear(t *testing.T) {
	points := make([]market.Point, 72)
	for i := range points {
		points[i] = market.Point{Start: time.Date(2026, time.June, 1, i, 0, 0, 0, time.UTC), Price: 0.03}
	}
	hub, err := market.New(points, market.Options{Node: "N", Kind: market.DayAhead})
	if err != nil {
		t.Fatal(err)
	}
	tariff := parse(t, fields{"energyratestructure": flatRate(0.2), "dgrules": "Wholesale"})
	r := hourly("", 365, func(hour int) float64 { return float64(1 - 2*(hour/12)) })
	if _, err := bill.ForHome(bill.Home{Location: time.UTC, Market: hub, Bids: true}, bill.Terms{Tariff: tariff}, r); err != nil {
		t.Error(err)
	}
}

// A typical year has the riders that began after the tariff, and not those that have ended.
func TestTypicalYear_Riders(t *testing.T) {
	b := billing(t, hourly("", 365, func(int) float64 { return 1 }), fields{
		"startdate": "2024-03-01", "energyratestructure": flatRate(0.2), "riders": []any{
			fields{"name": "new", "rate": 0.03, "startdate": "2026-01-01"}, fields{"name": "old", "rate": 0.5, "enddate": "2025-06-30"},
		},
	})
	if !near(b.Total, 8760*0.23) {
		t.Errorf("total %v, want %v", b.Total, 8760*0.23)
	}
}

// A load of 366 days is a leap year: twelve months with a February of 29 days, and no 1
// January of the next year. It costs 12 x $10 + 8784 x $0.1 = $998.4.
func TestTypicalYear_LeapDay(t *testing.T) {
	request := hourly("", 366, func(int) float64 { return 1 })
	request.StepMinutes = 0 // as many steps as a year has hours
	ofCharges := parse(t, fields{"energyratestructure": flatRate(9), "fixedchargefirstmeter": 10})
	byTheHour := bill.Terms{Tariff: ofCharges, HourlyPrices: slices.Repeat([]float64{0.1}, 8784)}
	ofPlan := bill.Terms{Tariff: parse(t, fields{"energyratestructure": flatRate(0.1), "fixedchargefirstmeter": 10})}
	for name, terms := range map[string]bill.Terms{"prices by the hour": byTheHour, "plan": ofPlan} {
		for _, year := range []int{0, 2024} {
			request.CalendarYear = year
			b, err := bill.ForHome(bill.Home{}, terms, request)
			if err != nil {
				t.Fatal(err)
			}
			if len(b.Months) != 12 || b.Months[1].UsedKWh != 29*24 || !near(b.Total, 998.4) {
				t.Errorf("%s, %d: %d months, $%v: %+v", name, year, len(b.Months), b.Total, b.Months[1])
			}
		}
		request.CalendarYear = 2025
		if _, err := bill.ForHome(bill.Home{}, terms, request); err == nil {
			t.Errorf("%s: no error for 366 days of 2025", name)
		}
	}
}

// The clock may skip midnight, as in Havana on 8 March. The bill then begins at the first moment
// of the day, and not in the last hour of the day before.
func TestForHome_SkippedMidnight(t *testing.T) {
	havana, err := time.LoadLocation("America/Havana")
	if err != nil {
		t.Fatal(err)
	}
	r := hourly("2026-03-08", 1, always(1))
	r.Load = r.Load[:23]
	terms := bill.Terms{Tariff: parse(t, fields{"energyratestructure": flatRate(0.1), "fixedchargefirstmeter": 1, "fixedchargeunits": "$/day"})}
	b, err := bill.ForHome(bill.Home{Location: havana, Usage: pricing.Usage{BillingDay: 8}}, terms, r)
	if err != nil || len(b.Months) != 1 || !near(b.Total, 2.3+1) {
		t.Errorf("%+v, %v; want $3.3 of one month", b, err)
	}
}

// A charge by the year is due once for all days of a year: 366 x $366/366 = $366 in 2024,
// and 365 x $366/365 = $366 in 2025. The minimum of $400 a year adds $34.
func TestCharges_YearlyInLeapYear(t *testing.T) {
	plan := fields{"energyratestructure": flatRate(0), "fixedchargefirstmeter": 366, "fixedchargeunits": "$/year", "mincharge": 400, "minchargeunits": "$/year"}
	for start, days := range map[string]int{"2024-01-01": 366, "2025-01-01": 365} {
		b := billing(t, hourly(start, days, func(int) float64 { return 1 }), plan)
		fixed := 0.0
		for _, m := range b.Months {
			fixed += m.Fixed
		}
		if !near(fixed, 366) || !near(b.Total, 400) {
			t.Errorf("%s: fixed charges of $%v and $%v in all, want $366 and $400", start, fixed, b.Total)
		}
	}
}
