package feed

import (
	"cmp"
	"fmt"
	"time"

	"github.com/gridhook/gridhook/pricing/market"
)

// marketParameter selects one of an operator's two markets.
var marketParameter = Parameter{
	Name: "market", Doc: "market of the prices, DAY_AHEAD by default",
	Values: []string{string(market.DayAhead), string(market.RealTime)},
}

// kind returns the market of a query.
func (q *Query) kind() market.Kind {
	return market.Kind(cmp.Or(q.Parameters["market"], string(market.DayAhead)))
}

// byMarket returns the first value for day-ahead prices, the second for real-time prices.
func byMarket[T any](q *Query, dayAhead, realTime T) T {
	if q.kind() == market.RealTime {
		return realTime
	}
	return dayAhead
}

// in returns the query in the time zone of an operator's local times and files. The zone of
// the source may be another.
func (q *Query) in(zone string) (*Query, error) {
	location, err := time.LoadLocation(zone)
	if err != nil {
		return nil, fmt.Errorf("time zone of the operator: %w", err)
	}
	own := *q
	own.Location = location
	return &own, nil
}

// daily returns the requests of an operator's local days in the queried span. A day may be
// unpublished.
func (q *Query) daily(zone string, request func(day time.Time) Request) ([]Request, error) {
	q, err := q.in(zone)
	if err != nil {
		return nil, err
	}
	var requests []Request
	year, month, first := q.From.In(q.Location).Date()
	for n := 0; ; n++ {
		day := time.Date(year, month, first+n, 0, 0, 0, 0, q.Location)
		if !day.Before(q.To) {
			return requests, nil
		}
		r := request(day)
		r.Optional = true
		requests = append(requests, r)
	}
}
