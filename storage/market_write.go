package storage

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/gridhook/gridhook/pricing/market"
)

// PricesPart is a run of prices of a series.
type PricesPart struct {
	Start time.Time
	// Prices are for one step each, in $/kWh. NaN stands for none, which leaves what
	// is known of that step.
	Prices []float64
}

// Validate names every wrong field of prices whose steps have a length; 0 is one
// that is not known yet.
func (p *PricesPart) Validate(step time.Duration, now time.Time) error {
	const mostPrice = 50
	var wrong Problems
	grid := step
	if step == 0 {
		grid = 5 * time.Minute
	}
	end := p.Start.Add(time.Duration(len(p.Prices)) * step)
	wrong.Check(p.Start.Equal(p.Start.Truncate(grid)), "startTime", "must be the start of a step of %v", grid)
	wrong.Check(!end.After(now.Add(aheadPrices)), "startTime", "leads to %s, which is more than 45 days ahead", end.UTC().Format(TimeLayout))
	for i, price := range p.Prices {
		wrong.Check(math.IsNaN(price) || math.Abs(price) <= mostPrice, index("prices", i), "must be from %d to %d $/kWh", -mostPrice, mostPrice)
	}
	return wrong.Err()
}

// keptPrices is how long a series is kept, back from its end: no signal reaches
// further back, and it is what package market takes in steps of five minutes.
const keptPrices = 731 * 24 * time.Hour

// aheadPrices is how far ahead of now a price may be: beyond is a mistake, which
// would push out what is kept.
const aheadPrices = 45 * 24 * time.Hour

// AddPrices adds prices to a series, or makes it: all of them or none. What is said
// again of a step counts anew, and what is older than is kept is passed over. It
// tells of each part what became of it. A time zone or a length of steps that the
// series does not give are those it has already, or UTC and an hour. Errors:
// *InvalidError, ErrConflict, ErrUnavailable.
func (s *Store) AddPrices(ctx context.Context, series MarketSeries, parts []PricesPart) ([]Change, error) {
	series.ID = marketSeriesID(series.Market, series.Node)
	var changes []Change
	err := s.Rewrite(ctx, func(v View) (Revised, error) {
		w := priceWriter{View: v, series: series, now: s.Now()}
		r, err := w.write(parts)
		changes = w.changes
		return r, err
	})
	return changes, err
}

// DeleteMarketSeries deletes a series with its prices. Errors: ErrNotFound,
// ErrConflict, ErrUnavailable.
func (s *Store) DeleteMarketSeries(ctx context.Context, org, id string) error {
	return s.Rewrite(ctx, func(v View) (r Revised, err error) {
		series, _, err := Read[MarketSeries](v, Ref{KindMarketSeries, org, id})
		if err != nil {
			return r, err
		}
		err = series.months(v, func(month Record) error { r.Gone = append(r.Gone, month.Ref); return nil })
		r.Gone = append(r.Gone, series.Ref())
		return r, err
	})
}

// priceWriter works out one writing of prices.
type priceWriter struct {
	View
	series  MarketSeries
	was     MarketSeries // as it is stored; its zero value when it is not
	now     time.Time
	changes []Change
}

// write merges the parts into what is stored.
func (w *priceWriter) write(parts []PricesPart) (r Revised, err error) {
	if err := w.settle(); err != nil {
		return r, err
	}
	if err := w.check(parts); err != nil {
		return r, err
	}
	points, err := w.series.points(w.View)
	if err != nil {
		return r, err
	}
	prices := make(map[int64]float64, len(points))
	for _, p := range points {
		prices[p.Start.Unix()] = p.Price
	}
	touched := w.merge(prices, parts)
	if len(touched) == 0 && w.series.Timezone == w.was.Timezone {
		return r, nil
	}
	return w.revise(prices, touched)
}

// settle takes what the series has already for what is not said anew.
func (w *priceWriter) settle() error {
	usual := MarketSeries{Timezone: "UTC", StepMinutes: 60}
	was, _, err := Read[MarketSeries](w.View, w.series.Ref())
	switch {
	case err == nil:
		w.was, usual = was, was
	case !errors.Is(err, ErrNotFound):
		return err
	}
	w.series.Timezone = or(w.series.Timezone, usual.Timezone)
	if w.series.StepMinutes == 0 {
		w.series.StepMinutes = usual.StepMinutes
	}
	var p Problems
	p.Check(w.was.ID == "" || w.series.StepMinutes == was.StepMinutes, "stepMinutes",
		"must be %d as in the series that is there: delete it to begin anew", was.StepMinutes)
	return p.Err()
}

