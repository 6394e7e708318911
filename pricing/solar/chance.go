package solar

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// Home holds the inputs of a home's exports besides its array.
type Home struct {
	SizeKW    float64 // rated power of the modules
	AnnualKWh float64 // energy used in a year; 0 means TypicalAnnualKWh
	Lat, Lon  float64 // degrees north and east
	Location  *time.Location
	// Metered replaces the usual load of the place and AnnualKWh in the metered months;
	// nil if nothing is metered.
	Metered *Metered
}

// ErrHome is wrapped by the errors about a Home.
var ErrHome = errors.New("solar: unusable home")

// Chance is the probability that a home exports, by month and time of the day. It is safe
// for concurrent use. Share one Chance between equal homes.
type Chance struct {
	profile  *Profile
	load     *Load
	metered  *Metered // nil if nothing is metered
	location *time.Location
	use      float64 // kWh a year per kW of modules
	shift    int64   // seconds from universal time to the time of the tables
	// months are calculated on first use, as a day needs only one or two.
	months [12]atomic.Pointer[[quartersADay]float32]
}

// loadVariation is the standard deviation of a home's load in a quarter hour against its
// mean at that time of the day. With this value the probabilities match the reliability
// diagram of docs/pricing.md. The simulated house of that diagram has 0.16 by the hour.
// The load of a real house changes in steps, as appliances switch on.
const loadVariation = 0.4

// NewChance calculates the probability that the home's output exceeds its load. It is the
// share of the typical month's days on which the output is greater. Each day's load is
// log-normal around its mean:
//
//	P = mean over days of Phi((ln(size x power) - ln(load) + s2/2) / s),  s2 = ln(1 + 0.4^2)
//
// The output is from the typical year. The load is metered (see Home.Load), or from the
// nearest city of the load shapes, at the local time of the day. The error wraps ErrHome.
func NewChance(p *Profile, h Home) (*Chance, error) {
	switch {
	case h.Location == nil:
		return nil, fmt.Errorf("%w: no time zone", ErrHome)
	case !(h.SizeKW > 0) || math.IsInf(h.SizeKW, 0):
		return nil, fmt.Errorf("%w: %v kW", ErrHome, h.SizeKW)
	case !(h.AnnualKWh >= 0) || math.IsInf(h.AnnualKWh, 0):
		return nil, fmt.Errorf("%w: %v kWh a year", ErrHome, h.AnnualKWh)
	case !(math.Abs(h.Lat) <= 90) || !(math.Abs(h.Lon) <= 180):
		return nil, fmt.Errorf("%w: no place at %v north, %v east", ErrHome, h.Lat, h.Lon)
	}
	load, annual := h.Load(p)
	return &Chance{profile: p, load: load, metered: h.Metered, location: h.Location, use: annual / h.SizeKW, shift: p.shift(h.Lon)}, nil
}

// secondsADegree is the delay of the sun for each degree to the west.
const secondsADegree = 240

// month returns the table of a month; 0 is January.
func (c *Chance) month(month int) *[quartersADay]float32 {
	if table := c.months[month].Load(); table != nil {
		return table
	}
	table := new([quartersADay]float32)
	for quarter := range table {
		mean := c.use * c.load.Power(month, localHours(c.location, c.shift, month, quarter))
		table[quarter] = float32(c.profile.above(month, quarter, mean))
	}
	c.months[month].Store(table) // concurrent callers store equal tables
	return table
}

// localHours returns the local time of the day at the middle of a quarter hour of the
// table, in the middle of the month. shift is Profile.shift.
func localHours(location *time.Location, shift int64, month, quarter int) float64 {
	const middleOfMonth = 15
	start := time.Date(referenceYear, time.Month(month+1), middleOfMonth, 0, 0, 0, 0, time.UTC)
	local := start.Add(time.Duration(quarter)*quarterHour + quarterHour/2 - time.Duration(shift)*time.Second).In(location)
	return float64(local.Hour()) + float64(local.Minute())/60 + float64(local.Second())/3600
}

// above returns the probability over the days of a month that a quarter hour's output
// exceeds a load. mean is the mean of the load. Both are per kW of modules.
func (p *Profile) above(month, quarter int, mean float64) float64 {
	variance := math.Log1p(loadVariation * loadVariation)
	spread := math.Sqrt(variance)
	sum := 0.0
	for day := firstDays[month]; day < firstDays[month+1]; day++ {
		if power := p.Power(day*quartersADay + quarter); power > 0 {
			sum += normal((math.Log(power/mean) + variance/2) / spread)
		}
	}
	return sum / float64(firstDays[month+1]-firstDays[month])
}

// normal returns the standard normal distribution function.
func normal(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// Metered reports whether the load of a month is metered.
func (c *Chance) Metered(month time.Month) bool { return c.metered.Month(month) != nil }

// At returns the probability that the home exports in the quarter hour that starts at an
// instant, given in Unix seconds. The middle selects the quarter hour of the table.
func (c *Chance) At(unix int64) float64 {
	t := time.Unix(unix+c.shift, 0).UTC().Add(quarterHour / 2)
	return float64(c.month(int(t.Month()) - 1)[(t.Hour()*60+t.Minute())/15])
}
