package bill_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/bill"
	"github.com/gridhook/gridhook/pricing/market"
)

func part(t testing.TB, id string, role pricing.PlanRole, tariff fields, appliesTo ...string) pricing.PricedPart {
	t.Helper()
	return pricing.PricedPart{PlanPart: pricing.PlanPart{PlanID: id, Role: role, AppliesTo: appliesTo}, Tariff: parse(t, tariff)}
}

func oneRate(rate float64, riders ...any) fields {
	return fields{"energyratestructure": []any{[]any{fields{"rate": rate}}}, "riders": riders}
}

// ccaParts returns a delivery with tiers, a fixed, a minimum and a demand charge, the
// generation of an aggregator with a fixed and a demand charge, the PCIA, CARE's 35 % and a
// city tax from July on.
func ccaParts(t testing.TB) []pricing.PricedPart {
	t.Helper()
	delivery := fields{
		"energyratestructure": []any{
			[]any{fields{"rate": 0.15, "max": 300}, fields{"rate": 0.25}},
			[]any{fields{"rate": 0.2, "max": 300}, fields{"rate": 0.3}},
		},
		"energyweekdayschedule": schedule(), "energyweekendschedule": schedule(),
		"fixedchargefirstmeter": 0.5, "fixedchargeunits": "$/day", "mincharge": 60, "minchargeunits": "$/month",
		"flatdemandstructure": []any{[]any{fields{"rate": 2}}},
		"riders":              []any{fields{"name": "public purpose programs", "rate": 0.01, "credited": false}},
	}
	generation := fields{
		"energyratestructure":   []any{[]any{fields{"rate": 0.09}}, []any{fields{"rate": 0.16}}},
		"energyweekdayschedule": schedule(), "energyweekendschedule": schedule(), "fixedchargefirstmeter": 1.5, "mincharge": 20,
		"flatdemandstructure": []any{[]any{fields{"rate": 1}}},
	}
	return []pricing.PricedPart{
		part(t, "delivery", pricing.RoleDelivery, delivery),
		part(t, "cca", pricing.RoleGeneration, generation),
		part(t, "pcia", pricing.RoleAdjustment, oneRate(0.012)),
		part(t, "care", pricing.RoleAdjustment, oneRate(0, fields{"name": "CARE", "rate": -35, "unit": "%"}), "delivery", "cca"),
		part(t, "city-tax", pricing.RoleAdjustment, oneRate(0, fields{"name": "tax", "rate": 8, "unit": "%", "startdate": "2026-07-01"})),
	}
}

