package market

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Kind is a market of an operator.
type Kind string

// The markets.
const (
	DayAhead Kind = "DAY_AHEAD"
	RealTime Kind = "REAL_TIME"
)

// Point is the price of one interval of a market.
type Point struct {
	Start time.Time
	Price float64 // $/kWh
}

// Price is a price with what stands behind it.
type Price struct {
	Value      float64 // $/kWh
	Confidence float64 // 1 for a published price
	Forecast   bool
}

// Series are the prices of a node in a market, one after another in equal steps.
// It is immutable and safe for concurrent use.
type Series struct {
	Node string
	Kind Kind
	step int64 // seconds
	from int64 // Unix seconds of the first price
	// prices by step; NaN where none was published.
	prices []float64
	model  model
}

// Options are what New cannot know from the points.
type Options struct {
	Node string
	Kind Kind
	// Location is the time zone whose days and hours the prices follow; nil means
	// UTC.
	Location *time.Location
	// Step is the length of the points' intervals, 5, 15, 30 or 60 minutes; 0
	// means the shortest distance between two of them.
	Step time.Duration
}

// ErrSeries is wrapped by every error about a series.
var ErrSeries = errors.New("market: unusable series")

// maxSteps bounds the length of a series: two years of five minutes.
const maxSteps = 2 * 366 * 24 * 12

// sparse is how many steps a price may stand for: two weeks of hours. It bounds
// what a small file can ask for.
const sparse = 14 * 24

var steps = []time.Duration{5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour}

// New makes a series of points in any order. Of two points for one interval the
// later one in the list counts. Where points are missing, the series has a gap.
// The error wraps ErrSeries.
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
	if !slices.Contains(steps, step) {
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
		}
		s.prices[(unix-s.from)/s.step] = p.Price
	}
	location := o.Location
	if location == nil {
		location = time.UTC
	}
	s.model = fit(s, location)
	return s, nil
}

// maxPrice is beyond the caps of all US markets, $/kWh: the highest was 9.
const maxPrice = 50.0

// shortest is the shortest distance between points; for one point, the longest
// step on whose grid it is.
func shortest(ordered []Point) time.Duration {
	least := time.Hour
	for i := len(steps) - 1; i > 0 && ordered[0].Start.Unix()%int64(least/time.Second) != 0; i-- {
		least = steps[i-1]
	}
	for i := 1; i < len(ordered); i++ {
		if d := ordered[i].Start.Sub(ordered[i-1].Start); d > 0 {
			least = min(least, d)
		}
	}
	return least
}

// Step is the length of an interval of the series.
func (s *Series) Step() time.Duration { return time.Duration(s.step) * time.Second }

// Span is the time that the series covers, from the first interval to the end of
// the last one.
func (s *Series) Span() (from, to time.Time) {
	return time.Unix(s.from, 0).UTC(), time.Unix(s.end(), 0).UTC()
}

func (s *Series) end() int64 { return s.from + int64(len(s.prices))*s.step }

// Points are the published prices.
func (s *Series) Points() []Point {
	var points []Point
	for i, price := range s.prices {
		if !math.IsNaN(price) {
			points = append(points, Point{Start: time.Unix(s.from+int64(i)*s.step, 0).UTC(), Price: price})
		}
	}
	return points
}

// quarterHour is the interval of a price signal, in seconds.
const quarterHour = 15 * 60

// At is the price of the quarter hour that starts at an instant, given in Unix
// seconds: the one published, the mean of those published in it, or a forecast.
// It is false before the series starts, too far beyond its end, and where there
// is too little of it to forecast from.
func (s *Series) At(unix int64) (Price, bool) {
	if unix < s.from {
		return Price{}, false
	}
	sum, n := 0.0, 0
	for at := unix; at < unix+quarterHour && at < s.end(); at += min(s.step, quarterHour) {
		if price := s.prices[(at-s.from)/s.step]; !math.IsNaN(price) {
			sum += price
			n++
		}
	}
	if n > 0 {
		return Price{Value: sum / float64(n), Confidence: 1}, true
	}
	return s.forecast(unix)
}
