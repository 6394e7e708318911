package savings

import (
	"cmp"
	"fmt"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/climate"
)

// warmUp is the number of quarter hours between the baseline's start and the run. It removes
// the effect of the start temperature.
const warmUp = 7 * pricing.QuartersADay

// Estimate estimates the savings of a home.
//
// It returns ErrNoDevice, ErrNoPrices or ErrNoPlace for incomplete homes. It returns an
// *pricing.InvalidError that names every wrong field. It also returns the error of Prices, wrapped,
// and the error of Rest.
func Estimate(in Input) (*Result, error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	in.Request.Comparison = cmp.Or(in.Request.Comparison, Shift)
	if in.Rest == nil {
		in.Rest = func() error { return nil }
	}
	runs, err := in.runs()
	if err != nil {
		return nil, err
	}
	e := newEstimate(&in)
	for _, r := range runs {
		if err := e.add(r); err != nil {
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

// conditions holds the inputs of a run that all devices share, from the start of the warm-up.
// The warm-up has no prices.
type conditions struct {
	start   time.Time
	weather []climate.Weather
	clock   []moment
	price   []float64
}

func (e *estimate) conditions(r run) (*conditions, error) {
	w := pricing.Window{Start: r[0].start, End: r[len(r)-1].end}
	prices, err := e.in.Prices(w)
	if err != nil {
		return nil, fmt.Errorf("savings: prices: %w", err)
	}
	if len(prices) != w.Len() {
		return nil, fmt.Errorf("savings: %d prices for %d quarter hours", len(prices), w.Len())
	}
	e.prices = append(e.prices, prices...)
	start, n := w.Start.Add(-warmUp*pricing.Interval), warmUp+w.Len()
	return &conditions{
		start: start, price: append(make([]float64, warmUp, n), prices...),
		weather: e.weather.Series(start, n, e.in.Place.Lon), clock: moments(start, n, e.in.Location),
	}, nil
}

// add estimates the months of a run for every device.
func (e *estimate) add(r run) error {
	c, err := e.conditions(r)
	if err != nil {
		return err
	}
	first := len(e.months)
	for _, m := range r {
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
func (e *estimate) addDevice(d *deviceEstimate, c *conditions, r run, months []Month) error {
	b := newBaseline(c).hold(&d.house, d.timetable)
	var followed *baseline
	if d.followed != nil {
		followed = newBaseline(c).hold(&d.house, d.followed)
	}
	saved := make([]float64, len(r))
	for i := range r {
		m := &r[i]
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
		if err := e.in.Rest(); err != nil {
			return err
		}
	}
	return e.addDoubts(d, b, r, saved)
}
