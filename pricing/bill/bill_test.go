package bill_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/bill"
	"github.com/gridhook/gridhook/pricing/urdb"
)

// parse parses a tariff: the fields of one version, or a list of versions.
func parse(t testing.TB, tariffs any) *pricing.Tariff {
	t.Helper()
	data, err := json.Marshal(tariffs)
	if err != nil {
		t.Fatal(err)
	}
	tariff, err := urdb.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return tariff
}

// schedule has period 1 from noon on and period 0 before.
func schedule() [12][24]int {
	var s [12][24]int
	for month := range s {
		for hour := 12; hour < 24; hour++ {
			s[month][hour] = 1
		}
	}
	return s
}

type fields = map[string]any

// twoPeriods costs 0.10 and 0.20 in the morning, 0.30 and 0.40 after noon. The second
// price applies above 100 and 200 kWh a month.
func twoPeriods() fields {
	return fields{
		"energyratestructure": []any{
			[]any{fields{"rate": 0.1, "max": 100, "sell": 0.03}, fields{"rate": 0.2}},
			[]any{fields{"rate": 0.3, "max": 200, "sell": 0.07}, fields{"rate": 0.4}},
		},
		"energyweekdayschedule": schedule(),
	}
}

// hours is a meter from 1 April 2026 on, with the same values every day.
func hours(days int, load, solar func(hour int) float64) bill.Meter {
	m := bill.Meter{Start: time.Date(2026, time.April, 1, 0, 0, 0, 0, time.UTC), Step: time.Hour, Location: time.UTC}
	for i := range days * 24 {
		m.Load = append(m.Load, load(i%24))
		if solar != nil {
			m.Solar = append(m.Solar, solar(i%24))
		}
	}
	return m
}

func always(kwh float64) func(int) float64 { return func(int) float64 { return kwh } }

// noon is solar that exceeds the load by 4 kWh for two hours.
func noon(hour int) float64 {
	if hour == 11 || hour == 12 {
		return 5
	}
	return 0
}

