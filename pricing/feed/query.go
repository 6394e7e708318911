package feed

import (
	"cmp"
	"time"
	_ "time/tzdata" // for a machine without time zones

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

// The time zones of operators' local times and files. The zone of a source may be another.
var (
	eastern         = zone("America/New_York")
	easternStandard = time.FixedZone("EST", -5*60*60) // all year
	central         = zone("America/Chicago")
)

// zone returns a time zone of the embedded database.
func zone(name string) *time.Location {
	location, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return location
}

// in returns the query in the time zone of an operator.
func (q *Query) in(zone *time.Location) *Query {
	own := *q
	own.Location = zone
	return &own
}

// daily returns the requests of an operator's local days in the queried span. A day may be
// unpublished.
func (q *Query) daily(zone *time.Location, request func(day time.Time) Request) (requests []Request) {
	year, month, first := q.From.In(zone).Date()
	for n := 0; ; n++ {
		day := time.Date(year, month, first+n, 0, 0, 0, 0, zone)
		if !day.Before(q.To) {
			return requests
		}
		r := request(day)
		r.Optional = true
		requests = append(requests, r)
	}
}
