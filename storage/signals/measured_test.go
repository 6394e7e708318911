package signals_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// measuredLoad is the measured July of a home, with the same power in every hour.
func measuredLoad(home string, watts int) *storage.MeasuredLoad {
	july := storage.MeasuredMonth{Month: "2025-07", KWh: 744 * float64(watts) / 1000, Watts: slices.Repeat([]int{watts}, 24)}
	return &storage.MeasuredLoad{HomeID: home, Months: []storage.MeasuredMonth{july}, Base: org}
}

// The measured use selects the tier: 1 kW reaches 500 kWh in the 20th day.
func TestSignal_MeasuredTier(t *testing.T) {
	s := newStore()
	storagetest.Put(t, s, plan("tiers", tiers), home("h", "tiers", nil), home("other", "tiers", nil),
		&storage.Usage{HomeID: "h", AssumedMonthlyKwh: ptr(30.0), Base: org})
	b := signals.NewPricer(10)
	w := window(time.Date(2026, 7, 21, 12, 0, 0, 0, time.UTC)) // after 20 days in any US time zone
	before, other := signal(t, b, s, "h"), signal(t, b, s, "other")
	storagetest.Put(t, s, measuredLoad("h", 1100))
	got, err := signalAt(t, b, s, "h", w)
	if err != nil || got.Import[0] != 0.3 || got.Confidence[0] != 1 || got.Revision <= before.Revision {
		t.Errorf("measured, a kWh costs %v with confidence %v at revision %d after %d (%v)", got.Import[0], got.Confidence[0], got.Revision, before.Revision, err)
	}
	if again := signal(t, b, s, "other"); again.Curve != other.Curve || again.Revision != other.Revision {
		t.Error("a home without a measured load has another signal")
	}
	var tier string
	if err := s.View(func(v storage.View) error {
		reasons, err := b.Explain(v, "org", "h", w)
		if err == nil {
			tier = reasons[0].Tier
		}
		return err
	}); err != nil || !strings.Contains(tier, "measured kWh of the month") {
		t.Errorf("the tier is %q (%v)", tier, err)
	}
	if err := s.Delete(t.Context(), storage.KindMeasuredLoad.Ref("org", "h")); err != nil {
		t.Fatal(err)
	}
	after, err := signalAt(t, b, s, "h", w)
	if err != nil || after.Import[0] != 0.1 || after.Revision <= got.Revision {
		t.Errorf("after the deletion a kWh costs %v at revision %d (%v)", after.Import[0], after.Revision, err)
	}
}

// The measured load replaces the assumed load in the probability of exporting. A home
// that uses almost nothing exports at noon, and a factory never does.
func TestSignal_MeasuredExportChance(t *testing.T) {
	s := newStore()
	storagetest.Put(t, s, plan("flat", flat), home("h", "flat", inChicago), home("twin", "flat", inChicago),
		&storage.Solar{HomeID: "h", SizeKw: 8, Base: org}, &storage.Solar{HomeID: "twin", SizeKw: 8, Base: org})
	b := signals.NewPricer(10)
	noon := at(18)
	assumed := signal(t, b, s, "h")
	for watts, want := range map[int]float64{1: 0.05, 1_000_000: 0.2} {
		storagetest.Put(t, s, measuredLoad("h", watts))
		if got := signal(t, b, s, "h"); got.Price[noon] != want || got.Curve == assumed.Curve {
			t.Errorf("with %d W a kWh is worth %v at noon, want %v", watts, got.Price[noon], want)
		}
	}
	if twin := signal(t, b, s, "twin"); twin.Price[noon] != assumed.Price[noon] {
		t.Errorf("a home without a measured load has %v at noon, want %v", twin.Price[noon], assumed.Price[noon])
	}
	// A month with too many gaps is as if it were not measured.
	gaps := measuredLoad("h", 1_000_000)
	gaps.Months[0].MissingHours = 100
	storagetest.Put(t, s, gaps)
	if got := signal(t, b, s, "h"); got.Price[noon] != assumed.Price[noon] {
		t.Errorf("with gaps a kWh is worth %v at noon, want %v", got.Price[noon], assumed.Price[noon])
	}
}
