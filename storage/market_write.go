package storage

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/gridhook/gridhook/pricing/market"
)

// PricesPart is a contiguous range of a series' prices.
type PricesPart struct {
	Start time.Time
	// Prices has one price per step, in $/kWh. NaN leaves the stored price of its step
	// unchanged.
	Prices []float64
}

// Check adds every wrong field for prices with the given step length. A step of 0 means
// that the length is not known yet.
func (part *PricesPart) Check(p *Problems, step time.Duration, now time.Time) {
	const maxPrice = 50
	grid := cmp.Or(step, 5*time.Minute)
	end := part.Start.Add(time.Duration(len(part.Prices)) * step)
	p.Check(part.Start.Equal(part.Start.Truncate(grid)), "startTime", "must be the start of a step of %v", grid)
	p.Check(!end.After(now.Add(aheadPrices)), "startTime", "leads to %s, which is more than 45 days ahead", end.UTC().Format(TimeLayout))
	for i, price := range part.Prices {
		p.Check(math.IsNaN(price) || math.Abs(price) <= maxPrice, index("prices", i), "must be from %d to %d $/kWh", -maxPrice, maxPrice)
	}
}

// priceRetention is the retention of a series, counted back from its end. No signal needs
// older prices. It is also the maximum that package market accepts in five-minute steps.
const priceRetention = 731 * 24 * time.Hour

// aheadPrices is the maximum time of a price after now. A later price is a mistake and
// would push out retained prices.
const aheadPrices = 45 * 24 * time.Hour

// AddPrices adds prices to a series or creates the series. It stores all prices or none.
// A new price of a step replaces the stored price. AddPrices ignores prices older than
// the retention. It returns the change of each part.
//
// If series has no time zone or no step length, AddPrices uses the stored value. A new
// series defaults to UTC and an hour. Errors: *InvalidError, ErrConflict, ErrUnavailable.
func (s *Store) AddPrices(ctx context.Context, series MarketSeries, parts []PricesPart) ([]Change, error) {
	var added PricesAdded
	err := s.Rewrite(ctx, func(v View) (r Revised, err error) {
		r, added, err = s.RevisePrices(v, series, parts)
		return r, err
	})
	return added.Parts, err
}

// PricesAdded is the effect of adding prices to a series.
type PricesAdded struct {
	// Parts has the change of each part.
	Parts []Change
	// Added and Changed count the new prices and the prices with a new value.
	Added, Changed int
	// End is the end of the last given price.
	End time.Time
}

// RevisePrices returns the change that AddPrices makes, for a Rewrite with other
// entities. Errors: *InvalidError, and the errors of View.
func (s *Store) RevisePrices(v View, series MarketSeries, parts []PricesPart) (Revised, PricesAdded, error) {
	series.ID = marketSeriesID(series.Market, series.Node)
	w := priceWriter{View: v, series: series, now: s.Now()}
	r, err := w.write(parts)
	return r, w.added, err
}

// priceWriter computes the records of one AddPrices call.
type priceWriter struct {
	View
	series MarketSeries
	was    MarketSeries // the stored series, or the zero value
	now    time.Time
	added  PricesAdded
}

// write merges the parts into the stored prices.
func (w *priceWriter) write(parts []PricesPart) (r Revised, err error) {
	if err := w.setDefaults(); err != nil {
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

// setDefaults fills in unset fields from the stored series or the defaults.
func (w *priceWriter) setDefaults() error {
	usual := MarketSeries{Timezone: "UTC", StepMinutes: 60}
	was, _, err := Read[MarketSeries](w.View, w.series.Ref())
	switch {
	case err == nil:
		w.was, usual = was, was
	case !errors.Is(err, ErrNotFound):
		return err
	}
	w.series.Timezone = cmp.Or(w.series.Timezone, usual.Timezone)
	w.series.StepMinutes = cmp.Or(w.series.StepMinutes, usual.StepMinutes)
	var p Problems
	p.Check(w.was.ID == "" || w.series.StepMinutes == was.StepMinutes, "stepMinutes",
		"must be %d as in the series that is there: delete it to begin anew", was.StepMinutes)
	return p.Err()
}

// check validates the series and the parts.
func (w *priceWriter) check(parts []PricesPart) error {
	var p Problems
	w.series.Check(&p)
	for i := range parts {
		parts[i].Check(&p, w.series.step(), w.now)
	}
	return p.Err()
}

// merge adds the parts to the prices by start and drops prices older than the retention.
// It returns the changed months.
func (w *priceWriter) merge(prices map[int64]float64, parts []PricesPart) map[time.Time]bool {
	step, touched := int64(w.series.StepMinutes)*60, map[time.Time]bool{}
	oldest := w.last(prices, parts) - int64(priceRetention/time.Second)
	w.added.Parts = make([]Change, len(parts))
	for i, part := range parts {
		change := &w.added.Parts[i]
		*change = Unchanged
		w.added.End = Later(w.added.End, part.Start.Add(time.Duration(len(part.Prices))*w.series.step()))
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
				*change = Created
				w.added.Added++
			default:
				w.added.Changed++
				if *change == Unchanged {
					*change = Updated
				}
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

// last returns the start of the last price, in Unix seconds.
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

// revise returns the records of the touched months and of the series. The whole series
// must be valid.
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

// row returns a month's prices, one per step.
func (w *priceWriter) row(month time.Time, points []market.Point) []float64 {
	step := w.series.step()
	row := slices.Repeat([]float64{math.NaN()}, int(points[len(points)-1].Start.Sub(month)/step)+1)
	for _, p := range points {
		row[p.Start.Sub(month)/step] = p.Price
	}
	return row
}

// monthOf returns the start of an instant's month in UTC.
func monthOf(unix int64) time.Time {
	year, month, _ := time.Unix(unix, 0).UTC().Date()
	return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
}