func calculate(t testing.TB, m bill.Meter, terms bill.Terms) *bill.Bill {
	t.Helper()
	b, err := bill.Calculate(m, terms)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func near(got, want float64) bool { return math.Abs(got-want) <= 1e-9*max(1, math.Abs(want)) }

// TestTiers_Rules prices 30 days of 1 kWh an hour: 720 kWh, half of them after noon.
func TestTiers_Rules(t *testing.T) {
	tariff := parse(t, twoPeriods())
	// The running total is 24 kWh a day. It reaches 100 on the fifth day at 04:00
	// and 200 on the ninth at 08:00.
	runningTotal := 0.1*(4*12+4) + 0.2*(8+25*12) + 0.3*(8*12) + 0.4*(22*12)
	// The tier counter passes 100 in a morning. The second tier has no limit, so it stays
	// there.
	prorated := 0.5*(0.1*100+0.2*620) + 0.5*(0.3*100+0.4*620)
	for rule, want := range map[bill.TierRule]float64{bill.RunningTotal: runningTotal, bill.Prorated: prorated} {
		b := calculate(t, hours(30, always(1), nil), bill.Terms{Tariff: tariff, Rules: bill.Rules{Tiers: rule}})
		if !near(b.Energy, want) || !near(b.Total, want) || len(b.Months) != 1 || b.Months[0].UsedKWh != 720 {
			t.Errorf("rule %s: $%v, want $%v", rule, b.Energy, want)
		}
	}
}

// A period with one tier adds to the first tier, also after the month has passed its bound. The
// total reaches 100 kWh on the fifth day at 04:00, after 52 kWh of mornings and 48 of afternoons.
// The first tier then has 100 + 312 kWh of afternoons, the second 308 of mornings. Each period has
// half of both, and afternoons have no second tier.
func TestTiers_ProratedUneven(t *testing.T) {
	rate := twoPeriods()
	rate["energyratestructure"] = []any{[]any{fields{"rate": 0.1, "max": 100}, fields{"rate": 0.2}}, []any{fields{"rate": 0.3}}}
	b := calculate(t, hours(30, always(1), nil), bill.Terms{Tariff: parse(t, rate), Rules: bill.Rules{Tiers: bill.Prorated}})
	if want := 0.5*(412*0.1+308*0.2) + 0.5*412*0.3; !near(b.Energy, want) {
		t.Errorf("$%v, want $%v", b.Energy, want)
	}
}

// A bound below the bound before leaves its tier without width. Then both rules charge 100 kWh at
// the first price, and the rest at the third.
func TestTiers_WithoutWidth(t *testing.T) {
	tiers := []any{fields{"rate": 0.1, "max": 100}, fields{"rate": 9, "max": 50}, fields{"rate": 0.3, "max": 100}, fields{"rate": 0.2}}
	for _, rule := range bill.TierRules() {
		b := calculate(t, hours(30, always(1), nil), bill.Terms{Tariff: parse(t, fields{"energyratestructure": []any{tiers}}), Rules: bill.Rules{Tiers: rule}})
		if want := 100*0.1 + 620*0.2; !near(b.Energy, want) {
			t.Errorf("%s: $%v, want $%v", rule, b.Energy, want)
		}
	}
}

// The net use of a month may be 0. Then each period has its first price.
func TestTiers_NetUseOfZero(t *testing.T) {
	m := hours(30, always(0), always(0))
	for _, rule := range bill.TierRules() {
		terms := bill.Terms{Tariff: parse(t, twoPeriods()), Rules: bill.Rules{Tiers: rule}}
		if b := calculate(t, m, terms); !near(b.Total, 0) {
			t.Errorf("%s: $%v without use, want $0", rule, b.Total)
		}
		netted := m
		netted.Load, netted.Solar = slices.Clone(m.Load), slices.Clone(m.Solar)
		netted.Solar[6], netted.Load[18] = 10, 10
		if b := calculate(t, netted, terms); !near(b.Total, 10*0.3-10*0.1) {
			t.Errorf("%s: $%v for 10 kWh at $0.3, and 10 kWh back at $0.1", rule, b.Total)
		}
	}
}

// Exports take back energy of the tier that they leave: 120 - 30 kWh cost 90 x $0.1.
func TestTiers_NetUse(t *testing.T) {
	tariff := parse(t, fields{"energyratestructure": []any{[]any{fields{"rate": 0.1, "max": 100}, fields{"rate": 0.2}}}})
	m := hours(30, always(0), nil)
	m.Load[0], m.Load[1] = 120, -30
	for _, rule := range bill.TierRules() {
		if b := calculate(t, m, bill.Terms{Tariff: tariff, Rules: bill.Rules{Tiers: rule}}); !near(b.Total, 9) {
			t.Errorf("rule %s: $%v, want $9", rule, b.Total)
		}
	}
}

func TestTiers_BillingMonth(t *testing.T) {
	tariff := parse(t, fields{"energyratestructure": []any{[]any{fields{"rate": 0.1, "max": 100}, fields{"rate": 0.2}}}})
	b := calculate(t, hours(30, always(1), nil), bill.Terms{Tariff: tariff, Usage: pricing.Usage{BillingDay: 16}})
	if len(b.Months) != 2 || b.Months[0].Start.String() != "2026-03-16" || b.Months[0].Days != 31 || b.Months[1].Days != 30 {
		t.Fatalf("got %+v", b.Months)
	}
	for _, m := range b.Months { // 15 days of each month are metered
		bound := 100 * 15 / float64(m.Days)
		if want := 0.1*bound + 0.2*(360-bound); !near(m.Energy, want) {
			t.Errorf("from %v: $%v, want $%v", m.Start, m.Energy, want)
		}
	}
}

// A year's bill does not depend on the billing day: the two ends of a year share the tiers and
// the minimum of one month.
func TestCalculate_BillingDay(t *testing.T) {
	year := bill.Meter{Start: time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC), Step: time.Hour, Location: time.UTC, Load: slices.Repeat([]float64{1.2}, 365*24)}
	idle := year
	idle.Load = make([]float64, len(year.Load))
	rate := func(charges fields) *pricing.Tariff {
		charges["energyratestructure"] = []any{[]any{fields{"rate": 0.1, "max": 300}, fields{"rate": 0.4}}}
		return parse(t, charges)
	}
	for _, tt := range []struct {
		name    string
		charges fields
		meter   bill.Meter
		want    float64
	}{
		{"tiers", fields{}, year, 12*300*0.1 + (8760*1.2-12*300)*0.4},
		{"monthly minimum", fields{"mincharge": 31}, idle, 12 * 31},
		{"daily minimum", fields{"mincharge": 1, "minchargeunits": "$/day"}, idle, 365},
		{"yearly minimum", fields{"mincharge": 120, "minchargeunits": "$/year"}, idle, 120},
	} {
		for _, day := range []int{1, 2, 12, 28} {
			b := calculate(t, tt.meter, bill.Terms{Tariff: rate(tt.charges), Usage: pricing.Usage{BillingDay: day}})
			if !near(b.Total, tt.want) {
				t.Errorf("%s, billing day %d: $%v, want $%v", tt.name, day, b.Total, tt.want)
			}
		}
	}
	idle.Load = make([]float64, 2*len(year.Load))
	if b := calculate(t, idle, bill.Terms{Tariff: rate(fields{"mincharge": 120, "minchargeunits": "$/year"})}); !near(b.Total, 240) {
		t.Errorf("the yearly minimum of two years: $%v, want $240", b.Total)
	}
}