// check names what is wrong with the parts.
func (w *priceWriter) check(parts []PricesPart) error {
	if err := w.series.Validate(); err != nil {
		return err
	}
	for i := range parts {
		if err := parts[i].Validate(w.series.step(), w.now); err != nil {
			return err
		}
	}
	return nil
}

// merge puts the parts among the prices by start, and drops what is older than is
// kept. It returns the months that were changed.
func (w *priceWriter) merge(prices map[int64]float64, parts []PricesPart) map[time.Time]bool {
	step, touched := int64(w.series.StepMinutes)*60, map[time.Time]bool{}
	oldest := w.last(prices, parts) - int64(keptPrices/time.Second)
	w.changes = make([]Change, len(parts))
	for i, part := range parts {
		w.changes[i] = Unchanged
		for j, price := range part.Prices {
			start := part.Start.Unix() + int64(j)*step
			was, known := prices[start]
			rounded := math.Round(price*priceSteps) / priceSteps
			if math.IsNaN(price) || start < oldest || known && was == rounded {
				continue
			}
			prices[start] = rounded
			touched[monthOf(start)] = true
			switch {
			case !known:
				w.changes[i] = Created
			case w.changes[i] == Unchanged:
				w.changes[i] = Updated
			}
		}
	}
	for start := range prices {
		if start < oldest {
			delete(prices, start)
			touched[monthOf(start)] = true
		}
	}
	return touched
}

// last is the start of the last of all prices, in Unix seconds.
func (w *priceWriter) last(prices map[int64]float64, parts []PricesPart) int64 {
	last := int64(math.MinInt64 / 2)
	for start := range prices {
		last = max(last, start)
	}
	for _, part := range parts {
		for j, price := range part.Prices {
			if !math.IsNaN(price) {
				last = max(last, part.Start.Unix()+int64(j*w.series.StepMinutes)*60)
			}
		}
	}
	return last
}

// revise writes the touched months and the series, which must be of use as a whole.
func (w *priceWriter) revise(prices map[int64]float64, touched map[time.Time]bool) (r Revised, err error) {
	points := make([]market.Point, 0, len(prices))
	months := map[time.Time][]market.Point{}
	for _, start := range slices.Sorted(maps.Keys(prices)) {
		point := market.Point{Start: time.Unix(start, 0).UTC(), Price: prices[start]}
		points = append(points, point)
		months[monthOf(start)] = append(months[monthOf(start)], point)
	}
	whole, err := w.series.build(points)
	if err != nil {
		return r, &InvalidError{Fields: []FieldError{{Field: "prices", Message: "make no series: " + err.Error()}}}
	}
	for _, month := range slices.SortedFunc(maps.Keys(touched), time.Time.Compare) {
		ref := marketPricesRef(w.series.OrganizationID, w.series.ID, month)
		if len(months[month]) == 0 {
			r.Gone = append(r.Gone, ref)
			continue
		}
		r.Put = append(r.Put, &MarketPrices{ID: ref.ID, Prices: packPrices(w.row(month, months[month])), Base: w.series.Base})
	}
	from, to := whole.Span()
	w.series.StartTime, w.series.EndTime, w.series.Prices = Time{from}, Time{to}, len(points)
	r.Put = append(r.Put, &w.series)
	return r, nil
}

// row is a month's prices step by step.
func (w *priceWriter) row(month time.Time, points []market.Point) []float64 {
	step := w.series.step()
	row := slices.Repeat([]float64{math.NaN()}, int(points[len(points)-1].Start.Sub(month)/step)+1)
	for _, p := range points {
		row[p.Start.Sub(month)/step] = p.Price
	}
	return row
}

// monthOf is the start of the month of an instant, in UTC.
func monthOf(unix int64) time.Time {
	year, month, _ := time.Unix(unix, 0).UTC().Date()
	return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
}
