package savings

import (
	"fmt"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/climate"
)

// warmUp is how many days before a run the baseline starts, so that nothing is
// left of the temperature it starts from.
const warmUp = 7

// Estimate is what the home would save.
//
// It returns ErrNoDevice, ErrNoPrices or ErrNoPlace for a home that lacks them, an
// *InputError that names every wrong field, the error of Prices, wrapped, or that of
// Rest.
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
	weather *climate.Year
	months  []Month
	devices []deviceEstimate
	prices  prices
	spread  spread
}

// deviceEstimate is a device and its part in the figures.
type deviceEstimate struct {
	device    *Device
	house     house
	timetable *timetable
	figures   Figures
	day       *Day // of the greatest savings so far
}

func newEstimate(in *Input) *estimate {
	e := &estimate{in: in, weather: in.Weather}
	if e.weather == nil {
		e.weather = climate.Nearest(in.Place.Lat, in.Place.Lon)
	}
	for i := range in.Devices {
		d := &in.Devices[i]
		e.devices = append(e.devices, deviceEstimate{device: d, house: newHouse(d), timetable: newTimetable(d, &in.Request)})
	}
	return e
}

// conditions are what a run's quarter hours have in common for all devices. The
// weather and the clock begin with the warm-up, the prices after it.
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
	c := &conditions{warmUp: warmUp * quartersADay, price: prices}
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
	e.prices.add(c.price)
	first := len(e.months)
	for _, m := range r.months {
		e.months = append(e.months, Month{Year: m.year, Month: int(m.name)})
	}
	for i := range e.devices {
		d := &e.devices[i]
		b := newBaseline(&d.house, d.timetable, c)
		for j := range r.months {
			p, base := b.month(&r.months[j])
			best := newSolver(p).equalComfort(base)
			f := newFigures(base, best)
			d.figures.add(f)
			e.months[first+j].add(f)
			d.keepDay(b, &r.months[j], base, best)
			if err := e.rest(); err != nil {
				return err
			}
		}
		if err := e.addSpread(&d.house, d.timetable, c, r); err != nil {
			return err
		}
	}
	return nil
}