func TestTiers_DailyAndBaseline(t *testing.T) {
	for unit, usage := range map[string]pricing.Usage{"kWh daily": {}, "baseline": {BaselineDailyKWh: 5}} {
		bound := 10.0
		if unit == "baseline" {
			bound = 2
		}
		tariff := parse(t, fields{"baseline": 99, "energyratestructure": []any{[]any{fields{"rate": 0.1, "max": bound, "unit": unit}, fields{"rate": 0.2}}}})
		b := calculate(t, hours(30, always(1), nil), bill.Terms{Tariff: tariff, Usage: usage})
		if want := 0.1*300 + 0.2*420; !near(b.Energy, want) {
			t.Errorf("%s: $%v, want $%v", unit, b.Energy, want)
		}
	}
}

func TestTiers_BaselineOfSeasons(t *testing.T) {
	baseline := slices.Repeat([]float64{20}, 12)
	baseline[time.April-1] = 10
	tariff := parse(t, fields{"baseline": baseline, "energyratestructure": []any{[]any{fields{"rate": 0.1, "max": 1, "unit": "baseline"}, fields{"rate": 0.2}}}})
	m := hours(30, always(1), nil)
	m.Start = m.Start.AddDate(0, 0, 15)
	b := calculate(t, m, bill.Terms{Tariff: tariff, Usage: pricing.Usage{BillingDay: 16}})
	if want := 0.1*(15*10+15*20) + 0.2*(720-450); !near(b.Energy, want) {
		t.Errorf("15 days of April and 15 of May: $%v, want $%v", b.Energy, want)
	}
}

func TestCalculate_ChargesAndRiders(t *testing.T) {
	base := fields{
		"energyratestructure": []any{[]any{fields{"rate": 0.1, "adj": 0.02}}},
		"riders":              []any{fields{"rate": 0.03}, fields{"rate": 10, "unit": "%"}},
	}
	energy := 720 * 0.15 * 1.1
	for _, tt := range []struct {
		name           string
		fixed, minimum fields
		days           int
		want           float64 // fixed, minimum included
	}{
		{"none", nil, nil, 30, 0},
		{"monthly", fields{"fixedchargefirstmeter": 9, "fixedchargeunits": "$/month"}, nil, 30, 9},
		{"half a month", fields{"fixedchargefirstmeter": 9, "fixedchargeunits": "$/month"}, nil, 15, 4.5},
		{"daily", fields{"fixedchargefirstmeter": 0.5, "fixedchargeunits": "$/day"}, nil, 30, 15},
		{"yearly", fields{"fixedchargefirstmeter": 73, "fixedchargeunits": "$/year"}, nil, 30, 6},
		{"monthly minimum", nil, fields{"mincharge": 150, "minchargeunits": "$/month"}, 30, 150 - energy},
		{"minimum that is met", nil, fields{"mincharge": 100}, 30, 0},
		{"daily minimum", nil, fields{"mincharge": 5, "minchargeunits": "$/day"}, 30, 150 - energy},
		{"part of a month's minimum", nil, fields{"mincharge": 150, "minchargeunits": "$/month"}, 3, 15 - energy/10},
		{"daily minimum of some days", nil, fields{"mincharge": 5, "minchargeunits": "$/day"}, 3, 15 - energy/10},
		{"part of a year's minimum", nil, fields{"mincharge": 1825, "minchargeunits": "$/year"}, 30, 150 - energy},
	} {
		all := fields{}
		for _, part := range []fields{base, tt.fixed, tt.minimum} {
			for k, v := range part {
				all[k] = v
			}
		}
		b := calculate(t, hours(tt.days, always(1), nil), bill.Terms{Tariff: parse(t, all)})
		if !near(b.Fixed, tt.want) || !near(b.Energy, energy*float64(tt.days)/30) || !near(b.Total, b.Fixed+b.Energy) {
			t.Errorf("%s: got %+v, want fixed $%v", tt.name, b, tt.want)
		}
	}
}

