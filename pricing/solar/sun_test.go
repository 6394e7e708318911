package solar_test

import (
	"math"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing/solar"
)

func instant(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}

// closeTo reports whether two angles differ by at most 0.05 degrees.
func closeTo(got, want float64) bool { return math.Abs(math.Remainder(got-want, 360)) <= 0.05 }

// These are the instants of the equinoxes and solstices, to the minute, as the
// Astronomical Applications Department of the US Naval Observatory publishes them. The
// sun's declination is 0 at the equinoxes, and the obliquity of the ecliptic at the
// solstices.
func TestSun_EquinoxesAndSolstices(t *testing.T) {
	const obliquity = 23.436
	for at, want := range map[string]float64{
		"2023-03-20T21:24:00Z": 0, "2023-06-21T14:58:00Z": obliquity, "2023-09-23T06:50:00Z": 0, "2023-12-22T03:27:00Z": -obliquity,
		"2024-03-20T03:06:00Z": 0, "2024-06-20T20:51:00Z": obliquity, "2024-09-22T12:44:00Z": 0, "2024-12-21T09:21:00Z": -obliquity,
		"2025-03-20T09:01:00Z": 0, "2025-06-21T02:42:00Z": obliquity, "2025-09-22T18:19:00Z": 0, "2025-12-21T15:03:00Z": -obliquity,
		"2026-03-20T14:46:00Z": 0, "2026-06-21T08:24:00Z": obliquity, "2026-09-23T00:05:00Z": 0, "2026-12-21T20:50:00Z": -obliquity,
	} {
		got := solar.Position(instant(at), 0, 0).Declination
		if math.Abs(got-want) > 0.005 {
			t.Errorf("%s: declination %.4f, want %v", at, got, want)
		}
	}
}

// Worked examples of the literature.
func TestSun_PublishedPositions(t *testing.T) {
	// Reda and Andreas, Solar Position Algorithm for Solar Radiation Applications
	// (NREL/TP-560-34302), table A5.1: zenith angle 50.11162 with refraction.
	golden := solar.Position(instant("2003-10-17T19:30:30Z"), 39.742476, -105.1786)
	if apparent := golden.Apparent(820, 11); !closeTo(90-apparent, 50.11162) || !closeTo(golden.Azimuth, 194.34024) || !closeTo(golden.Declination, -9.31434) {
		t.Errorf("Golden: zenith %.4f, azimuth %.4f, declination %.4f", 90-apparent, golden.Azimuth, golden.Declination)
	}
	if math.Abs(golden.Distance-0.9965422974) > 1e-5 {
		t.Errorf("Golden: distance %.7f", golden.Distance)
	}
	// Meeus, Astronomical Algorithms, example 25.a: 1992 October 13, 0h TD.
	if got := solar.Position(instant("1992-10-12T23:59:01Z"), 0, 0).Declination; !closeTo(got, -7.78507) {
		t.Errorf("Meeus: declination %.5f", got)
	}
}

// These are the four extremes of the equation of time in almanacs. A second of time is
// 0.004 degrees of hour angle.
func TestSun_EquationOfTime(t *testing.T) {
	for at, want := range map[string]string{
		"2026-02-11T12:00:00Z": "-14m13s", "2026-05-14T12:00:00Z": "3m39s",
		"2026-07-26T12:00:00Z": "-6m33s", "2026-11-03T12:00:00Z": "16m27s",
	} {
		wanted, err := time.ParseDuration(want)
		if err != nil {
			t.Fatal(err)
		}
		if got := solar.EquationOfTime(instant(at)); (got - wanted).Abs() > 5*time.Second {
			t.Errorf("%s: %v, want %s", at, got, want)
		}
	}
}

// At any instant the sun is overhead at the latitude of its declination, where the
// sundial shows noon.
func TestSun_Overhead(t *testing.T) {
	for day := range 366 {
		at := instant("2026-01-01T05:17:00Z").Add(time.Duration(day) * 25 * time.Hour)
		declination := solar.Position(at, 0, 0).Declination
		clock := at.Sub(at.Truncate(24*time.Hour)) + solar.EquationOfTime(at)
		lon := 180 - clock.Hours()*15
		if got := solar.Position(at, declination, lon); math.Abs(got.Elevation-90) > 0.02 {
			t.Fatalf("%v: elevation %.4f at %.3f, %.3f", at, got.Elevation, declination, lon)
		}
	}
}

func TestSun_EastToWest(t *testing.T) {
	morning := solar.Position(instant("2026-06-21T14:00:00Z"), 40, -105)
	noon := solar.Position(instant("2026-06-21T19:02:00Z"), 40, -105)
	evening := solar.Position(instant("2026-06-22T00:00:00Z"), 40, -105)
	night := solar.Position(instant("2026-06-22T07:00:00Z"), 40, -105)
	if morning.Azimuth > 120 || !closeTo(noon.Azimuth, 180) && math.Abs(noon.Azimuth-180) > 1 || evening.Azimuth < 240 || night.Elevation > 0 {
		t.Errorf("got %+v, %+v, %+v, %+v", morning, noon, evening, night)
	}
	if !closeTo(noon.Elevation, 90-40+23.436) {
		t.Errorf("noon: %+v", noon)
	}
	if night.Apparent(1010, 10) != night.Elevation {
		t.Error("refraction below the horizon")
	}
}

func BenchmarkPosition(b *testing.B) {
	at := instant("2026-06-21T14:00:00Z")
	for b.Loop() {
		solar.Position(at, 40, -105)
	}
}
