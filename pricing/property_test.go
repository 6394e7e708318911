package pricing_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/carbon"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/pricing/urdb"
)

var propertyZones = []string{"America/Los_Angeles", "America/Denver", "America/New_York", "Pacific/Honolulu", "Australia/Lord_Howe"}

// drawTariff draws a tariff of two versions with tiers, riders, taxes and holidays, whose
// sell rates do not exceed its rates.
func drawTariff(t *rapid.T, rules string) *pricing.Tariff {
	items := []any{drawRate(t, rules), drawRate(t, rules).With("startdate", "2026-07-01")}
	data, err := json.Marshal(map[string]any{"items": items})
	if err != nil {
		t.Fatal(err)
	}
	tariff, err := urdb.Parse(data)
	if err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return tariff
}

func drawRate(t *rapid.T, rules string) doc {
	money := rapid.Float64Range(0, 1)
	periods := rapid.IntRange(1, 4).Draw(t, "periods")
	var structure []any
	for range periods {
		var tiers []any
		for step := range rapid.IntRange(1, 3).Draw(t, "tiers") {
			rate := money.Draw(t, "rate")
			tier := map[string]any{"rate": rate, "adj": money.Draw(t, "adj") / 10, "unit": rapid.SampledFrom([]string{"kWh", "kWh daily", "baseline"}).Draw(t, "unit")}
			if rules != "Net Metering" {
				tier["sell"] = rate * rapid.Float64Range(0, 1).Draw(t, "share")
			}
			tier["max"] = float64(step+1) * rapid.Float64Range(1, 500).Draw(t, "max")
			tiers = append(tiers, tier)
		}
		structure = append(structure, tiers)
	}
	row := func(label string) []any {
		columns := rapid.SampledFrom([]int{24, 48, 96}).Draw(t, "columns")
		var day []any
		for _, p := range rapid.SliceOfN(rapid.IntRange(0, periods-1), columns, columns).Draw(t, label) {
			day = append(day, p)
		}
		return []any{day, day, day, day, day, day, day, day, day, day, day, day}
	}
	d := doc{"name": "Drawn", "dgrules": rules, "energyratestructure": structure, "baseline": 10,
		"energyweekdayschedule": row("weekday"), "energyweekendschedule": row("weekend"), "holidays": true}
	return d.With("riders", []any{
		map[string]any{"name": "rider", "rate": money.Draw(t, "rider"), "credited": rapid.Bool().Draw(t, "credited"), "enddate": "2026-06-15"},
		map[string]any{"name": "tax", "rate": rapid.Float64Range(0, 30).Draw(t, "tax"), "unit": "%"},
	})
}

// drawInput draws all inputs of a home's prices.
func drawInput(t *rapid.T, series *market.Series, rules string) pricing.Input {
	location, err := time.LoadLocation(rapid.SampledFrom(propertyZones).Draw(t, "zone"))
	if err != nil {
		t.Fatal(err)
	}
	region, _ := carbon.Named("CA")
	in := pricing.Input{
		Tariff: drawTariff(t, rules), Location: location,
		Usage:  pricing.Usage{DailyKWh: rapid.Float64Range(0, 80).Draw(t, "usage"), BillingDay: rapid.IntRange(0, 28).Draw(t, "billing day")},
		Carbon: region, CarbonIntensity: rapid.SampledFrom([]carbon.Intensity{carbon.Low, carbon.Medium, carbon.High}).Draw(t, "intensity"),
	}
	if rapid.Bool().Draw(t, "solar") {
		in.Solar = &pricing.Solar{SizeKw: 5, NonNetMetered: rapid.Bool().Draw(t, "not net metered")}
	}
	for range rapid.IntRange(0, 2).Draw(t, "events") {
		from := instant("2026-06-28T00:00:00Z").Add(time.Duration(rapid.IntRange(0, 6*24*60).Draw(t, "from")) * time.Minute)
		in.Events = append(in.Events, pricing.Event{
			Name: "event", Kind: rapid.SampledFrom([]pricing.EventKind{pricing.CriticalPeak, pricing.PeakRebate}).Draw(t, "kind"),
			From: from, To: from.Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "minutes")) * time.Minute),
			Adder: rapid.Float64Range(0, 2).Draw(t, "adder"),
		})
	}
	if series != nil && rapid.Bool().Draw(t, "bidding") {
		in.Market, in.MarketBidding = series, true
	}
	return in
}

