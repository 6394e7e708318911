package events_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/events"
)

func TestEmissions_RoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		grams := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 411.5, 800}), 0, 200).Draw(rt, "grams")
		if got := events.Emissions(events.EmissionRuns(grams)); !slices.Equal(got, grams) {
			rt.Fatalf("%v reads as %v", grams, got)
		}
	})
	if got := events.Emissions([]events.EmissionRun{{N: 1 << 40, Grams: 1}}); len(got) > 4000 {
		t.Errorf("a run of absurd length expands to %d", len(got))
	}
}
