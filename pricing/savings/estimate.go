package savings

import (
	"fmt"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/climate"
)

// warmUp is the number of days between the baseline's start and the run. It removes the
// effect of the start temperature.
const warmUp = 7

// Estimate estimates the savings of a home.
//
// It returns ErrNoDevice, ErrNoPrices or ErrNoPlace for incomplete homes. It returns an
// *pricing.InvalidError that names every wrong field. It also returns the error of Prices, wrapped,
// and the error of Rest.
func Estimate(in Input) (*Result, error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	runs, err := in.runs()
	if err != nil {
		return nil, err
	}
	e := newEstimate(&in)
	for i := range runs {
		if err := e.add(&runs[i]); err != nil {
			return nil, err
		}
	}
	return e.result(), nil
}

// estimate collects the figures of an input, run by run.
type estimate struct {
	in      *Input
	weather climate.Choice
	months  []Month
	devices []deviceEstimate
	prices  []float64  // of all runs
	warmer  float64    // uncertainty of the weather, in degrees Celsius
	doubts  [4]float64 // effect of each uncertainty on the savings, in $
}

// deviceEstimate is a device and its part of the figures.
type deviceEstimate struct {
	device    *Device
	house     house
	timetable *timetable
	followed  *timetable // the schedule of a setback; nil for a shift
	figures   Figures
	day       *Day // the day with the greatest savings up to now
}

func newEstimate(in *Input) *estimate {
	e := &estimate{in: in, weather: climate.Choose(*in.Place)}
	if in.Weather != nil {
		e.weather = in.Place.At(in.Weather)
	}
	e.warmer = weatherDoubt(&e.weather)
	for i := range in.Devices {
		d := &in.Devices[i]
		x := deviceEstimate{device: d, house: newHouse(d)}
		x.timetable, x.followed = timetables(d, &in.Request)
		e.devices = append(e.devices, x)
	}
	return e
}

// conditions holds the inputs of a run that all devices share. The weather and the clock
// begin with the warm-up, the prices after it.
type conditions struct {
	warmUp  int // quarter hours
	start   time.Time
	weather []climate.Weather
	clock   []moment
	price   []float64
}

func (e *estimate) conditions(r *run) (*conditions, error) {
	w := r.window()
	prices, err := e.in.Prices(w)
	if err != nil {
		return nil, fmt.Errorf("savings: prices: %w", err)
	}
	if len(prices) != w.Len() {
		return nil, fmt.Errorf("savings: %d prices for %d quarter hours", len(prices), w.Len())
	}
	c := &conditions{warmUp: warmUp * pricing.QuartersADay, price: prices}
	c.start = w.Start.Add(-time.Duration(c.warmUp) * pricing.Interval)
	c.weather = e.weather.Series(c.start, c.warmUp+w.Len(), e.in.Place.Lon)
	c.clock = moments(c.start, c.warmUp+w.Len(), e.in.Location)
	return c, nil
}

func (e *estimate) rest() error {
	if e.in.Rest == nil {
		return nil
	}
	return e.in.Rest()
}

// add estimates the months of a run for every device.
func (e *estimate) add(r *run) error {
	c, err := e.conditions(r)
	if err != nil {
		return err
	}
	e.prices = append(e.prices, c.price...)
	first := len(e.months)
	for _, m := range r.months {
		e.months = append(e.months, Month{Year: m.year, Month: int(m.name)})
	}
	for i := range e.devices {
		if err := e.addDevice(&e.devices[i], c, r, e.months[first:]); err != nil {
			return err
		}
	}
	return nil
}

// addDevice estimates the months of a run for a device.
func (e *estimate) addDevice(d *deviceEstimate, c *conditions, r *run, months []Month) error {
	b := newBaseline(&d.house, d.timetable, c)
	var followed *baseline
	if d.followed != nil {
		followed = newBaseline(&d.house, d.followed, c)
	}
	saved := make([]float64, len(r.months))
	for i := range r.months {
		m := &r.months[i]
		p, base := b.month(m)
		var best *path
		if followed != nil {
			_, best = followed.month(m)
		} else {
			best = newSolver(p).equalComfort(base)
		}
		f := newFigures(&d.house, base, best)
		d.figures.add(f)
		months[i].add(f)
		saved[i] = base.cost - best.cost
		d.keepDay(b, m, base, best)
		if err := e.rest(); err != nil {
			return err
		}
	}
	return e.addDoubts(d, c, r, saved)
}
