package feed

import (
	"cmp"
	"fmt"
	"net/http"
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

// days returns the days of the queried span, each from midnight to midnight.
func (q *Query) days() []time.Time {
	var days []time.Time
	for day := q.From.In(q.location()); day.Before(q.To); day = day.AddDate(0, 0, 1) {
		days = append(days, day)
	}
	return days
}

// bearer returns the header with an access token, nil if there is no token.
func bearer(token string) http.Header {
	if token == "" {
		return nil
	}
	return http.Header{"Authorization": {"Bearer " + token}}
}
