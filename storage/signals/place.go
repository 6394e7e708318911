package signals

import (
	"cmp"
	"errors"
	"math"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/carbon"
	"github.com/gridhook/gridhook/pricing/climate"
	"github.com/gridhook/gridhook/pricing/eligibility"
	"github.com/gridhook/gridhook/pricing/solar"
	"github.com/gridhook/gridhook/storage"
)

// place is the location of a home. The zero value is an unknown location.
type place struct {
	known    bool
	lat, lon float64 // in steps of placeStep
	state    string
	utility  int // EIA number of the main utility; 0 if unknown
	grid     *carbon.Region
	climate  *climate.Year // the typical year that represents the place
}

// place returns the location of a zipcode.
func (p *Pricer) place(zipcode string) place {
	if zipcode == "" {
		return place{}
	}
	if found, ok := p.places.peek(zipcode); ok {
		return found
	}
	found, _ := p.places.get(zipcode, func() (place, error) {
		at, known := new(eligibility.Checker).Area(zipcode)
		found := place{known: known}
		if known {
			found.state, found.utility = at.State, at.MainUtility()
			found.lat, found.lon = rounded(at.Lat, placeStep), rounded(at.Lon, placeStep)
			found.climate = climate.Choose(at.Place.Place).Year
			found.grid, _ = carbon.Of(at.State, at.County)
		}
		return found, nil // never an error
	})
	return found
}

// Regime returns the net-metering regime of a home's solar. The utility is the rate
// plan's, by its EIA number, or else the zipcode's main utility.
func (p *Pricer) Regime(s *storage.SolarSettings, zipcode string, eiaID int) pricing.Regime {
	at := p.place(zipcode)
	return s.Regime(at.state, cmp.Or(eiaID, at.utility))
}

// profileKey identifies the output of an array.
type profileKey struct {
	climate *climate.Year
	array   solar.Array
}

// chanceKey identifies a probability of exporting. Its values are rounded to steps, so
// that similar homes share probabilities and curves. Rounding moves the probability by
// less than 0.01 on average. The uncertainty about any home's use of energy is far
// greater.
type chanceKey struct {
	climate  *climate.Year
	lat, lon float64
	array    solar.Array
	size     int // in steps of sizeStep, the logarithm of kW per kWh a year; of kW if measured is set
	timezone string
	measured uint64 // revision of the measured load, 0 if there is none
}

// These constants are the steps of rounded values.
const (
	placeStep   = 0.25 // degrees: a difference of one minute in solar time
	tiltStep    = 5.0  // degrees
	azimuthStep = 10.0 // degrees
	lossesStep  = 2.0  // percent
	sizeStep    = 0.02 // of the logarithm: 2 percent
)

// maxLogSize bounds the logarithm of a size. A system beyond it exports never or always
// while the sun shines, as the system at the bound does.
const maxLogSize = 20.0

// rounded returns the nearest multiple of a step.
func rounded(v, step float64) float64 { return math.Round(v/step) * step }

func newChanceKey(at place, s *system, annualKWh float64, timezone string) chanceKey {
	if annualKWh == 0 {
		annualKWh = solar.TypicalAnnualKWh
	}
	size := math.Log(s.SizeKw) - math.Log(annualKWh) // the quotient would underflow
	if s.SizeKw > 0 {
		size = min(max(size, -maxLogSize), maxLogSize)
	}
	return chanceKey{
		climate: at.climate, lat: at.lat, lon: at.lon, array: nearestArray(s.Array()), timezone: timezone,
		size: int(math.Round(size / sizeStep)),
	}
}

// nearestArray returns an array with rounded values. The default array stays as it is.
func nearestArray(a solar.Array) solar.Array {
	if a == solar.DefaultArray {
		return a
	}
	stepped := solar.Array{Tilt: rounded(a.Tilt, tiltStep), Azimuth: rounded(a.Azimuth, azimuthStep), Losses: math.Min(rounded(a.Losses, lossesStep), 98)}
	if a.Losses == solar.DefaultArray.Losses {
		stepped.Losses = a.Losses
	}
	return stepped
}

// chance returns a home's probability of exporting. measured is nil if the home has no
// measured load. Errors: *HomeError.
func (p *Pricer) chance(k chanceKey, measured *measuredLoad) (*solar.Chance, error) {
	chance, err := p.chances.get(k, func() (*solar.Chance, error) {
		profile, err := p.profile(profileKey{k.climate, k.array})
		if err != nil {
			return nil, err
		}
		location, _ := storage.Location(k.timezone) // callers have checked the time zone
		home := solar.Home{SizeKW: math.Exp(float64(k.size) * sizeStep), AnnualKWh: 1, Lat: k.lat, Lon: k.lon, Location: location}
		if measured != nil {
			home.Metered = measured.Metered
		}
		return calculate(func() (*solar.Chance, error) { return solar.NewChance(profile, home) })
	})
	if _, failed := errors.AsType[*HomeError](err); err != nil && !failed {
		err = &HomeError{"the home's solar cannot be used: correct its size, array or assumed use of energy", err}
	}
	return chance, err
}

// profile returns the output of an array.
func (p *Pricer) profile(k profileKey) (*solar.Profile, error) {
	return p.profiles.get(k, func() (*solar.Profile, error) {
		return calculate(func() (*solar.Profile, error) { return solar.NewProfile(k.climate, k.array) })
	})
}