func composedBill(t testing.TB, parts []pricing.PricedPart, h bill.Home, r bill.Request) *bill.Bill {
	t.Helper()
	b, err := bill.ForHome(h, bill.Terms{Tariff: parts[0].Tariff, Parts: parts}, r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// wantMonth is a month of ccaParts, calculated from the tables above.
type wantMonth struct{ kwh, delivery, cca, pcia, care, tax, fixed, peak float64 }

func (m *wantMonth) add(at time.Time, kwh float64) {
	delivery, generation := 0.15, 0.09
	if at.Hour() >= 12 {
		delivery, generation = 0.2, 0.16
	}
	first := math.Max(0, math.Min(kwh, 300-m.kwh))
	d := first*delivery + (kwh-first)*(delivery+0.1) + kwh*0.01
	m.kwh += kwh
	m.delivery += d
	m.cca += kwh * generation
	m.pcia += kwh * 0.012
	care := -0.35 * (d + kwh*generation)
	m.care += care
	if at.Month() >= time.July {
		m.tax += 0.08 * (d + kwh*generation + kwh*0.012 + care)
	}
	m.peak = math.Max(m.peak, kwh*4)
}

func same(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

// The bill of a composed plan equals a loop over the metered quarter hours, part by part.
func TestComposed_EqualsLoopOverIntervals(t *testing.T) {
	location, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, time.January, 1, 0, 0, 0, 0, location)
	random := rand.New(rand.NewPCG(1, 2))
	var load []float64
	want := make([]wantMonth, 12)
	for at := start; at.Year() == 2026; at = at.Add(15 * time.Minute) {
		kwh := 0.3 * random.Float64()
		if at.Month() == time.April {
			kwh = 0 // the minimum charge
		}
		load = append(load, kwh)
		want[at.Month()-1].add(at, kwh)
	}
	got := composedBill(t, ccaParts(t), bill.Home{Location: location}, bill.Request{Load: load, StepMinutes: 15, Start: "2026-01-01"})
	var energy, fixed, demand, shares [5]float64
	total := 0.0
	for i := range want {
		w, days := &want[i], float64(time.Date(2026, time.Month(i+2), 0, 0, 0, 0, 0, time.UTC).Day())
		w.fixed = 0.5*days + 1.5
		sum := w.delivery + w.cca + w.pcia + w.care + w.tax
		m := &got.Months[i]
		// The minimums are for the delivery and the generation alone, with the adjustments of
		// their energy.
		adjusted := 0.65
		if i >= 6 {
			adjusted *= 1.08
		}
		minimum := math.Max(0, 60-0.5*days-2*w.peak-adjusted*w.delivery) + math.Max(0, 20-1.5-w.peak-adjusted*w.cca)
		if !same(m.Energy, sum) || !same(m.Fixed, w.fixed) || !same(m.Demand, 3*w.peak) || !same(m.Minimum, minimum) || !same(m.UsedKWh, w.kwh) {
			t.Errorf("month %d: %+v; want energy %v, fixed %v, demand %v, minimum %v", i+1, *m, sum, w.fixed, 3*w.peak, minimum)
		}
		for k, v := range []float64{w.delivery, w.cca, w.pcia, w.care, w.tax} {
			energy[k] += v
			shares[k] += v
		}
		fixed[0] += 0.5 * days
		fixed[1] += 1.5 + math.Max(0, 20-1.5-w.peak-w.cca)
		demand[0] += 2 * w.peak
		demand[1] += w.peak
		total += sum + w.fixed + 3*w.peak + minimum
	}
	if !same(got.Total, total) || len(got.Parts) != 5 {
		t.Fatalf("total %v, want %v; parts %+v", got.Total, total, got.Parts)
	}
	sum := 0.0
	for k, p := range got.Parts {
		if !same(p.Energy, energy[k]) || !same(p.Demand, demand[k]) || k > 0 && k < 3 && !same(p.Fixed, fixed[k]) || !same(p.Total, p.Fixed+p.Demand+p.Energy-p.Credit) {
			t.Errorf("%s: %+v, want energy %v, fixed %v, demand %v", p.PlanID, p, energy[k], fixed[k], demand[k])
		}
		sum += p.Total
	}
	if !same(sum, got.Total) {
		t.Errorf("the parts add up to %v, not %v", sum, got.Total)
	}
}

// The amounts of a request are due once, with the lead part. Its rate of feed-in replaces the
// sell rates of all parts.
func TestComposed_RequestCountsOnce(t *testing.T) {
	location := time.UTC
	load := make([]float64, 30*24)
	for i := range load {
		load[i] = 1
	}
	minimum := 2000.0
	r := bill.Request{Load: load, StepMinutes: 60, Start: "2026-04-01", Rules: bill.Rules{Minimum: &minimum}}
	selling := fields{"energyratestructure": []any{[]any{fields{"rate": 0.1, "sell": 0.04}}}}
	parts := []pricing.PricedPart{part(t, "delivery", pricing.RoleDelivery, oneRate(0.2)), part(t, "cca", pricing.RoleGeneration, selling)}
	if b := composedBill(t, parts, bill.Home{Location: location}, r); !same(b.Total, 2000+72) {
		t.Errorf("total %v, want the minimum of the delivery and the generation of 720 kWh", b.Total)
	}
	r.Rules = bill.Rules{GridFee: 10, GridFeePerKW: 1, Metering: bill.FeedIn, FeedInRate: 0.05}
	r.Generated = load
	kw := 4.0
	h := bill.Home{Location: location, Solar: &bill.Solar{}}
	h.Solar.SizeKw = kw
	if b := composedBill(t, parts, h, r); !same(b.Total, 720*0.3+10+4-720*0.05) {
		t.Errorf("total %v: %+v", b.Total, b.Parts)
	}
}

// Each part credits exported energy by its own rule. The credits are settled together.
func TestComposed_Solar(t *testing.T) {
	var load, generated []float64
	for i := range 30 * 24 {
		kwh, sun := 1.0, 0.0
		if i%24 >= 6 && i%24 < 12 {
			sun = 3
		}
		load, generated = append(load, kwh), append(generated, sun)
	}
	selling := fields{"energyratestructure": []any{[]any{fields{"rate": 0.1, "sell": 0.04}}}}
	parts := []pricing.PricedPart{
		part(t, "delivery", pricing.RoleDelivery, oneRate(0.2)), part(t, "cca", pricing.RoleGeneration, selling),
		part(t, "minus", pricing.RoleGeneration, oneRate(-0.08)), // the credits of a part with negative prices are no credits
		part(t, "pcia", pricing.RoleGeneration, oneRate(0.08)),
		part(t, "care", pricing.RoleAdjustment, oneRate(0, fields{"name": "CARE", "rate": -50, "unit": "%"})),
	}
	const used, drawn, sent = 720, 18 * 30, 12 * 30
	for _, tt := range []struct {
		metering bill.Metering
		want     float64
	}{
		{bill.NetMetering, 0.15 * (drawn - sent)},
		{bill.NetBilling, 0.15*drawn - 0.04*sent},
		{bill.FeedIn, 0.15*used - 0.04*18*30},
	} {
		r := bill.Request{Load: load, Generated: generated, StepMinutes: 60, Start: "2026-04-01", Rules: bill.Rules{Metering: tt.metering}}
		b := composedBill(t, parts, bill.Home{Location: time.UTC}, r)
		if !same(b.Total, tt.want) || b.Metering != tt.metering {
			t.Errorf("%s: total %v, want %v; parts %+v", tt.metering, b.Total, tt.want, b.Parts)
		}
	}
}

// An adjustment with a fixed charge below 0 is a monthly credit.
func TestComposed_MonthlyCredit(t *testing.T) {
	credit := oneRate(0)
	credit["fixedchargefirstmeter"] = -12
	parts := []pricing.PricedPart{part(t, "delivery", pricing.RoleDelivery, oneRate(0.2)), part(t, "credit", pricing.RoleAdjustment, credit)}
	r := bill.Request{Load: []float64{100}, StepMinutes: 60, Start: "2026-04-30"}
	if b := composedBill(t, parts, bill.Home{Location: time.UTC}, r); !same(b.Total, 20-12.0/30) || !same(b.Parts[1].Fixed, -12.0/30) {
		t.Errorf("total %v: %+v", b.Total, b.Parts)
	}
}

// A composed plan has the bill of a single plan with the sum of the prices, under every
// settlement of a year of surpluses and deficits.
func TestComposed_SettlesLikeSinglePlan(t *testing.T) {
	delivery, single, cca := oneRate(0.2), oneRate(0.65*(0.2+0.1-0.08+0.012)), oneRate(0.1)
	cca["nonbypassable"], single["nonbypassable"] = 0.04, 0.65*0.04
	cca["flatdemandstructure"], single["flatdemandstructure"] = flatRate(2), flatRate(2)
	for _, tariff := range []fields{delivery, single} {
		tariff["fixedchargefirstmeter"] = 10
	}
	parts := []pricing.PricedPart{
		part(t, "delivery", pricing.RoleDelivery, delivery), part(t, "minus", pricing.RoleGeneration, oneRate(-0.08)), part(t, "cca", pricing.RoleGeneration, cca),
		part(t, "pcia", pricing.RoleAdjustment, oneRate(0.012)), part(t, "care", pricing.RoleAdjustment, oneRate(0, fields{"name": "CARE", "rate": -35, "unit": "%"})),
	}
	random := rand.New(rand.NewPCG(3, 4))
	var load, generated []float64
	for i := range 365 * 24 {
		summer := 1 - math.Cos(2*math.Pi*float64(i)/(365*24))
		load, generated = append(load, 2*random.Float64()), append(generated, 1.2*summer*random.Float64())
	}
	for _, rules := range []bill.Rules{
		{Metering: bill.NetMetering}, {Metering: bill.NetMetering, SurplusRate: 0.03}, {Metering: bill.NetMetering, SurplusRetail: true},
		{Metering: bill.NetMetering, TrueUpMonth: 4, CreditMonths: 2}, {Metering: bill.NetMetering, Rollover: bill.Energy}, {Metering: bill.NetMetering, Rollover: bill.Energy, TrueUpMonth: 7},
		{Metering: bill.NetBilling}, {Metering: bill.NetBilling, Rollover: bill.Dollars}, {Metering: bill.FeedIn, FeedInRate: 0.05},
	} {
		r := bill.Request{Load: load, Generated: generated, StepMinutes: 60, Start: "2026-01-01", Rules: rules}
		h := bill.Home{Location: time.UTC}
		got := composedBill(t, parts, h, r)
		want, err := bill.ForHome(h, bill.Terms{Tariff: parse(t, single)}, r)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, p := range got.Parts {
			sum += p.Total
		}
		if !same(got.Total, want.Total) || !same(got.OpenCredit, want.OpenCredit) || !same(got.OpenKWh, want.OpenKWh) || !same(got.Months[5].DemandKW, want.Months[5].DemandKW) || !same(sum, got.Total) {
			t.Errorf("%+v: total %v, want %v; open %v, want %v; parts add up to %v", rules, got.Total, want.Total, got.OpenCredit, want.OpenCredit, sum)
		}
	}
}

// The percentages of an adjustment also apply to a part that follows a market.
func TestComposed_MarketPart(t *testing.T) {
	start := time.Date(2026, time.April, 1, 0, 0, 0, 0, time.UTC)
	var points []market.Point
	for i := range 48 {
		points = append(points, market.Point{Start: start.Add(time.Duration(i) * time.Hour), Price: 0.01 * float64(i%24)})
	}
	series, err := market.New(points, market.Options{Node: "HUB", Kind: market.RealTime})
	if err != nil {
		t.Fatal(err)
	}
	retail := part(t, "retail", pricing.RoleGeneration, fields{"market": fields{"node": "HUB", "market": "REAL_TIME"}})
	retail.Market = series
	parts := []pricing.PricedPart{
		part(t, "wires", pricing.RoleDelivery, oneRate(0.05)), retail,
		part(t, "tax", pricing.RoleAdjustment, oneRate(0, fields{"name": "tax", "rate": 10, "unit": "%"}), "retail"),
	}
	load, want := make([]float64, 48), 0.0
	for i := range load {
		load[i] = float64(i)
		want += float64(i) * (0.05 + 1.1*0.01*float64(i%24))
	}
	b := composedBill(t, parts, bill.Home{Location: time.UTC}, bill.Request{Load: load, StepMinutes: 60, Start: "2026-04-01"})
	if !same(b.Total, want) {
		t.Errorf("total %v, want %v: %+v", b.Total, want, b.Parts)
	}
}

// The rules of settlement belong to the lead part. A part with another metering has its
// usual rules.
func TestComposed_MeteringDiffers(t *testing.T) {
	delivery := oneRate(0.2)
	delivery["dgrules"] = "Net Metering"
	supplier := fields{"energyratestructure": []any{[]any{fields{"rate": 0.1, "sell": 0.04}}}}
	parts := []pricing.PricedPart{part(t, "delivery", pricing.RoleDelivery, delivery), part(t, "supplier", pricing.RoleGeneration, supplier)}
	for _, rules := range []bill.Rules{{Rollover: bill.Energy}, {CreditMonths: 12}} {
		r := bill.Request{Load: []float64{0, 2}, Generated: []float64{1, 0}, StepMinutes: 60, Start: "2026-04-01", Rules: rules}
		if b := composedBill(t, parts, bill.Home{Location: time.UTC}, r); b.Metering != bill.NetMetering {
			t.Errorf("%+v: metering %s", rules, b.Metering)
		}
	}
}

// The generation of a feed-in home has a meter of its own, for all parts of its plan: the
// rule of the lead part. A feed-in rate of another part pays for the exports alone.
func TestComposed_FeedIn(t *testing.T) {
	request := bill.Request{Load: slices.Repeat([]float64{1}, 24), Generated: slices.Repeat([]float64{1.5}, 24), StepMinutes: 60, Start: "2026-06-01"}
	feedIn := fields{"dgrules": "Buy All Sell All", "energyratestructure": []any{[]any{fields{"rate": 0.1, "sell": 0.08}}}}
	billed := fields{"energyratestructure": []any{[]any{fields{"rate": 0.15, "sell": 0.02}}}}
	for name, tt := range map[string]struct {
		delivery, generation fields
		metering             bill.Metering
		want                 float64
	}{
		"of the lead part":  {feedIn, billed, bill.FeedIn, 24*(0.1+0.15) - 36*(0.08+0.02)},
		"of another part":   {billed, feedIn, bill.NetBilling, -12 * (0.02 + 0.08)},
		"of all parts":      {feedIn, feedIn, bill.FeedIn, 24*0.2 - 36*0.16},
		"of none, by rates": {billed, billed, bill.NetBilling, -12 * 0.04},
	} {
		parts := []pricing.PricedPart{part(t, "delivery", pricing.RoleDelivery, tt.delivery), part(t, "supplier", pricing.RoleGeneration, tt.generation)}
		b := composedBill(t, parts, bill.Home{Location: time.UTC, Solar: &bill.Solar{}}, request)
		if !same(b.Total, tt.want) || b.Metering != tt.metering {
			t.Errorf("feed-in %s: $ %v by %s, want %v by %s", name, b.Total, b.Metering, tt.want, tt.metering)
		}
	}
}

// A typical year begins when every part is in force.
func TestComposed_TypicalYear(t *testing.T) {
	delivery := oneRate(0.2)
	delivery["dgrules"] = "Net Billing Instantaneous"
	supplier := fields{"startdate": time.Date(2026, time.June, 1, 0, 0, 0, 0, time.UTC).Unix(), "energyratestructure": []any{[]any{fields{"rate": 0.1, "sell": 0.04}}}}
	parts := []pricing.PricedPart{part(t, "delivery", pricing.RoleDelivery, delivery), part(t, "supplier", pricing.RoleGeneration, supplier)}
	load, generated := make([]float64, 365*24), make([]float64, 365*24)
	generated[12] = 1
	b := composedBill(t, parts, bill.Home{Location: time.UTC}, bill.Request{Load: load, Generated: generated})
	if start := b.Months[0].Start.Year; start != 2027 {
		t.Errorf("the year begins in %d, want 2027", start)
	}
}
