package solar_test

import (
	"errors"
	"math"
	"testing"
	"time"
	_ "time/tzdata" // the tests need the same zones on every machine

	"github.com/gridhook/gridhook/pricing/climate"
	"github.com/gridhook/gridhook/pricing/solar"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	location, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return location
}

// phoenix is a home near the weather station.
func phoenix(t testing.TB, sizeKW, annualKWh float64) *solar.Chance {
	t.Helper()
	c, err := solar.NewChance(profile(t, "Phoenix", solar.DefaultArray), solar.Home{
		SizeKW: sizeKW, AnnualKWh: annualKWh, Lat: 33.5, Lon: -112.1, Location: zone(t, "America/Phoenix"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func at(c *solar.Chance, local string) float64 { return c.At(instant(local).Unix()) }

func TestChance_FollowsDay(t *testing.T) {
	c := phoenix(t, 6, 0)
	for _, tt := range []struct {
		at        string
		low, high float64
	}{
		{"2026-04-15T01:00:00-07:00", 0, 0},
		{"2026-04-15T05:00:00-07:00", 0, 0},
		{"2026-04-15T12:00:00-07:00", 0.9, 1},
		{"2026-04-15T17:45:00-07:00", 0, 0.5},
		{"2026-04-15T21:00:00-07:00", 0, 0},
		{"2026-12-15T12:00:00-07:00", 0.8, 1},
	} {
		if got := at(c, tt.at); got < tt.low || got > tt.high {
			t.Errorf("%s: %.3f", tt.at, got)
		}
	}
}

// More modules export more often, and more use less often. A chance is from 0 to 1.
func TestChance_Monotonic(t *testing.T) {
	small, middle, large, thirsty := phoenix(t, 1, 0), phoenix(t, 4, 0), phoenix(t, 12, 0), phoenix(t, 4, 25000)
	start := instant("2026-01-01T00:00:00Z").Unix()
	for i := range 365 * 96 {
		unix := start + int64(i)*900
		a, b, c, d := small.At(unix), middle.At(unix), large.At(unix), thirsty.At(unix)
		if a < 0 || c > 1 || a > b || b > c || d > b || math.IsNaN(a+b+c+d) {
			t.Fatalf("%v: %v, %v, %v, %v", time.Unix(unix, 0).UTC(), a, b, c, d)
		}
	}
}

// The home's output exceeds its load in about as many hours of the typical year as a
// plain count without variation of the load.
func TestChance_MatchesCount(t *testing.T) {
	p := profile(t, "Denver", solar.DefaultArray)
	location := zone(t, "America/Denver")
	home := solar.Home{SizeKW: 5, AnnualKWh: 9000, Lat: p.Year.Lat, Lon: p.Year.Lon, Location: location}
	c, err := solar.NewChance(p, home)
	if err != nil {
		t.Fatal(err)
	}
	load := solar.NearestLoad(home.Lat, home.Lon)
	if load.City != "Boulder CO" {
		t.Errorf("the load of %s", load.City)
	}
	expected, counted := 0.0, 0.0
	start := time.Date(2027, time.January, 1, 0, 0, 0, 0, time.UTC).Add(-p.Year.Offset)
	for i := range climate.Quarters {
		from := start.Add(time.Duration(i) * 15 * time.Minute)
		local := from.In(location)
		use := home.AnnualKWh * load.Power(int(local.Month())-1, float64(local.Hour())+float64(local.Minute())/60+0.125)
		if home.SizeKW*p.Power(i) > use {
			counted++
		}
		expected += c.At(from.Unix())
	}
	if !within(expected, counted, 0.08) {
		t.Errorf("%.0f quarter hours expected, %.0f counted", expected, counted)
	}
}

func TestLoad_YearlySum(t *testing.T) {
	for _, place := range [][2]float64{{35, -106}, {33, -84}, {39, -76}, {40, -105}, {42, -88}, {30, -95}, {36, -115}, {34, -118}, {26, -80}, {45, -93}, {33, -112}, {38, -122}, {47, -122}} {
		load := solar.NearestLoad(place[0], place[1])
		sum := 0.0
		for day := range 365 {
			month := int(time.Date(2027, time.January, 1+day, 0, 0, 0, 0, time.UTC).Month()) - 1
			for quarter := range 96 {
				sum += load.Power(month, float64(quarter)/4+0.125) / 4
			}
		}
		if math.Abs(sum-1) > 1e-3 {
			t.Errorf("%s: %v of the year's energy", load.City, sum)
		}
	}
}

func TestNewChance_Invalid(t *testing.T) {
	p := profile(t, "Phoenix", solar.DefaultArray)
	good := solar.Home{SizeKW: 5, Location: time.UTC}
	for name, spoil := range map[string]func(*solar.Home){
		"no time zone": func(h *solar.Home) { h.Location = nil },
		"no size":      func(h *solar.Home) { h.SizeKW = 0 },
		"no number":    func(h *solar.Home) { h.SizeKW = math.NaN() },
		"negative use": func(h *solar.Home) { h.AnnualKWh = -1 },
		"latitude":     func(h *solar.Home) { h.Lat = 91 },
		"longitude":    func(h *solar.Home) { h.Lon = math.NaN() },
	} {
		h := good
		spoil(&h)
		if _, err := solar.NewChance(p, h); !errors.Is(err, solar.ErrHome) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A new home costs a month or two of its table.
func BenchmarkNewChance(b *testing.B) {
	p := profile(b, "Phoenix", solar.DefaultArray)
	home := solar.Home{SizeKW: 5, Lat: 33.5, Lon: -112, Location: zone(b, "America/Phoenix")}
	for b.Loop() {
		c, err := solar.NewChance(p, home)
		if err != nil {
			b.Fatal(err)
		}
		c.At(1782900000)
	}
}

func BenchmarkChanceAt(b *testing.B) {
	c := phoenix(b, 5, 0)
	for unix := int64(1782900000); b.Loop(); unix += 900 {
		c.At(unix)
	}
}

// A house's load at noon differs from an apartment's: the house of OpenStudio-HPXML in
// Denver uses 5,289 kWh a year, and 1 kW of modules exported at noon on 0.27 of its days.
func TestChance_SmallArrayAtNoon(t *testing.T) {
	p := profile(t, "Denver", solar.DefaultArray)
	c, err := solar.NewChance(p, solar.Home{SizeKW: 1, AnnualKWh: 5289, Lat: p.Year.Lat, Lon: p.Year.Lon, Location: zone(t, "America/Denver")})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for day := range 365 {
		sum += c.At(instant("2026-01-01T19:30:00Z").AddDate(0, 0, day).Unix())
	}
	if mean := sum / 365; mean < 0.17 || mean > 0.40 {
		t.Errorf("%.2f at noon, observed 0.27", mean)
	}
}