// TestMetering_Credits prices one day: 24 kWh used, 10 generated around noon, 8 of
// them exported.
func TestMetering_Credits(t *testing.T) {
	tariff := parse(t, fields{
		"energyratestructure":   []any{[]any{fields{"rate": 0.1, "sell": 0.03}}, []any{fields{"rate": 0.3, "sell": 0.07}}},
		"energyweekdayschedule": schedule(),
	})
	day := hours(1, always(1), noon)
	exports := make([]float64, 24)
	exports[12] = 0.5
	energy := 12*0.1 + 12*0.3
	for _, tt := range []struct {
		name   string
		rules  bill.Rules
		prices []float64
		credit float64
	}{
		{"net metering", bill.Rules{}, nil, 5*0.1 + 5*0.3},
		{"net metering, whatever the rate of feed-in", bill.Rules{FeedInRate: 0.12}, nil, 5*0.1 + 5*0.3},
		{"net billing at the sell rates", bill.Rules{Metering: bill.NetBilling}, nil, 0.1 + 0.3 + 4*0.03 + 4*0.07},
		{"net billing at values by the hour", bill.Rules{Metering: bill.NetBilling}, exports, 0.1 + 0.3 + 4*0.5},
		{"feed-in", bill.Rules{Metering: bill.FeedIn, FeedInRate: 0.12}, nil, 1.2},
		{"feed-in at the sell rates", bill.Rules{Metering: bill.FeedIn}, nil, 5*0.03 + 5*0.07},
		{"net metering of energy", bill.Rules{Rollover: bill.Energy}, nil, 5*0.1 + 5*0.3},
	} {
		b := calculate(t, day, bill.Terms{Tariff: tariff, Rules: tt.rules, ExportPrices: tt.prices})
		m := b.Months[0]
		if !near(b.Energy, energy) || !near(b.Credit, tt.credit) || !near(b.Total, energy-tt.credit) {
			t.Errorf("%s: got %+v, want a credit of $%v", tt.name, b, tt.credit)
		}
		if m.UsedKWh != 24 || m.SolarKWh != 10 || m.SentKWh != 8 || m.DrawnKWh != 22 {
			t.Errorf("%s: got %+v", tt.name, m)
		}
	}
}

// April has 720 kWh used and 300 generated, of which 240 are sent. A minimum counts the credits
// of net metering ($42 are due) and of net billing ($66 - $12), not the payments of feed-in.
func TestMetering_Minimum(t *testing.T) {
	tariff := parse(t, fields{"energyratestructure": []any{[]any{fields{"rate": 0.1, "sell": 0.05}}}, "mincharge": 60})
	for metering, want := range map[bill.Metering][2]float64{bill.NetMetering: {18, 60}, bill.NetBilling: {6, 60}, bill.FeedIn: {0, 72 - 15}} {
		b := calculate(t, hours(30, always(1), noon), bill.Terms{Tariff: tariff, Rules: bill.Rules{Metering: metering}})
		if !near(b.Months[0].Minimum, want[0]) || !near(b.Total, want[1]) {
			t.Errorf("%s: $%v with a minimum of $%v more, want %v", metering, b.Total, b.Months[0].Minimum, want)
		}
	}
}

