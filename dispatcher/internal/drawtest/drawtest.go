// Package drawtest draws random triggers and curves for property tests. Only tests import
// it.
package drawtest

import (
	"time"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage/signals"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// Curve draws the curve of a window.
func Curve(rt *rapid.T, w pricing.Window) *signals.Curve {
	price := rapid.SampledFrom([]float64{0, 0.1, 0.123456, -0.05, 1e-6, 12345.678901})
	var runs []pricing.Run
	for left := w.Len(); left > 0; {
		r := pricing.Run{
			N: rapid.IntRange(1, left).Draw(rt, "run"), Price: price.Draw(rt, "price"), Import: price.Draw(rt, "import"),
			Export: price.Draw(rt, "export"), Confidence: rapid.SampledFrom([]float64{1, 0.5}).Draw(rt, "confidence"),
		}
		runs, left = append(runs, r), left-r.N
	}
	c, err := pricing.CurveFromRuns(w, runs, pricing.ExportCompensation{
		Type:        rapid.SampledFrom([]pricing.CompensationType{pricing.NetMetering, pricing.NoExport}).Draw(rt, "type"),
		Source:      rapid.String().Draw(rt, "source"),
		Description: rapid.String().Draw(rt, "description"),
	}, rapid.SampledFrom([]string{"", "a \"tariff\" <of> some year\n"}).Draw(rt, "import source"))
	if err != nil {
		rt.Fatal(err)
	}
	var grams []float64
	if rapid.Bool().Draw(rt, "place is known") {
		grams = rapid.SliceOfN(rapid.SampledFrom([]float64{0, 411.5, 800}), c.Len(), c.Len()).Draw(rt, "emissions")
	}
	return signals.NewCurve(*c, rapid.SampledFrom([]string{"", "plan_1"}).Draw(rt, "plan")).WithEmissions(grams)
}

// Trigger draws a trigger of the organization org.
func Trigger(rt *rapid.T) events.Trigger {
	start := noon.Add(time.Duration(rapid.IntRange(-100, 100).Draw(rt, "start")) * pricing.Interval)
	end := start.Add(time.Duration(rapid.IntRange(1, 200).Draw(rt, "intervals")) * pricing.Interval)
	t := events.NewTrigger("org", pricing.Window{Start: start, End: end}, noon.Add(time.Duration(rapid.IntRange(0, 1e9).Draw(rt, "at"))))
	t.Sequence = uint64(rapid.IntRange(1, 1e9).Draw(rt, "sequence"))
	return t
}
