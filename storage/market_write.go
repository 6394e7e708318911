package storage

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"
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

// write merges the parts into the stored prices. The whole series must be valid.
func (w *priceWriter) write(parts []PricesPart) (r Revised, err error) {
	if err := w.setDefaults(); err != nil {
		return r, err
	}
	if err := w.check(parts); err != nil {
		return r, err
	}
	stored, err := w.series.Parts(w.View)
	if err != nil {
		return r, err
	}
	all := w.merge(stored, parts)
	r = w.months(stored, all)
	if len(r.Put)+len(r.Gone) == 0 && w.series.Timezone == w.was.Timezone {
		return r, nil
	}
	whole, err := w.series.build([]PricesPart{all})
	if err != nil {
		return r, &InvalidError{Fields: []FieldError{{Field: "prices", Message: "make no series: " + err.Error()}}}
	}
	from, to := whole.Span()
	w.series.StartTime, w.series.EndTime, w.series.Prices = Time{from}, Time{to}, len(whole.Points())
	r.Put = append(r.Put, &w.series)
	return r, nil
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

// merge adds the parts to the stored prices. It returns the retained prices, from the start
// of a month to the last price.
func (w *priceWriter) merge(stored, parts []PricesPart) (all PricesPart) {
	step := w.series.step()
	var end time.Time
	for _, part := range slices.Concat(stored, parts) {
		if known := trim(part.Prices); len(known) > 0 {
			end = Later(end, part.Start.Add(time.Duration(len(known))*step))
		}
	}
	oldest := end.Add(-step - priceRetention)
	all.Start = monthOf(oldest)
	all.Prices = slices.Repeat([]float64{math.NaN()}, int(end.Sub(all.Start)/step))
	for _, part := range stored {
		all.put(part, oldest, step)
	}
	for _, part := range parts {
		added, changed := all.put(part, oldest, step)
		change := Unchanged
		switch {
		case added > 0:
			change = Created
		case changed > 0:
			change = Updated
		}
		w.added.Parts = append(w.added.Parts, change)
		w.added.Added += added
		w.added.Changed += changed
		w.added.End = Later(w.added.End, part.Start.Add(time.Duration(len(part.Prices))*step))
	}
	return all
}

// put sets the prices of another part, except prices before oldest. It returns the number of
// new prices and of prices with another value.
func (part *PricesPart) put(other PricesPart, oldest time.Time, step time.Duration) (added, changed int) {
	first, retained := int(other.Start.Sub(part.Start)/step), int(oldest.Sub(part.Start)/step)
	for i, price := range other.Prices {
		if math.IsNaN(price) || first+i < retained {
			continue
		}
		was, rounded := part.Prices[first+i], math.Round(price*priceSteps)/priceSteps
		switch {
		case math.IsNaN(was):
			added++
		case was != rounded:
			changed++
		}
		part.Prices[first+i] = rounded
	}
	return added, changed
}

// trim leaves out missing prices at the end.
func trim(prices []float64) []float64 {
	for len(prices) > 0 && math.IsNaN(prices[len(prices)-1]) {
		prices = prices[:len(prices)-1]
	}
	return prices
}

// months returns the change of the records of months.
func (w *priceWriter) months(stored []PricesPart, all PricesPart) (r Revised) {
	first, was := all.Start, map[time.Time][]float64{}
	for _, part := range stored {
		first, was[part.Start] = Earlier(first, part.Start), part.Prices
	}
	index := func(at time.Time) int { return min(max(0, int(at.Sub(all.Start)/w.series.step())), len(all.Prices)) }
	same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
	for month := first; index(month) < len(all.Prices); month = month.AddDate(0, 1, 0) {
		prices := trim(all.Prices[index(month):index(month.AddDate(0, 1, 0))])
		ref := marketPricesRef(w.series.OrganizationID, w.series.ID, month)
		switch {
		case slices.EqualFunc(prices, was[month], same):
		case len(prices) == 0:
			r.Gone = append(r.Gone, ref)
		default:
			r.Put = append(r.Put, &MarketPrices{ID: ref.ID, Prices: packPrices(prices), Base: w.series.Base})
		}
	}
	return r
}

// monthOf returns the start of an instant's month in UTC.
func monthOf(at time.Time) time.Time {
	year, month, _ := at.UTC().Date()
	return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
}