func TestNonBypassable_EveryImport(t *testing.T) {
	tariff := parse(t, fields{"energyratestructure": []any{[]any{fields{"rate": 0.3}}}, "nonbypassable": 0.02})
	b := calculate(t, hours(1, always(1), noon), bill.Terms{Tariff: tariff})
	if want := 0.3*14 + 0.02*8; !near(b.Total, want) {
		t.Errorf("$%v, want $%v", b.Total, want)
	}
	day := hours(1, always(1), noon)
	request := bill.Request{Load: day.Load, Generated: day.Solar, Start: "2026-04-01", StepMinutes: 60}
	for creditsAll, want := range map[bool]float64{false: 0.3*14 + 0.02*8, true: 0.3 * 14} {
		regime := pricing.Regime{Name: "NEM", Metering: pricing.NetMetering, Source: "Order 1", CreditsAll: creditsAll}
		home := bill.Home{Location: time.UTC, Solar: &bill.Solar{Solar: pricing.Solar{Regime: regime}}}
		if b, err := bill.ForHome(home, bill.Terms{Tariff: tariff}, request); err != nil || !near(b.Total, want) {
			t.Errorf("regime that credits all %v: %+v, %v; want $%v", creditsAll, b, err, want)
		}
	}
}

func TestSettlement_Yearly(t *testing.T) {
	tariff := parse(t, fields{"energyratestructure": []any{[]any{fields{"rate": 0.1}}}, "fixedchargefirstmeter": 5})
	// 48 kWh are used on two days of two months. 100 are generated on the first.
	m := bill.Meter{Start: time.Date(2026, time.April, 30, 0, 0, 0, 0, time.UTC), Step: time.Hour, Location: time.UTC,
		Load: make([]float64, 48), Solar: make([]float64, 48)}
	for i := range m.Load {
		m.Load[i] = 1
	}
	m.Solar[12] = 100
	fixed := 5.0/30 + 5.0/31
	for name, tt := range map[string]struct {
		rules bill.Rules
		want  float64
	}{
		"lost":            {bill.Rules{}, fixed},
		"at a rate":       {bill.Rules{SurplusRate: 0.03}, fixed - 52*0.03},
		"retail":          {bill.Rules{SurplusRetail: true}, fixed - 5.2},
		"with a grid fee": {bill.Rules{GridFee: 3, GridFeePerKW: 2}, fixed * 4},
	} {
		if b := calculate(t, m, bill.Terms{Tariff: tariff, Rules: tt.rules, SolarKW: 6}); !near(b.Total, tt.want) {
			t.Errorf("%s: $%v, want $%v", name, b.Total, tt.want)
		}
	}
}

// A home without solar has no credits: a month of negative prices is paid at once.
func TestCalculate_NegativePrices(t *testing.T) {
	m := threeMonths()
	m.Load[0] = 100
	terms := bill.Terms{Tariff: parse(t, fields{"energyratestructure": flatRate(9)}), HourlyPrices: make([]float64, len(m.Load))}
	terms.HourlyPrices[0], terms.HourlyPrices[len(m.Load)-1] = 0.05, -0.2
	if b := calculate(t, m, terms); !near(b.Total, 5-20) {
		t.Errorf("$%v, want $-15", b.Total)
	}
}

