package signals

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
	_ "time/tzdata" // the tests need the same zones on every machine

	"github.com/gridhook/gridhook/pricing/climate"
	"github.com/gridhook/gridhook/pricing/eligibility"
	"github.com/gridhook/gridhook/pricing/solar"
	"github.com/gridhook/gridhook/storage"
)

// TestChance_RoundingError checks that the probability that similar homes share is
// close to the exact value of each home.
func TestChance_RoundingError(t *testing.T) {
	b := NewPricer(1)
	random := rand.New(rand.NewPCG(1, 2))
	sum, n, worst := 0.0, 0, 0.0
	for _, zipcode := range []string{"60614", "94103", "85004", "33101", "97201"} {
		at, ok := eligibility.Locate(zipcode)
		if !ok {
			t.Fatalf("%s is not known", zipcode)
		}
		location, _ := storage.Location(at.Timezone)
		for range 3 {
			tilt, azimuth, losses := random.Float64()*45, 90+random.Float64()*180, 5+random.Float64()*15
			s := system{SizeKw: 2 + random.Float64()*10, SolarSettings: storage.SolarSettings{Tilt: &tilt, Azimuth: &azimuth, Losses: &losses}}
			profile, err := solar.NewProfile(climate.Choose(climate.Place{Lat: at.Lat, Lon: at.Lon, State: at.State, County: at.County}).Year, s.Array())
			if err != nil {
				t.Fatal(err)
			}
			exact, err := solar.NewChance(profile, solar.Home{SizeKW: s.SizeKw, Lat: at.Lat, Lon: at.Lon, Location: location})
			if err != nil {
				t.Fatal(err)
			}
			shared, err := b.chance(newChanceKey(b.place(zipcode), &s, 0, at.Timezone), nil)
			if err != nil {
				t.Fatal(err)
			}
			day := time.Date(2026, time.January, 15, 0, 0, 0, 0, time.UTC)
			for quarter := range 12 * 96 {
				unix := day.AddDate(0, quarter/96, 0).Add(time.Duration(quarter%96) * 15 * time.Minute).Unix()
				p := exact.At(unix)
				if off := math.Abs(p - shared.At(unix)); p > 0 {
					sum, n, worst = sum+off, n+1, max(worst, off)
				}
			}
		}
	}
	t.Logf("off by %.4f on average, by %.3f at most", sum/float64(n), worst)
	if mean := sum / float64(n); mean > 0.01 || worst > 0.15 {
		t.Errorf("off by %.4f on average, by %.3f at most", mean, worst)
	}
}

func TestNearestArray_Steps(t *testing.T) {
	for _, tt := range []struct{ in, want solar.Array }{
		{solar.DefaultArray, solar.DefaultArray},
		{solar.Array{Tilt: 22, Azimuth: 184, Losses: 14.08}, solar.Array{Tilt: 20, Azimuth: 180, Losses: 14.08}},
		{solar.Array{Tilt: 89, Azimuth: 359, Losses: 99}, solar.Array{Tilt: 90, Azimuth: 360, Losses: 98}},
		{solar.Array{Tilt: 1, Azimuth: 3, Losses: 0.4}, solar.Array{}},
	} {
		if got := nearestArray(tt.in); got != tt.want || got.Check() != nil {
			t.Errorf("%+v is near %+v, want %+v (%v)", tt.in, got, tt.want, got.Check())
		}
	}
}
