package solar_test

import (
	"math"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing/climate"
	"github.com/gridhook/gridhook/pricing/solar"
)

// metered returns months with the same power in every hour, kW.
func metered(kw float64, exports bool, months ...time.Month) *solar.Metered {
	m := new(solar.Metered)
	for _, month := range months {
		m[month-1] = &solar.MeteredMonth{Exports: exports}
		for hour := range m[month-1].NetKW {
			m[month-1].NetKW[hour] = kw
		}
	}
	return m
}

func close(got, want float64) bool { return math.Abs(got-want) <= 1e-9*max(1, math.Abs(want)) }

// A metered month has its metered load. The other months have the usual load in
// proportion.
func TestLoad_MeteredMonths(t *testing.T) {
	h := solar.Home{Lat: 33.5, Lon: -112.1, Location: zone(t, "America/Phoenix")}
	usual, annual := h.Load(nil)
	if annual != solar.TypicalAnnualKWh || usual != solar.NearestLoad(h.Lat, h.Lon) {
		t.Errorf("without a meter it is %s with %v kWh", usual.City, annual)
	}
	h.Metered = metered(1.5, false, time.June, time.July)
	load, annual := h.Load(nil)
	share := 0.0
	for hour := range 24 {
		share += 30*usual.Power(5, float64(hour)+0.5) + 31*usual.Power(6, float64(hour)+0.5)
	}
	if want := 61 * 24 * 1.5 / share; !close(annual, want) {
		t.Errorf("%v kWh a year, want %v", annual, want)
	}
	// An hour has at least a tenth of the month's mean: (23 x 2.4 kW + 0 kW) / 24.
	h.Metered = metered(2.4, false, time.May)
	h.Metered[4].NetKW[3] = 0
	if least, annual := h.Load(nil); !close(annual*least.Power(4, 3.5), 0.23) || !close(annual*least.Power(4, 4.5), 2.4) || !close(annual*least.Power(4, 4.25), 0.75*2.4+0.25*0.23) {
		t.Errorf("%v kW at 3:30, %v at 4:15 and %v at 4:30; want 0.23, 1.8575 and 2.4", annual*least.Power(4, 3.5), annual*least.Power(4, 4.25), annual*least.Power(4, 4.5))
	}
	for hour := range 24 {
		at := float64(hour) + 0.5
		if got := annual * load.Power(6, at); !close(got, 1.5) {
			t.Errorf("July has %v kW in hour %d, want 1.5", got, hour)
		}
		if got, want := load.Power(0, at), usual.Power(0, at); got != want {
			t.Errorf("January has %v in hour %d, want %v as usual", got, hour, want)
		}
	}
	h.Metered = new(solar.Metered)
	if load, annual := h.Load(nil); load != usual || annual != solar.TypicalAnnualKWh {
		t.Errorf("nothing is metered: %v kWh", annual)
	}
}

// The load behind a meter that counts exports is its net power plus the array's output.
func TestLoad_BehindExportMeter(t *testing.T) {
	p := profile(t, "Phoenix", solar.DefaultArray)
	h := solar.Home{SizeKW: 5, Lat: p.Year.Lat, Lon: p.Year.Lon, Location: zone(t, "America/Phoenix")}
	months := []time.Month{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	h.Metered = metered(0.8, true, months...)
	load, annual := h.Load(p)
	if want := 8760*0.8 + 5*p.Annual(); math.Abs(annual/want-1) > 1e-4 {
		t.Errorf("%v kWh a year, want %v", annual, want)
	}
	if night := annual * load.Power(6, 1.5); !close(night, 0.8) {
		t.Errorf("%v kW at night, want 0.8", night)
	}
	// A meter that counts more exports than the array's output leaves a tenth of the
	// mean load.
	h.Metered = metered(0.8, true, months...)
	h.Metered[6].NetKW[12] = -50
	if load, annual = h.Load(p); !(annual*load.Power(6, 12.5) > 0) {
		t.Errorf("%v kW at noon, want above 0", annual*load.Power(6, 12.5))
	}
	h.Metered = metered(-3, true, months...)
	if load, annual = h.Load(nil); !(annual*load.Power(6, 12.5) > 0) {
		t.Errorf("%v kW without an array, want above 0", annual*load.Power(6, 12.5))
	}
}

// The probability of exporting is the share of the month's days, by the metered load at the
// middle of the quarter hour, on the local clock. In March the clock is an hour ahead of the
// typical year's, from the middle of the month.
func TestChance_Metered(t *testing.T) {
	p := profile(t, "Denver", solar.DefaultArray)
	h := solar.Home{SizeKW: 5, AnnualKWh: 10000, Lat: p.Year.Lat, Lon: p.Year.Lon, Location: zone(t, "America/Denver"), Metered: metered(0, false, time.March)}
	for hour := range 24 {
		h.Metered[2].NetKW[hour] = 1 + float64(hour)/12
	}
	c, err := solar.NewChance(p, h)
	if err != nil {
		t.Fatal(err)
	}
	const firstOfMarch, quarters = 59, 96
	variance := math.Log1p(0.4 * 0.4)
	for quarter := range quarters - 8 { // until 23:00 of the clock
		want, load := 0.0, 1+(float64(quarter)/4+0.125+1-0.5)/12
		for day := firstOfMarch; day < firstOfMarch+31; day++ {
			if kw := 5 * p.Power(day*quarters+quarter); kw > 0 {
				want += math.Erfc(-(math.Log(kw/load)+variance/2)/math.Sqrt(variance)/math.Sqrt2) / 2 / 31
			}
		}
		at := time.Date(2026, time.March, 10, 0, 15*quarter, 0, 0, time.UTC).Add(-p.Year.Offset)
		if got := c.At(at.Unix()); math.Abs(got-want) > 1e-6 {
			t.Errorf("%v: %v, want %v", at, got, want)
		}
	}
	if !c.Metered(time.March) || c.Metered(time.August) || phoenix(t, 5, 0).Metered(time.March) {
		t.Error("March alone is metered")
	}
	if quarters*365 != climate.Quarters {
		t.Errorf("a year has %d quarter hours", climate.Quarters)
	}
}

// A quarter hour has the sun of its middle: a home ten minutes of solar time east of the
// station has the probability of a home fifteen minutes east, not that of the station.
func TestChance_SunOfMiddle(t *testing.T) {
	p := profile(t, "Phoenix", solar.DefaultArray)
	morning := time.Date(2026, time.July, 10, 7, 0, 0, 0, time.UTC).Add(-p.Year.Offset).Unix()
	at := func(minutesEast float64) float64 {
		c, err := solar.NewChance(p, solar.Home{
			SizeKW: 5, Lat: p.Year.Lat, Lon: p.Year.Lon + minutesEast/4, Location: zone(t, "America/Phoenix"), Metered: metered(1, false, time.July),
		})
		if err != nil {
			t.Fatal(err)
		}
		return c.At(morning - int64(minutesEast)/60*3600)
	}
	if hour := at(60); hour != at(0) {
		t.Errorf("an hour of solar time east, an hour earlier: %v, want %v", hour, at(0))
	}
	if got, station, east := at(10), at(0), at(15); got != east || at(5) != station || station == east {
		t.Errorf("ten minutes east: %v, want %v; at the station %v, five minutes east %v", got, east, station, at(5))
	}
}
