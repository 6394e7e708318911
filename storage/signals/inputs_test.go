package signals_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/storagetest"
)

var org = storage.Base{OrganizationID: "org"}

func ptr[T any](v T) *T { return &v }

// plan returns a plan whose tariff has these fields, as text.
func plan(id, fields string) *storage.RatePlan {
	p := &storage.RatePlan{ID: id, Tariff: json.RawMessage("{" + fields + "}")}
	p.OrganizationID = "org"
	return p
}

// home returns a changed home of the test's organization.
func home(id, plan string, change func(*storage.Home)) *storage.Home {
	h := storagetest.Home("org", id, plan)
	if change != nil {
		change(h)
	}
	return h
}

const flat = `"name":"Flat","energyratestructure":[[{"rate":0.20,"sell":0.05,"unit":"kWh"}]]`

// at returns the index of an hour in the signal's day, which starts at noon UTC.
func at(hourUTC int) int { return (hourUTC - 12) * 4 }

func inChicago(h *storage.Home) { h.Zipcode = "60614" }

// TestSignal_NetBillingAdder checks that the adder of net billing follows the home's
// segment and the year in which its solar was connected.
func TestSignal_NetBillingAdder(t *testing.T) {
	s := newStore()
	storagetest.Put(t, s, plan("flat", flat))
	exports := map[string]float64{}
	for id, settings := range map[string]storage.SolarSettings{
		"plain": {}, "general": {AccPlus: "GENERAL", ConnectionYear: 2024}, "later": {AccPlus: "GENERAL", ConnectionYear: 2026}, "new": {AccPlus: "NEW_HOME", ConnectionYear: 2024},
	} {
		settings.ExportValues = "PG&E NBT24"
		storagetest.Put(t, s, home(id, "flat", nil), &storage.Solar{HomeID: id, SizeKw: 8, SolarSettings: settings, Base: org})
	}
	b := signals.NewPricer(10)
	for _, id := range []string{"plain", "general", "later", "new"} {
		exports[id] = signal(t, b, s, id).Export[0]
	}
	for id, want := range map[string]float64{"general": 0.018, "later": 0.009, "new": 0} {
		if more := exports[id] - exports["plain"]; math.Abs(more-want) > 1e-9 {
			t.Errorf("%s: %v more than without, want %v", id, more, want)
		}
	}
}

func TestSignal_SolarWeighsExport(t *testing.T) {
	s := newStore()
	storagetest.Put(t, s, plan("flat", flat), home("dark", "flat", inChicago), home("sunny", "flat", inChicago), home("nowhere", "flat", nil),
		&storage.Solar{HomeID: "sunny", SizeKw: 8, Base: org}, &storage.Solar{HomeID: "nowhere", SizeKw: 8, Base: org})
	b := signals.NewPricer(10)
	noon, night := at(18), at(30)
	dark, sunny, nowhere := signal(t, b, s, "dark"), signal(t, b, s, "sunny"), signal(t, b, s, "nowhere")
	if dark.Price[noon] != 0.2 || nowhere.Price[noon] != 0.2 {
		t.Errorf("without solar, and with solar at an unknown place, a kWh is worth %v and %v at noon, want 0.2", dark.Price[noon], nowhere.Price[noon])
	}
	if sunny.Price[noon] > 0.1 || sunny.Price[noon] < 0.05 || sunny.Price[night] != 0.2 || sunny.Import[noon] != 0.2 || sunny.Export[noon] != 0.05 {
		t.Errorf("with solar a kWh is worth %v at noon and %v at night, want about 0.05 and 0.2", sunny.Price[noon], sunny.Price[night])
	}
	for _, tt := range []struct {
		name   string
		change func(*storage.Solar)
		usage  *storage.Usage
	}{
		{"a small system", func(s *storage.Solar) { s.SizeKw = 1 }, nil},
		{"modules to the north", func(s *storage.Solar) { s.Tilt, s.Azimuth = ptr(60.0), ptr(0.0) }, nil},
		{"great losses", func(s *storage.Solar) { s.Losses = ptr(80.0) }, nil},
		{"a home that uses much", func(*storage.Solar) {}, &storage.Usage{HomeID: "sunny", AssumedMonthlyKwh: ptr(9000.0), Base: org}},
	} {
		solar := &storage.Solar{HomeID: "sunny", SizeKw: 8, Base: org}
		tt.change(solar)
		storagetest.Put(t, s, solar)
		if tt.usage != nil {
			storagetest.Put(t, s, tt.usage)
		}
		got := signal(t, b, s, "sunny")
		if got.Price[noon] <= sunny.Price[noon] || got.Price[noon] > 0.2 || got.Revision <= sunny.Revision {
			t.Errorf("%s: %v at noon (revision %d), want more than %v (%d)", tt.name, got.Price[noon], got.Revision, sunny.Price[noon], sunny.Revision)
		}
	}
}