// The price signal is the bill's change for one kWh more. With a steady load the two
// agree in every hour of a year, whatever the tiers, riders and holidays.
func TestSignal_MarginalBill(t *testing.T) {
	location, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	rate := twoPeriods()
	rate["energyratestructure"] = []any{
		[]any{fields{"rate": 0.1, "max": 10, "unit": "kWh daily"}, fields{"rate": 0.2, "max": 20, "unit": "kWh daily"}, fields{"rate": 0.15}},
		[]any{fields{"rate": 0.3, "max": 400}, fields{"rate": 0.4}},
	}
	rate["riders"] = []any{fields{"rate": 0.01}, fields{"rate": 7, "unit": "%"}}
	rate["holidays"] = true
	tariff := parse(t, rate)
	usage := pricing.Usage{DailyKWh: 24, BillingDay: 11}
	random := rand.New(rand.NewPCG(5, 6))
	start := time.Date(2026, time.January, 11, 0, 0, 0, 0, location)
	meter := bill.Meter{Start: start.UTC(), Step: time.Hour, Location: location, Load: make([]float64, 24*31)}
	for i := range meter.Load {
		meter.Load[i] = 1
	}
	terms := bill.Terms{Tariff: tariff, Usage: usage}
	plain := calculate(t, meter, terms).Energy
	curve, err := pricing.Price(pricing.Input{Tariff: tariff, Location: location, Usage: usage},
		pricing.Window{Start: start.UTC(), End: start.UTC().AddDate(0, 0, 31)})
	if err != nil {
		t.Fatal(err)
	}
	// One kWh more also moves all later hours up the tiers: that is the price of the
	// month's last kWh, and the signal of an hour does not include it. So the test bills
	// the hour last.
	for range 40 {
		hour := 1 + random.IntN(len(meter.Load)-1)
		short := meter
		short.Load = slices.Clone(meter.Load)
		clear(short.Load[hour:])
		before := calculate(t, short, terms).Energy
		short.Load[hour] = 1e-6
		price := (calculate(t, short, terms).Energy - before) / 1e-6
		if got := curve.Import[hour*4]; math.Abs(got-price) > 1e-5 {
			t.Fatalf("hour %d: the signal has %v, the bill %v (of $%v)", hour, got, price, plain)
		}
	}
}

func TestCalculate_Invalid(t *testing.T) {
	good, tariff := hours(1, always(1), nil), parse(t, twoPeriods())
	ended := twoPeriods()
	ended["enddate"] = "2026-03-31"
	for name, tt := range map[string]struct {
		spoil func(*bill.Meter, *bill.Terms)
		want  string // the field, empty if there is no error
	}{
		"no time zone":    {func(m *bill.Meter, _ *bill.Terms) { m.Location = nil }, "timezone"},
		"no steps":        {func(m *bill.Meter, _ *bill.Terms) { m.Load = nil }, "loadKwh"},
		"steps of a day":  {func(m *bill.Meter, _ *bill.Terms) { m.Step = 24 * time.Hour }, "stepMinutes"},
		"short solar":     {func(m *bill.Meter, _ *bill.Terms) { m.Solar = []float64{1} }, "generatedKwh"},
		"not a number":    {func(m *bill.Meter, _ *bill.Terms) { m.Load = []float64{math.NaN()} }, "loadKwh"},
		"too much load":   {func(m *bill.Meter, _ *bill.Terms) { m.Load = []float64{1e6 + 1} }, "loadKwh"},
		"too much solar":  {func(m *bill.Meter, _ *bill.Terms) { m.Load, m.Solar = []float64{1}, []float64{-1e308} }, "loadKwh"},
		"infinite load":   {func(m *bill.Meter, _ *bill.Terms) { m.Load = []float64{math.Inf(-1)} }, "loadKwh"},
		"no tariff":       {func(_ *bill.Meter, t *bill.Terms) { t.Tariff = nil }, "ratePlanId"},
		"short prices":    {func(_ *bill.Meter, t *bill.Terms) { t.HourlyPrices = []float64{1} }, "ratePlanId"},
		"short exports":   {func(_ *bill.Meter, t *bill.Terms) { t.ExportPrices = []float64{1} }, "ratePlanId"},
		"metering":        {func(_ *bill.Meter, t *bill.Terms) { t.Metering = "BARTER" }, "metering"},
		"tier rule":       {func(_ *bill.Meter, t *bill.Terms) { t.Tiers = "HALF" }, "tierRule"},
		"rollover":        {func(_ *bill.Meter, t *bill.Terms) { t.Rollover = "BARTER" }, "carryOver"},
		"expiry of kWh":   {func(_ *bill.Meter, t *bill.Terms) { t.Rollover, t.CreditMonths = bill.Energy, 1 }, "creditMonths"},
		"not in force":    {func(_ *bill.Meter, b *bill.Terms) { b.Tariff = parse(t, ended) }, "ratePlanId"},
		"in force anyway": {func(_ *bill.Meter, b *bill.Terms) { b.Tariff, b.AnyDate = parse(t, ended), true }, ""},
	} {
		m, terms := good, bill.Terms{Tariff: tariff}
		tt.spoil(&m, &terms)
		if _, err := bill.Calculate(m, terms); wrongField(err) != tt.want {
			t.Errorf("%s: got %v, want an error of %q", name, err, tt.want)
		}
	}
}

