package solar

import (
	"time"

	"github.com/gridhook/gridhook/pricing/climate"
)

// Profile is the output of an array in a typical year, by quarter hour of the year's own
// standard time. It is immutable and safe for concurrent use. Share one Profile between
// all homes with the same climate and array.
type Profile struct {
	Year  *climate.Year
	power []float32 // kW per kW of modules
}

// referenceYear is the calendar of the typical year. It is not a leap year.
const referenceYear = 2027

// NewProfile models an array in a typical year, with the sun's position at the weather
// station. The error wraps ErrArray.
func NewProfile(y *climate.Year, a Array) (*Profile, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	p := &Profile{Year: y, power: make([]float32, climate.Quarters)}
	middle := time.Date(referenceYear, time.January, 1, 0, 0, 0, 0, time.UTC).Add(quarterHour/2 - y.Offset)
	for i := range p.power {
		w := y.Quarter(i)
		if w.DNI+w.DHI > 0 {
			sun := Position(middle.Add(time.Duration(i)*quarterHour), y.Lat, y.Lon)
			p.power[i] = float32(a.output(sun, w))
		}
	}
	return p, nil
}

// Power returns the output in a quarter hour of the year, counted from 0, in kW per kW of
// modules.
func (p *Profile) Power(quarter int) float64 { return float64(p.power[quarter]) }

// PowerAt returns the output at a longitude in the quarter hour that starts at an instant, in
// kW per kW of modules. It uses the quarter hour of the typical year at climate.Year.Index.
func (p *Profile) PowerAt(t time.Time, lon float64) float64 {
	return p.Power(p.Year.Index(t, lon))
}

const (
	quarterHour  = 15 * time.Minute
	quartersADay = 96
)

// firstDays are the first days of the months, as days of the year from 0.
var firstDays = [13]int{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365}