func TestSignal_ExtremeSolar(t *testing.T) {
	s := newStore()
	tiny := math.SmallestNonzeroFloat64
	storagetest.Put(t, s, plan("flat", flat), home("sunny", "flat", inChicago))
	b := signals.NewPricer(10)
	for _, tt := range []struct{ size, use, want float64 }{
		{tiny, 900, 0.2}, {tiny, 1e6, 0.2}, {8, tiny, 0.05}, {1000, tiny, 0.05},
	} {
		storagetest.Put(t, s, &storage.Solar{HomeID: "sunny", SizeKw: tt.size, Base: org}, &storage.Usage{HomeID: "sunny", AssumedMonthlyKwh: &tt.use, Base: org})
		if got := signal(t, b, s, "sunny").Price[at(18)]; math.Abs(got-tt.want) > 1e-6 {
			t.Errorf("with %v kW and %v kWh a month a kWh is worth %v at noon, want %v", tt.size, tt.use, got, tt.want)
		}
	}
}

func TestSignal_SimilarHomesShareCurve(t *testing.T) {
	s := newStore()
	neighbor := func(h *storage.Home) { h.Zipcode = "60657" }
	storagetest.Put(t, s, plan("flat", flat), home("a", "flat", inChicago), home("b", "flat", neighbor), home("far", "flat", func(h *storage.Home) { h.Zipcode = "62701" }),
		&storage.Solar{HomeID: "a", SizeKw: 8, SolarSettings: storage.SolarSettings{Tilt: ptr(25.0)}, Base: org}, &storage.Solar{HomeID: "b", SizeKw: 8.01, SolarSettings: storage.SolarSettings{Tilt: ptr(26.0)}, Base: org},
		&storage.Solar{HomeID: "far", SizeKw: 8, SolarSettings: storage.SolarSettings{Tilt: ptr(25.0)}, Base: org})
	b := signals.NewPricer(10)
	if signal(t, b, s, "a").Curve != signal(t, b, s, "b").Curve {
		t.Error("neighbors with nearly the same solar do not share a curve")
	}
	if signal(t, b, s, "a").Curve == signal(t, b, s, "far").Curve {
		t.Error("homes 300 km apart share a curve")
	}
}

func TestSignal_Carbon(t *testing.T) {
	s := newStore()
	in := func(intensity storage.CarbonSignalIntensity, zipcode string) func(*storage.Home) {
		return func(h *storage.Home) { h.CarbonSignalIntensity, h.Zipcode = intensity, zipcode }
	}
	storagetest.Put(t, s, plan("flat", flat), home("low", "flat", in(storage.CarbonLow, "60614")), home("medium", "flat", in(storage.CarbonMedium, "60614")),
		home("high", "flat", in(storage.CarbonHigh, "60614")), home("nowhere", "flat", in(storage.CarbonHigh, "")), home("coast", "flat", in(storage.CarbonHigh, "94103")))
	b := signals.NewPricer(10)
	low, medium, high := signal(t, b, s, "low").Price[0], signal(t, b, s, "medium").Price[0], signal(t, b, s, "high").Price[0]
	if low != 0.2 || signal(t, b, s, "nowhere").Price[0] != 0.2 {
		t.Errorf("low intensity costs %v, and carbon at an unknown place %v", low, signal(t, b, s, "nowhere").Price[0])
	}
	if ratio := (high - low) / (medium - low); math.Abs(ratio-190.0/51) > 1e-3 || medium < 0.205 || medium > 0.25 {
		t.Errorf("medium adds %v and high %v", medium-low, high-low)
	}
	if coast := signal(t, b, s, "coast").Price[0]; coast == high {
		t.Errorf("carbon costs %v in California as in Illinois", coast)
	}
}

