package pricing_test

import (
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/carbon"
	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/pricing/urdb"
)

// benchInput is SCE's TOU-D-PRIME, with five changes of price a day.
func benchInput(b *testing.B) (pricing.Input, pricing.Window) {
	b.Helper()
	for _, plan := range catalog.Plans() {
		if plan.ID == "sce-tou-d-prime" {
			tariff, err := urdb.Parse(plan.URDB)
			if err != nil {
				b.Fatal(err)
			}
			return pricing.Input{Tariff: tariff, Location: zone(b, plan.Timezone)}, window("2026-07-01T10:00:00Z", "2026-07-02T10:00:00Z")
		}
	}
	b.Fatal("no such plan")
	panic("unreachable")
}

func BenchmarkPrice(b *testing.B) {
	in, w := benchInput(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := pricing.Price(in, w); err != nil {
			b.Fatal(err)
		}
	}
}

// The curves share nothing but their code: each has a new window, priced and written as
// JSON. The target is 30,000 per second on one core.
func BenchmarkDistinctCurves(b *testing.B) {
	plain, w := benchInput(b)
	region, _ := carbon.Of("CA", "")
	full := plain
	full.Solar, full.ExportChance = &pricing.Solar{SizeKw: 6}, phoenixChance(b)
	full.Carbon, full.CarbonIntensity = region, carbon.High
	tiered := pricing.Input{Tariff: jacksonEMC().Parse(b), Location: plain.Location, Usage: pricing.Usage{DailyKWh: 45}}
	wholesale := pricing.Input{Tariff: passthrough().With("dgrules", "Wholesale").Parse(b), Location: plain.Location, Market: hourlyMarket(b)}
	for _, bm := range []struct {
		name  string
		in    pricing.Input
		start string
	}{
		{"time of use, net billing", plain, "2026-07-01T00:00:00Z"},
		{"tiers", tiered, "2026-07-01T00:00:00Z"},
		{"wholesale, forecast", wholesale, "2026-06-29T00:00:00Z"},
		{"solar and carbon", full, "2026-07-01T00:00:00Z"},
	} {
		b.Run(bm.name, func(b *testing.B) {
			var buf []byte
			start := instant(bm.start)
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				w.Start = start.Add(time.Duration(n%300) * pricing.Interval)
				w.End = w.Start.Add(pricing.DefaultWindow)
				c, err := pricing.Price(bm.in, w)
				if err != nil {
					b.Fatal(err)
				}
				buf = c.AppendShared(buf[:0], "sce-tou-d-prime")
				n++
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "curves/s")
		})
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	in, w := benchInput(b)
	c, err := pricing.Price(in, w)
	if err != nil {
		b.Fatal(err)
	}
	at := time.Unix(1782900000, 0)
	b.Run("curve", func(b *testing.B) {
		var buf []byte
		b.ReportAllocs()
		for b.Loop() {
			buf = c.AppendShared(buf[:0], "sce-tou-d-prime")
		}
		b.SetBytes(int64(len(buf)))
	})
	b.Run("signal", func(b *testing.B) {
		shared := c.AppendShared(nil, "sce-tou-d-prime")
		var buf []byte
		b.ReportAllocs()
		for b.Loop() {
			buf = pricing.AppendSignal(buf[:0], "home_01J9ZQ4X7T", shared, at, 42)
		}
		b.SetBytes(int64(len(buf)))
	})
}

func BenchmarkRuns(b *testing.B) {
	in, w := benchInput(b)
	c, err := pricing.Price(in, w)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := pricing.CurveFromRuns(w, c.Runs(), c.ExportCompensation, c.ImportSource); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	data := catalog.Plans()[0].URDB
	b.ReportAllocs()
	for b.Loop() {
		if _, err := urdb.Parse(data); err != nil {
			b.Fatal(err)
		}
	}
}