// wrongField returns the field that an error is about, and the text of another error.
func wrongField(err error) string {
	if wrong, ok := errors.AsType[*pricing.InvalidError](err); ok {
		return wrong.Fields[0].Field
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func TestReadRate_Forms(t *testing.T) {
	prices := make([]float64, 8760)
	for i := range prices {
		prices[i] = 0.01 * float64(i%24)
	}
	rate := fields{"realtimepricing": prices, "fixedchargefirstmeter": 9, "fixedchargeunits": "$/month", "mincharge": 200, "minchargeunits": "$/year"}
	for name, file := range map[string]any{"bare": rate, "items": fields{"items": []any{rate}}} {
		terms, err := bill.ReadRate(marshal(t, file))
		if err != nil || len(terms.HourlyPrices) != 8760 {
			t.Fatalf("%s: got %v, %d prices", name, err, len(terms.HourlyPrices))
		}
		if info := terms.Tariff.Info(); info.FixedCharge != (pricing.Charge{Amount: 9, Unit: "$/month"}) || info.MinimumCharge != (pricing.Charge{Amount: 200, Unit: "$/year"}) {
			t.Fatalf("%s: got %+v, %+v", name, info.FixedCharge, info.MinimumCharge)
		}
		year := bill.Meter{Start: time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC), Step: time.Hour, Location: time.UTC, Load: make([]float64, 8760)}
		for i := range year.Load {
			year.Load[i] = 1
		}
		if b := calculate(t, year, terms); !near(b.Energy, 365*2.76) || !near(b.Fixed, 108) {
			t.Errorf("%s: %+v", name, b)
		}
	}
	texts := slices.Repeat([]any{"0.10"}, 8760)
	terms, err := bill.ReadRate(marshal(t, fields{"realtimepricing": texts, "fixedchargefirstmeter": "12.5", "mincharge": " 20 "}))
	if err != nil {
		t.Fatal(err)
	}
	if info := terms.Tariff.Info(); terms.HourlyPrices[8759] != 0.1 || info.FixedCharge.Amount != 12.5 || info.MinimumCharge.Amount != 20 {
		t.Errorf("numbers as texts: %+v, %+v", info.FixedCharge, info.MinimumCharge)
	}
	var refused *urdb.Error
	for _, wrong := range []any{"ten cents", true, nil, "NaN", ""} {
		texts[7] = wrong
		if _, err := bill.ReadRate(marshal(t, fields{"realtimepricing": texts})); !errors.As(err, &refused) || !strings.Contains(err.Error(), "realtimepricing[7]") {
			t.Errorf("a price of %v: %v", wrong, err)
		}
	}
	texts[7] = 0
	if _, err := bill.ReadRate(marshal(t, fields{"realtimepricing": texts, "mincharge": true})); !errors.As(err, &refused) {
		t.Errorf("a minimum that is no number: %v", err)
	}
	if terms, err := bill.ReadRate(marshal(t, twoPeriods())); err != nil || terms.HourlyPrices != nil {
		t.Errorf("with a tariff: %v", err)
	}
	if _, err := bill.ReadRate([]byte(`{"name":"nothing"}`)); !errors.As(err, &refused) {
		t.Errorf("without input: %v", err)
	}
	if _, err := bill.ReadRate([]byte(`{"realtimepricing":[0.1,0.2]}`)); !errors.As(err, &refused) {
		t.Errorf("with two hours: %v", err)
	}
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func BenchmarkCalculateYear(b *testing.B) {
	m := hours(365, always(1), noon)
	terms := bill.Terms{Tariff: parse(b, twoPeriods())}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := bill.Calculate(m, terms); err != nil {
			b.Fatal(err)
		}
	}
}