// TestSignal_PublishedEmissions replaces the hourly means of a region with what is published
// for it, in the price and in grams, for the homes of the region alone.
func TestSignal_PublishedEmissions(t *testing.T) {
	s := newStore()
	in := func(zipcode string) func(*storage.Home) {
		return func(h *storage.Home) { h.CarbonSignalIntensity, h.Zipcode = storage.CarbonHigh, zipcode }
	}
	storagetest.Put(t, s, plan("flat", flat), home("coast", "flat", in("94103")), home("inland", "flat", in("60614")))
	b := signals.NewPricer(10)
	coast, inland := signal(t, b, s, "coast"), signal(t, b, s, "inland")
	series := storage.MarketSeries{Node: "CA", Market: market.Emissions, StepMinutes: 15, Base: org}
	if _, err := s.AddPrices(t.Context(), series, []storage.PricesPart{{Start: day.Start, Prices: []float64{0.25, 0}}}); err != nil {
		t.Fatal(err)
	}
	after := signal(t, b, s, "coast")
	for i, grams := range []float64{250, 0, coast.Emissions()[2]} {
		want := 0.2 + grams/1e6*190
		if after.Emissions()[i] != grams || math.Abs(after.Price[i]-want) > 1e-4 {
			t.Errorf("interval %d: %v g, %v $/kWh, want %v g, %v $/kWh", i, after.Emissions()[i], after.Price[i], grams, want)
		}
	}
	if after.Confidence[0] != 1 || after.Confidence[2] >= 1 {
		t.Errorf("the confidence is %v and beyond the published hours %v", after.Confidence[0], after.Confidence[2])
	}
	if after.Revision <= coast.Revision || after.Fingerprint(storage.FormatOpenADR3) == coast.Fingerprint(storage.FormatOpenADR3) {
		t.Error("the emissions have changed, the signal has not")
	}
	if signal(t, b, s, "inland").Curve != inland.Curve {
		t.Error("a home of another region has another curve")
	}
	region := programs(t, b, s)["MOER-CA"]
	if e, _ := encode(t, b, s, &region.Days(day.Start)[0]); e.Intervals[5*4].Payloads[0].Values[0] != 250 || !e.ModificationDateTime.After(e.CreatedDateTime.Time) {
		t.Errorf("the event of the region is %+v", e)
	}
}

// tiers have a higher price above 500 kWh in the month.
const tiers = `"name":"Tiers","energyratestructure":[[{"rate":0.10,"max":500,"unit":"kWh"},{"rate":0.30,"unit":"kWh"}]]`

func TestSignal_UsageTier(t *testing.T) {
	s := newStore()
	storagetest.Put(t, s, plan("tiers", tiers), plan("flat", flat), home("h", "tiers", nil), home("plain", "flat", nil))
	b := signals.NewPricer(10)
	first := signal(t, b, s, "h")
	for _, step := range []struct {
		name  string
		usage storage.Usage
		want  float64
	}{
		{"metered below", storage.Usage{MonthToDateKwh: ptr(400.0), AsOf: "2026-07-01"}, 0.10},
		{"metered above", storage.Usage{MonthToDateKwh: ptr(600.0), AsOf: "2026-07-01", BillingDay: 20}, 0.30},
		{"assumed above", storage.Usage{AssumedMonthlyKwh: ptr(2000.0), BillingDay: 20}, 0.30},
		{"assumed below", storage.Usage{AssumedMonthlyKwh: ptr(300.0)}, 0.10},
	} {
		step.usage.HomeID, step.usage.Base = "h", org
		storagetest.Put(t, s, &step.usage)
		got := signal(t, b, s, "h")
		if got.Import[0] != step.want || got.Revision <= first.Revision {
			t.Errorf("%s: %v (revision %d after %d), want %v", step.name, got.Import[0], got.Revision, first.Revision, step.want)
		}
		first = got
	}
	if err := s.Delete(t.Context(), storage.KindUsage.Ref("org", "h")); err != nil {
		t.Fatal(err)
	}
	if got := signal(t, b, s, "h"); got.Revision <= first.Revision || got.Import[0] != 0.10 {
		t.Errorf("after the deletion of the usage: %v (revision %d after %d)", got.Import[0], got.Revision, first.Revision)
	}
	before := signal(t, b, s, "plain")
	storagetest.Put(t, s, &storage.Usage{HomeID: "plain", AssumedMonthlyKwh: ptr(900.0), Base: org})
	if got := signal(t, b, s, "plain"); got.Curve != before.Curve || got.Revision != before.Revision {
		t.Error("usage changes the signal without tiers and solar")
	}
}

