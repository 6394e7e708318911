package market

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Kind is a market of an operator.
type Kind string

// The values of Kind.
const (
	DayAhead Kind = "DAY_AHEAD"
	RealTime Kind = "REAL_TIME"
	// Emissions is no market: the node is a grid region of package carbon, and the values
	// are its marginal emissions in kg CO2 a kWh.
	Emissions Kind = "EMISSIONS"
)

// Point is the price of one interval of a market.
type Point struct {
	Start time.Time
	Price float64 // $/kWh
}

// Price is a price with its confidence.
type Price struct {
	Value      float64 // $/kWh
	Confidence float64 // 1 for a published price
	Forecast   bool
}

// Series holds the prices of a node in a market, in consecutive equal steps. It is
// immutable and safe for concurrent use.
type Series struct {
	Node string
	Kind Kind
	step int64 // seconds
	from int64 // Unix seconds of the first price
	// prices by step; NaN if not published.
	prices  []float64
	model   model
	typical bool
}

// Typical returns the series with a price at every time, for estimates beyond the horizon
// of a forecast. Only hours of the local day that were never published have none.
// Published prices are unchanged. Other times have the price of the same
// hour and weekday of the nearest published year. Without such a price they have the
// price of the shape.
func (s *Series) Typical() *Series {
	t := *s
	t.typical = true
	return &t
}

// Options are the inputs of New besides the points, and the values that a file lacks.
type Options struct {
	// Node and Kind are, in a file, the defaults of prices without a node or a market.
	Node string
	Kind Kind
	// Location is the time zone of the prices' daily and weekly pattern; nil means UTC. In a
	// file it is also the time zone of local times without an offset, as in ERCOT's files.
	Location *time.Location
	// Step is the length of the points' intervals: 5, 15, 30 or 60 minutes. 0 means the
	// shortest distance between two points.
	Step time.Duration
	// Local means that times in a file without an offset are in Location, except in columns
	// with utc or gmt in their names. If the clocks go back, a repeated time is the instant
	// nearer to the row before. Without Local, times without an offset are UTC.
	Local bool
	// Ending means that times in a file are the ends of intervals of length Step.
	Ending bool
}

// ErrSeries is wrapped by every error about a series.
var ErrSeries = errors.New("market: unusable series")

// maxSteps limits the length of a series to two years of five-minute steps.
const maxSteps = 2 * 366 * 24 * 12

// sparse is the maximum number of steps per price: two weeks of hours. It limits the
// memory that a small file can request.
const sparse = 14 * 24

// Steps are the possible lengths of a series' steps, the shortest first.
var Steps = []time.Duration{5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour}

// New returns a series of points in any order. If two points have the same interval, the
// later point in the list wins. Missing points leave a gap. The error wraps ErrSeries.
func New(points []Point, o Options) (*Series, error) {
	if len(points) == 0 {
		return nil, fmt.Errorf("%w: no prices", ErrSeries)
	}
	ordered := slices.Clone(points)
	slices.SortStableFunc(ordered, func(a, b Point) int { return a.Start.Compare(b.Start) })
	step := o.Step
	if step == 0 {
		step = shortest(ordered)
	}
	if !slices.Contains(Steps, step) {
		return nil, fmt.Errorf("%w: steps of %v; they must be of 5, 15, 30 or 60 minutes", ErrSeries, step)
	}
	s := &Series{Node: o.Node, Kind: o.Kind, step: int64(step / time.Second), from: ordered[0].Start.Unix()}
	last := ordered[len(ordered)-1].Start.Unix()
	switch n := (last-s.from)/s.step + 1; {
	case n > maxSteps:
		return nil, fmt.Errorf("%w: %d steps; at most %d are kept", ErrSeries, n, maxSteps)
	case n > sparse*int64(len(ordered)):
		return nil, fmt.Errorf("%w: %d prices for %d steps: one of a distant time is a mistake", ErrSeries, len(ordered), n)
	}
	s.prices = slices.Repeat([]float64{math.NaN()}, int((last-s.from)/s.step+1))
	for _, p := range ordered {
		unix := p.Start.Unix()
		switch {
		case unix%s.step != 0:
			return nil, fmt.Errorf("%w: %v is not on a grid of %v", ErrSeries, p.Start.UTC().Format(time.RFC3339), step)
		case math.IsNaN(p.Price) || math.Abs(p.Price) > maxPrice:
			return nil, fmt.Errorf("%w: %v $/kWh at %v is beyond %v", ErrSeries, p.Price, p.Start.UTC().Format(time.RFC3339), maxPrice)
		case p.Price < 0 && o.Kind == Emissions:
			return nil, fmt.Errorf("%w: emissions of %v kg/kWh at %v are below 0", ErrSeries, p.Price, p.Start.UTC().Format(time.RFC3339))
		}
		s.prices[(unix-s.from)/s.step] = p.Price
	}
	s.model = fit(s, cmp.Or(o.Location, time.UTC))
	return s, nil
}

