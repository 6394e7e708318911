package feed

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/gridhook/gridhook/pricing/market"
)

// Parameters that several adapters have.
var (
	nodeParameter   = Parameter{Name: "node", Doc: "name of the node", Required: true}
	marketParameter = Parameter{Name: "market", Doc: "market of the prices, DAY_AHEAD by default", Values: []string{string(market.DayAhead), string(market.RealTime)}}
)

// kind returns the market of a query.
func (q *Query) kind() market.Kind {
	return market.Kind(cmp.Or(q.Parameters["market"], string(market.DayAhead)))
}

func (q *Query) location() *time.Location {
	if q.Location == nil {
		return time.UTC
	}
	return q.Location
}

// step returns the length of an interval in a parameter, 0 if it is not given.
func (q *Query) step() (time.Duration, error) {
	text := q.Parameters["stepMinutes"]
	if text == "" {
		return 0, nil
	}
	minutes, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("stepMinutes: %q is not 5, 15, 30 or 60", text)
	}
	return time.Duration(minutes) * time.Minute, nil
}

// need returns an error about the first of the given parameters that is missing.
func (q *Query) need(names ...string) error {
	for _, name := range names {
		if q.Parameters[name] == "" {
			return fmt.Errorf("%s: is required", name)
		}
	}
	return nil
}

// daily returns the requests of the days of the queried span.
func (q *Query) daily(request func(day time.Time) Request) ([]Request, error) {
	var requests []Request
	for day := q.From.In(q.location()); day.Before(q.To); day = time.Date(day.Year(), day.Month(), day.Day()+1, 0, 0, 0, 0, q.location()) {
		requests = append(requests, request(day))
	}
	return requests, nil
}