func events(events ...storage.PlanEvent) *storage.PlanEvents {
	list := &storage.PlanEvents{PlanID: "flat", Events: []storage.PlanEvent{}, Base: org}
	for _, e := range events {
		e.SetDefaults()
		list.Set(e)
	}
	return list
}

func TestSignal_PlanEvents(t *testing.T) {
	s := newStore()
	storagetest.Put(t, s, plan("flat", flat), plan("other", flat), home("h", "flat", nil), home("bystander", "other", nil))
	b := signals.NewPricer(10)
	hour := func(utc int) storage.Time {
		return storage.Time{Time: day.Start.Add(time.Duration(utc-12) * time.Hour)}
	}
	peak := storage.PlanEvent{Kind: pricing.CriticalPeak, From: hour(21), To: hour(23), Adder: ptr(0.6)}
	price := storage.PlanEvent{Kind: pricing.CriticalPeak, From: hour(21), To: hour(23), Price: ptr(1.1)}
	rebate := storage.PlanEvent{Kind: pricing.PeakRebate, From: hour(22), To: hour(23), Adder: ptr(0.3)}
	last, bystander := signal(t, b, s, "h"), signal(t, b, s, "bystander")
	for _, step := range []struct {
		name   string
		events *storage.PlanEvents
		want   [4]float64 // at 20, 21, 22 and 23 hours UTC
	}{
		{"a critical peak", events(peak), [4]float64{0.2, 0.8, 0.8, 0.2}},
		{"a rebate with it", events(peak, rebate), [4]float64{0.2, 0.8, 1.1, 0.2}},
		{"a price", events(price), [4]float64{0.2, 1.1, 1.1, 0.2}},
		{"called off", events(), [4]float64{0.2, 0.2, 0.2, 0.2}},
	} {
		storagetest.Put(t, s, step.events)
		got := signal(t, b, s, "h")
		if prices := [4]float64{got.Import[at(20)], got.Import[at(21)], got.Import[at(22)], got.Import[at(23)]}; prices != step.want || got.Revision <= last.Revision {
			t.Errorf("%s: %v (revision %d after %d), want %v", step.name, prices, got.Revision, last.Revision, step.want)
		}
		last = got
	}
	if err := s.Delete(t.Context(), storage.KindPlanEvent.Ref("org", "flat")); err != nil {
		t.Fatal(err)
	}
	if got := signal(t, b, s, "h"); got.Revision <= last.Revision || got.Import[at(21)] != 0.2 {
		t.Errorf("deleted: %v (revision %d after %d)", got.Import[at(21)], got.Revision, last.Revision)
	}
	if got := signal(t, b, s, "bystander"); got.Curve != bystander.Curve || got.Revision != bystander.Revision {
		t.Error("events of one plan change the signal of another's home")
	}
}

const (
	hourly = `"name":"Hourly","energyratestructure":[[{"rate":0.05,"unit":"kWh"}]],"market":{"node":"COMED","market":"REAL_TIME","loss":1.1,"adder":0.01}`
	credit = `"name":"Credit","dgrules":"Net Metering","exportvalues":"PG&E NBT26","energyratestructure":[[{"rate":0.30,"unit":"kWh"}]]`
)

// addPrices adds hours of a price to a series.
func addPrices(t *testing.T, s *storage.Store, owner, node string, start time.Time, hours int, price float64) {
	t.Helper()
	m := storage.MarketSeries{Node: node, Market: market.RealTime, Timezone: "America/Chicago", Base: storage.Base{OrganizationID: owner}}
	prices := make([]float64, hours)
	for i := range prices {
		prices[i] = price
	}
	if _, err := s.AddPrices(t.Context(), m, []storage.PricesPart{{Start: start, Prices: prices}}); err != nil {
		t.Fatal(err)
	}
}