// maxPrice is above the price caps of all US markets, $/kWh. The highest price was 9.
const maxPrice = 50.0

// shortest returns the shortest distance between points. For one point, it returns the
// longest step whose grid contains the point.
func shortest(ordered []Point) time.Duration {
	least := time.Hour
	for i := len(Steps) - 1; i > 0 && ordered[0].Start.Unix()%int64(least/time.Second) != 0; i-- {
		least = Steps[i-1]
	}
	for i := 1; i < len(ordered); i++ {
		if d := ordered[i].Start.Sub(ordered[i-1].Start); d > 0 {
			least = min(least, d)
		}
	}
	return least
}

// Step returns the length of an interval of the series.
func (s *Series) Step() time.Duration { return time.Duration(s.step) * time.Second }

// Span returns the time range of the series, from the first interval to the end of the
// last interval.
func (s *Series) Span() (from, to time.Time) {
	return time.Unix(s.from, 0).UTC(), time.Unix(s.end(), 0).UTC()
}

func (s *Series) end() int64 { return s.from + int64(len(s.prices))*s.step }

// Points returns the published prices.
func (s *Series) Points() []Point {
	var points []Point
	for i, price := range s.prices {
		if !math.IsNaN(price) {
			points = append(points, Point{Start: time.Unix(s.from+int64(i)*s.step, 0).UTC(), Price: price})
		}
	}
	return points
}

// Prices returns the published prices from the start of the series, one per step. The price
// of a gap is NaN.
func (s *Series) Prices() []float64 { return slices.Clone(s.prices) }

// quarterHour is the interval of a price signal, in seconds.
const quarterHour = 15 * 60

// At returns the price of the quarter hour that starts at an instant, given in Unix
// seconds. The price is published, the mean of the prices published in the quarter hour,
// or a forecast. At returns false before the start of the series and too far beyond its
// end. It also returns false if the series is too short for a forecast, or was never
// published for that hour of the local day.
func (s *Series) At(unix int64) (Price, bool) {
	if unix < s.from && !s.typical {
		return Price{}, false
	}
	if price, ok := s.Published(unix); ok {
		return s.completed(price, unix), true
	}
	if s.typical {
		return s.typically(unix)
	}
	return s.forecast(unix)
}

// completed returns the price of a quarter hour from the mean of its published prices. For
// the last quarter hour of a series they may be published for its beginning only. The
// forecast then stands for the rest.
func (s *Series) completed(price float64, unix int64) Price {
	missing := unix + quarterHour - s.end()
	if missing <= 0 || s.typical {
		return Price{Value: price, Confidence: 1}
	}
	rest, ok := s.forecast(s.end())
	if !ok {
		return Price{Value: price, Confidence: steadiest, Forecast: true}
	}
	share := float64(missing) / quarterHour
	return Price{Value: price*(1-share) + rest.Value*share, Confidence: rest.Confidence, Forecast: true}
}

// Published returns the mean of the prices published in the quarter hour that starts at an
// instant, given in Unix seconds. It returns false if there are none. s may be nil.
func (s *Series) Published(unix int64) (price float64, ok bool) {
	if s == nil {
		return 0, false
	}
	sum, n := 0.0, 0.0
	for at := max(unix, s.from); at < unix+quarterHour && at < s.end(); at += s.step {
		if price := s.prices[(at-s.from)/s.step]; !math.IsNaN(price) {
			sum += price
			n++
		}
	}
	return sum / max(n, 1), n > 0
}

// typically returns the price of a typical year.
func (s *Series) typically(unix int64) (Price, bool) {
	const year = 364 * 24 * 60 * 60 // 52 weeks, so that weekdays match
	years := int64(0)
	switch {
	case unix >= s.end():
		years = (unix - s.end() + year) / year
	case unix < s.from:
		years = -((s.from - unix + year - 1) / year)
	}
	if price, ok := s.Published(unix - years*year); ok {
		return Price{Value: price, Confidence: unsure, Forecast: true}, true
	}
	if !s.model.known {
		return Price{}, false
	}
	kind, hour := s.model.slot(unix)
	value := s.model.shape[kind][hour]
	return Price{Value: value, Confidence: unsure, Forecast: true}, !math.IsNaN(value)
}
