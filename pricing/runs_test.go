package pricing_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/pricing/urdb"
)

// carried is the part of a curve that a retry stores.
type carried struct {
	Window       pricing.Window
	Runs         []pricing.Run
	Compensation pricing.ExportCompensation
	ImportSource string
}

func TestRuns_RoundTrip(t *testing.T) {
	tariffs := []*pricing.Tariff{jacksonEMC().Parse(t), apsSaverChoicePlus().Parse(t), selling("", -0.01, 0.03).Parse(t)}
	for _, plan := range catalog.Plans() {
		tariff, err := urdb.Parse(plan.URDB)
		if err != nil {
			t.Fatal(err)
		}
		tariffs = append(tariffs, tariff)
	}
	location := zone(t, "America/Los_Angeles")
	for _, tariff := range tariffs {
		for _, w := range []pricing.Window{
			localDay(location, 2026, time.November, 1),
			localDay(location, 2027, time.March, 14),
			window("2026-10-10T10:15:00Z", "2026-11-10T10:15:00Z"),
			window("2026-10-10T10:15:00Z", "2026-10-10T10:30:00Z"),
		} {
			c := price(t, pricing.Input{Tariff: tariff, Location: location}, w)
			data, err := json.Marshal(carried{w, c.Runs(), c.ExportCompensation, c.ImportSource})
			if err != nil {
				t.Fatal(err)
			}
			var back carried
			if err := json.Unmarshal(data, &back); err != nil {
				t.Fatal(err)
			}
			again, err := pricing.CurveFromRuns(back.Window, back.Runs, back.Compensation, back.ImportSource)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(signal(c), signal(again)) {
				t.Errorf("%s, %v: the encoding changed through runs", tariff.Info().Name, w)
			}
			// Export values that change by the hour make some thirty runs of a day.
			if runs, _ := json.Marshal(c.Runs()); w.Len() <= 100 && len(runs) > 1300 {
				t.Errorf("%s: the runs of a day take %d bytes", tariff.Info().Name, len(runs))
			}
		}
	}
}

func TestCurveFromRuns_Invalid(t *testing.T) {
	hour := window("2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z")
	run := func(n int, v float64) pricing.Run {
		return pricing.Run{N: n, Price: v, Import: v, Export: v, Confidence: 1}
	}
	for _, tt := range []struct {
		name string
		w    pricing.Window
		runs []pricing.Run
		want error
	}{
		{"none", hour, nil, pricing.ErrRuns},
		{"too few", hour, []pricing.Run{run(3, 1)}, pricing.ErrRuns},
		{"too many", hour, []pricing.Run{run(3, 1), run(2, 1)}, pricing.ErrRuns},
		{"overflow", hour, []pricing.Run{run(3, 1), run(math.MaxInt, 1)}, pricing.ErrRuns},
		{"negative", hour, []pricing.Run{run(5, 1), run(-1, 1)}, pricing.ErrRuns},
		{"NaN", hour, []pricing.Run{run(4, math.NaN())}, pricing.ErrRuns},
		{"infinite", hour, []pricing.Run{run(4, math.Inf(-1))}, pricing.ErrRuns},
		{"no window", pricing.Window{}, []pricing.Run{run(4, 1)}, pricing.ErrWindow},
	} {
		if _, err := pricing.CurveFromRuns(tt.w, tt.runs, pricing.ExportCompensation{}, ""); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, err, tt.want)
		}
	}
}

func signal(c *pricing.Curve) []byte {
	return encode("home_1", c, "plan", now, 7)
}

// encode returns a whole price signal.
func encode(homeID string, c *pricing.Curve, ratePlanID string, at time.Time, sequence uint64) []byte {
	return append(pricing.AppendSignal([]byte("{"), homeID, c.AppendShared(nil, ratePlanID), at, sequence), '}')
}

// curveText returns the fields of a signal that depend on the curve's values.
func curveText(c *pricing.Curve) []byte {
	values, _, _ := bytes.Cut(c.AppendShared(nil, ""), []byte(`,"metadata":`))
	return values
}