func wantNoMarketData(t *testing.T, b *signals.Pricer, s *storage.Store, id, node string) {
	t.Helper()
	_, err := signalAt(t, b, s, id, day)
	var why *signals.Unpriceable
	if !errors.As(err, &why) || !strings.Contains(why.Reason, "no market data") || !strings.Contains(why.Reason, fmt.Sprintf("%q", node)) {
		t.Errorf("%s: %v, want no market data of %s", id, err, node)
	}
}

func TestSignal_MarketPlan(t *testing.T) {
	s := newStore()
	storagetest.Put(t, s, plan("hourly", hourly), home("h", "hourly", nil), home("bids", "hourly", func(h *storage.Home) { h.EnergyMarketBiddingEnabled = true }))
	b := signals.NewPricer(10)
	wantNoMarketData(t, b, s, "h", "COMED")
	addPrices(t, s, storage.Shared, "COMED", day.Start.Add(-72*time.Hour), 72+6, 0.02)
	got := signal(t, b, s, "h")
	const published = 0.05 + 0.02*1.1 + 0.01
	if got.Import[0] != published || got.Confidence[0] != 1 || math.Abs(got.Import[at(23)]-published) > 1e-6 || got.Confidence[at(23)] > 0.5 {
		t.Errorf("import is %v (confidence %v), and %v (%v) in the forecast", got.Import[0], got.Confidence[0], got.Import[at(23)], got.Confidence[at(23)])
	}
	if bids := signal(t, b, s, "bids"); bids.ExportCompensation.Type != pricing.Wholesale || bids.Export[0] != 0.02 || got.Export[0] != 0 {
		t.Errorf("a home that bids sells at %v (%s), one that does not at %v", bids.Export[0], bids.ExportCompensation.Type, got.Export[0])
	}
	addPrices(t, s, storage.Shared, "COMED", day.Start.Add(6*time.Hour), 3, 0.12)
	later := signal(t, b, s, "h")
	if later.Revision <= got.Revision || later.Confidence[at(20)] != 1 || math.Abs(later.Import[at(20)]-0.192) > 1e-9 {
		t.Errorf("new hours: %v (confidence %v, revision %d after %d)", later.Import[at(20)], later.Confidence[at(20)], later.Revision, got.Revision)
	}
	addPrices(t, s, "org", "COMED", day.Start, 24, 0.5)
	own := signal(t, b, s, "h")
	if own.Revision <= later.Revision || math.Abs(own.Import[0]-0.61) > 1e-9 {
		t.Errorf("an own series: %v (revision %d after %d)", own.Import[0], own.Revision, later.Revision)
	}
}

func TestSignal_MarketBidding(t *testing.T) {
	s := newStore()
	bids := func(h *storage.Home) { h.EnergyMarketBiddingEnabled = true }
	storagetest.Put(t, s, plan("flat", flat), home("h", "flat", bids), home("other", "flat", nil))
	b := signals.NewPricer(10)
	before := signal(t, b, s, "h")
	if before.Export[0] != 0.05 {
		t.Errorf("without a named market the home sells at %v, want its plan's 0.05", before.Export[0])
	}
	storagetest.Put(t, s, &storage.HomeMarket{HomeID: "h", Node: "HUB", Market: market.RealTime, Base: org})
	wantNoMarketData(t, b, s, "h", "HUB")
	addPrices(t, s, storage.Shared, "HUB", day.Start, 24, 0.07)
	got := signal(t, b, s, "h")
	if got.Export[0] != 0.07 || got.Import[0] != 0.2 || got.ExportCompensation.Type != pricing.Wholesale || got.Revision <= before.Revision {
		t.Errorf("the home sells at %v (%s), revision %d after %d", got.Export[0], got.ExportCompensation.Type, got.Revision, before.Revision)
	}
	if other := signal(t, b, s, "other"); other.Export[0] != 0.05 {
		t.Errorf("a home that does not bid sells at %v", other.Export[0])
	}
}

