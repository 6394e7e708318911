package signals

import (
	"math"

	"github.com/gridhook/gridhook/pricing/carbon"
	"github.com/gridhook/gridhook/pricing/climate"
	"github.com/gridhook/gridhook/pricing/eligibility"
	"github.com/gridhook/gridhook/pricing/solar"
	"github.com/gridhook/gridhook/storage"
)

// place is where a home is. Its zero value is nowhere.
type place struct {
	known    bool
	lat, lon float64 // in steps of placeStep
	grid     *carbon.Region
}

// place is where a zipcode is.
func (b *Book) place(zipcode string) place {
	if zipcode == "" {
		return place{}
	}
	if p, ok := b.places.peek(zipcode); ok {
		return p
	}
	p, _ := b.places.get(zipcode, func() (place, error) {
		at, known := eligibility.Locate(zipcode)
		p := place{known: known}
		if known {
			p.lat, p.lon = near(at.Lat, placeStep), near(at.Lon, placeStep)
			p.grid, _ = carbon.Of(at.State, at.County)
		}
		return p, nil // never an error
	})
	return p
}

// profileKey is what the output of an array depends on.
type profileKey struct {
	climate *climate.Year
	array   solar.Array
}

// chanceKey is what the probability of exporting depends on, in steps: homes that
// are nearly alike have the same one, and share curves. Against a home's own values
// that moves the probability by less than 0.01 on average, far less than what is
// known of any one home's use of energy.
type chanceKey struct {
	lat, lon float64
	array    solar.Array
	size     int // in steps of sizeStep, the logarithm of kW per kWh a year
	timezone string
}

// The steps.
const (
	placeStep   = 0.25 // degrees: the sun is a minute later
	tiltStep    = 5.0  // degrees
	azimuthStep = 10.0 // degrees
	lossesStep  = 2.0  // percent
	sizeStep    = 0.02 // of the logarithm: 2 percent
)

// near is the nearest multiple of a step.
func near(v, step float64) float64 { return math.Round(v/step) * step }

func newChanceKey(at place, s *storage.Solar, annualKWh float64, timezone string) chanceKey {
	if annualKWh == 0 {
		annualKWh = solar.TypicalAnnualKWh
	}
	return chanceKey{
		lat: at.lat, lon: at.lon, array: nearestArray(s.Array()), timezone: timezone,
		size: int(math.Round(math.Log(s.SizeKw/annualKWh) / sizeStep)),
	}
}

// nearestArray is an array in steps. The usual one stays as it is.
func nearestArray(a solar.Array) solar.Array {
	if a == solar.DefaultArray {
		return a
	}
	stepped := solar.Array{Tilt: near(a.Tilt, tiltStep), Azimuth: near(a.Azimuth, azimuthStep), Losses: math.Min(near(a.Losses, lossesStep), 98)}
	if a.Losses == solar.DefaultArray.Losses {
		stepped.Losses = a.Losses
	}
	if stepped == (solar.Array{}) {
		stepped.Azimuth = solar.DefaultArray.Azimuth // flat: it faces nowhere
	}
	return stepped
}

// chance is how likely a home exports.
func (b *Book) chance(k chanceKey) (*solar.Chance, error) {
	return b.chances.get(k, func() (*solar.Chance, error) {
		year := climate.Nearest(k.lat, k.lon)
		profile, err := b.profiles.get(profileKey{year, k.array}, func() (*solar.Profile, error) { return solar.NewProfile(year, k.array) })
		if err != nil {
			return nil, err
		}
		location, _ := storage.Location(k.timezone) // the home has one, or it would not have come here
		return solar.NewChance(profile, solar.Home{
			SizeKW: math.Exp(float64(k.size) * sizeStep), AnnualKWh: 1, Lat: k.lat, Lon: k.lon, Location: location,
		})
	})
}