// drawWindow draws whole quarter hours around the change of versions.
func drawWindow(t *rapid.T) pricing.Window {
	start := instant("2026-06-28T00:00:00Z").Add(time.Duration(rapid.IntRange(0, 4*96).Draw(t, "start")) * pricing.Interval)
	return pricing.Window{Start: start, End: start.Add(time.Duration(rapid.IntRange(1, 200).Draw(t, "length")) * pricing.Interval)}
}

// Solar without net metering never earns more than the import price, unless the market
// pays it.
func TestPrice_ExportAtMostImport(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t, nil, rapid.SampledFrom([]string{"Net Metering", "Net Billing Hourly", "Buy All Sell All", ""}).Draw(t, "rules"))
		c, err := pricing.Price(in, drawWindow(t))
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.Len() {
			if c.Export[i] > c.Import[i] {
				t.Fatalf("%s at %v: export %v, import %v", c.ExportCompensation.Type, c.Window.At(i), c.Export[i], c.Import[i])
			}
			if in.Solar != nil && in.Solar.NonNetMetered && c.ExportCompensation.Type == pricing.NetMetering {
				t.Fatal("solar without net metering gets the retail price")
			}
		}
	})
}

// An interval has the same values in every window that contains it. The intervals tile
// the window. The same inputs give the same bytes.
func TestPrice_WindowsAndBytes(t *testing.T) {
	series := hourlyMarket(t)
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t, series, rapid.SampledFrom([]string{"Net Metering", ""}).Draw(t, "rules"))
		w := drawWindow(t)
		wide := pricing.Window{
			Start: w.Start.Add(-time.Duration(rapid.IntRange(0, 96).Draw(t, "earlier")) * pricing.Interval),
			End:   w.End.Add(time.Duration(rapid.IntRange(0, 300).Draw(t, "later")) * pricing.Interval),
		}
		part, err1 := pricing.Price(in, w)
		whole, err2 := pricing.Price(in, wide)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		shift := int(w.Start.Sub(wide.Start) / pricing.Interval)
		for i := range part.Len() {
			j := i + shift
			if part.Import[i] != whole.Import[j] || part.Export[i] != whole.Export[j] || part.Price[i] != whole.Price[j] || part.Confidence[i] != whole.Confidence[j] {
				t.Fatalf("%v has other values in a wider window", w.At(i))
			}
		}
		checkTiles(t, part)
		again, err := pricing.Price(in, w)
		if err != nil || !bytes.Equal(curveText(again), curveText(part)) {
			t.Fatal("the same inputs gave other bytes")
		}
	})
}

// checkTiles decodes a curve's JSON: each interval starts at the end of the one before,
// from the start of the window to its end, and has finite values.
func checkTiles(t *rapid.T, c *pricing.Curve) {
	var fields struct {
		StartTime, EndTime time.Time
		Data               []decodedInterval
		Prices             []float64
	}
	if err := json.Unmarshal(append(append([]byte{'{'}, curveText(c)...), '}'), &fields); err != nil {
		t.Fatal(err)
	}
	next := c.Window.Start
	for i, d := range fields.Data {
		if !d.StartTime.Equal(next) || !d.EndTime.Equal(next.Add(pricing.Interval)) || d.Price != fields.Prices[i] {
			t.Fatalf("interval %d: %+v, want it from %v", i, d, next)
		}
		if d.Confidence < 0 || d.Confidence > 1 || math.IsNaN(d.Price) {
			t.Fatalf("interval %d: %+v", i, d)
		}
		next = d.EndTime
	}
	if !next.Equal(c.Window.End) || !fields.StartTime.Equal(c.Window.Start) || !fields.EndTime.Equal(c.Window.End) {
		t.Fatalf("the intervals end at %v, the window at %v", next, c.Window.End)
	}
}

// The reasons of an interval add up to its prices.
func TestExplain_ReasonsAddUp(t *testing.T) {
	series := hourlyMarket(t)
	rapid.Check(t, func(r *rapid.T) {
		in := drawInput(r, series, rapid.SampledFrom([]string{"Net Metering", "Net Billing Hourly", ""}).Draw(r, "rules"))
		w := drawWindow(r)
		reasons, err := pricing.Explain(in, w)
		if err != nil {
			r.Fatal(err)
		}
		c, err := pricing.Price(in, w)
		if err != nil {
			r.Fatal(err)
		}
		for i, reason := range reasons {
			if !addsUp(reason.Import, c.Import[i]) || !addsUp(reason.Export, c.Export[i]) || reason.Price != c.Price[i] {
				r.Fatalf("%v: %+v does not explain import %v, export %v", w.At(i), reason, c.Import[i], c.Export[i])
			}
		}
	})
}