func TestSignal_OwnExportValues(t *testing.T) {
	s := newStore()
	coast := func(h *storage.Home) { h.Zipcode, h.Timezone = "94103", "America/Los_Angeles" }
	storagetest.Put(t, s, plan("credit", credit), home("metered", "credit", coast), home("billed", "credit", coast), home("older", "credit", coast), home("wrong", "credit", coast),
		&storage.Solar{HomeID: "metered", SizeKw: 5, Base: org}, &storage.Solar{HomeID: "billed", SizeKw: 5, NonNetMetered: true, Base: org},
		&storage.Solar{HomeID: "older", SizeKw: 5, SolarSettings: storage.SolarSettings{ExportValues: "PG&E NBT23"}, Base: org})
	b := signals.NewPricer(10)
	metered, billed, older := signal(t, b, s, "metered"), signal(t, b, s, "billed"), signal(t, b, s, "older")
	if metered.ExportCompensation.Type != pricing.NetMetering || metered.Export[0] != 0.3 {
		t.Errorf("net metered: %v (%s)", metered.Export[0], metered.ExportCompensation.Type)
	}
	if billed.ExportCompensation.Type != pricing.NetBilling || older.ExportCompensation.Type != pricing.NetBilling || billed.Export[at(26)] == older.Export[at(26)] {
		t.Errorf("net billed: %v (%s), and for an older vintage %v (%s)", billed.Export[at(26)], billed.ExportCompensation.Type, older.Export[at(26)], older.ExportCompensation.Type)
	}
	if !strings.Contains(older.ExportCompensation.Description, "NBT23") {
		t.Errorf("the older vintage is described as %q", older.ExportCompensation.Description)
	}
}

func TestExplain_MatchesSignal(t *testing.T) {
	s := newStore()
	storagetest.Put(t, s, plan("hourly", hourly), home("h", "hourly", func(h *storage.Home) { inChicago(h); h.CarbonSignalIntensity = storage.CarbonHigh }),
		&storage.Solar{HomeID: "h", SizeKw: 8, Base: org})
	addPrices(t, s, storage.Shared, "COMED", day.Start.Add(-72*time.Hour), 72+6, 0.02)
	b := signals.NewPricer(10)
	got := signal(t, b, s, "h")
	var reasons []pricing.Reason
	err := s.View(func(v storage.View) (err error) { reasons, err = b.Explain(v, "org", "h", day); return err })
	if err != nil || len(reasons) != got.Len() {
		t.Fatalf("%d reasons, %v", len(reasons), err)
	}
	for i, r := range reasons {
		sum := 0.0
		for _, p := range r.Import {
			sum += p.Rate
		}
		if math.Abs(sum-got.Import[i]) > 1e-6 || r.Price != got.Price[i] || r.Confidence != got.Confidence[i] || r.Carbon == 0 {
			t.Fatalf("interval %d: %+v, the signal has import %v, price %v", i, r, got.Import[i], got.Price[i])
		}
	}
	if reasons[0].ExportChance != 0 && reasons[at(18)].ExportChance == 0 || reasons[at(23)].Doubt == "" {
		t.Errorf("at noon: %v; in the evening: %v", reasons[at(18)], reasons[at(23)])
	}
	err = s.View(func(v storage.View) (err error) { _, err = b.Explain(v, "org", "none", day); return err })
	if !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("no home: %v", err)
	}
}

func TestHomePrices_MatchSignal(t *testing.T) {
	s := newStore()
	storagetest.Put(t, s, plan("tiers", tiers), home("h", "tiers", nil), &storage.Usage{HomeID: "h", AssumedMonthlyKwh: ptr(2000.0), BillingDay: 20, Base: org})
	b := signals.NewPricer(10)
	h, err := storage.Get[storage.Home](s, storage.KindHome.Ref("org", "h"))
	if err != nil {
		t.Fatal(err)
	}
	var prices []float64
	err = s.View(func(v storage.View) (err error) { prices, err = b.HomePrices(v, &h, day); return err })
	if want := signal(t, b, s, "h"); err != nil || fmt.Sprint(prices) != fmt.Sprint(want.Import) || prices[0] != 0.3 {
		t.Errorf("%v, %v", prices, err)
	}
}

// TestHomePrices_Solar checks that one more kWh at noon costs a home with solar the
// forgone export price. Carbon adds no cost.
func TestHomePrices_Solar(t *testing.T) {
	s := newStore()
	p := &storage.RatePlan{ID: "plan", Tariff: catalog.Plans()[0].URDB, Base: org}
	clean := func(h *storage.Home) { inChicago(h); h.CarbonSignalIntensity = storage.CarbonSignalIntensity("HIGH") }
	storagetest.Put(t, s, p, home("dark", "plan", clean), home("sunny", "plan", clean), &storage.Solar{HomeID: "sunny", SizeKw: 8, Base: org})
	b := signals.NewPricer(10)
	prices := func(id string) (all []float64) {
		h, err := storage.Get[storage.Home](s, storage.KindHome.Ref("org", id))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.View(func(v storage.View) (err error) { all, err = b.HomePrices(v, &h, day); return err }); err != nil {
			t.Fatal(err)
		}
		return all
	}
	dark, sunny, imports := prices("dark"), prices("sunny"), signal(t, b, s, "dark").Import
	if noon := at(18); sunny[noon] > dark[noon]/2 || dark[noon] != imports[noon] {
		t.Errorf("at noon %v with solar, %v without, import %v", sunny[noon], dark[noon], imports[noon])
	}
}

// TestHomePrices_MarketYear checks that a market plan has a price for every hour of a
// year.
func TestHomePrices_MarketYear(t *testing.T) {
	s := newStore()
	storagetest.Put(t, s, plan("hourly", hourly), home("h", "hourly", nil))
	addPrices(t, s, storage.Shared, "COMED", day.Start.Add(-72*time.Hour), 72+6, 0.02)
	h, err := storage.Get[storage.Home](s, storage.KindHome.Ref("org", "h"))
	if err != nil {
		t.Fatal(err)
	}
	year := pricing.Window{Start: day.Start.AddDate(0, -6, 0), End: day.Start.AddDate(0, 6, 0)}
	var prices []float64
	err = s.View(func(v storage.View) (err error) {
		prices, err = signals.NewPricer(10).HomePrices(v, &h, year)
		return err
	})
	if err != nil || len(prices) != year.Len() || math.Abs(prices[0]-prices[len(prices)-1]) > 1e-6 {
		t.Errorf("%d prices: %v", len(prices), err)
	}
}

// TestSignal_Regime checks that the date of the application decides between net
// metering and net billing, at the utility of the home's plan.
func TestSignal_Regime(t *testing.T) {
	s := newStore()
	coast := func(h *storage.Home) { h.Zipcode, h.Timezone = "94103", "America/Los_Angeles" }
	storagetest.Put(t, s, plan("credit", credit), home("h", "credit", coast))
	b := signals.NewPricer(10)
	var last uint64
	for _, tt := range []struct {
		settings storage.SolarSettings
		want     pricing.CompensationType
		words    string
	}{
		{storage.SolarSettings{ApplicationDate: "2020-05-01"}, pricing.NetMetering, "NEM 2.0"},
		{storage.SolarSettings{ApplicationDate: "2024-05-01"}, pricing.NetBilling, "PG&E NBT24). The home's regime is Net Billing Tariff"},
		{storage.SolarSettings{ConnectionYear: 2021}, pricing.NetMetering, "NEM 2.0"},
		{storage.SolarSettings{ConnectionYear: 2018}, pricing.NetMetering, "NEM 1.0 or NEM 2.0 (CPUC Decision 14-03-041 or CPUC Decision 16-01-044)"},
		{storage.SolarSettings{ConnectionYear: 2024}, pricing.NetMetering, "unknown"},
		{storage.SolarSettings{ApplicationDate: "2024-05-01", ExportValues: "PG&E NBT23"}, pricing.NetBilling, "NBT23"},
	} {
		storagetest.Put(t, s, &storage.Solar{HomeID: "h", SizeKw: 5, SolarSettings: tt.settings, Base: org})
		got := signal(t, b, s, "h")
		if c := got.ExportCompensation; c.Type != tt.want || !strings.Contains(c.Description, tt.words) || got.Revision <= last {
			t.Errorf("%+v: %s, %q, revision %d after %d; want %s by %s", tt.settings, c.Type, c.Description, got.Revision, last, tt.want, tt.words)
		}
		last = got.Revision
	}
}
