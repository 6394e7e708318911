package feed

import (
	"time"

	"github.com/gridhook/gridhook/pricing/market"
)

// span is a price or a signal for a time of any length.
type span struct {
	from, to time.Time
	price    float64 // $/kWh
	name     string
	priority int // of an OpenADR event; 0 is the highest
}

// maxPoints limits the prices of a response with spans: ten years of five minutes.
const maxPoints = 1_000_000

// clipped returns the spans within the queried span.
func (q *Query) clipped(spans []span) []span {
	var inside []span
	for _, s := range spans {
		if s.from.Before(q.From) {
			s.from = q.From
		}
		if s.to.After(q.To) {
			s.to = q.To
		}
		if s.from.Before(s.to) {
			inside = append(inside, s)
		}
	}
	return inside
}

// spread returns the prices of spans in the longest step that fits all of them. If two
// spans overlap, the later one in the list wins.
func (q *Query) spread(spans []span, node string, kind market.Kind) (Data, error) {
	if len(spans) == 0 {
		return Data{}, nil
	}
	inside := q.clipped(spans)
	if len(inside) == 0 {
		return Data{}, q.refuseDays(spans[0].from, spans[len(spans)-1].to)
	}
	step, err := commonStep(inside)
	if err != nil {
		return Data{}, err
	}
	var points []market.Point
	for _, s := range inside {
		for at := s.from; at.Before(s.to); at = at.Add(step) {
			points = append(points, market.Point{Start: at, Price: s.price})
		}
		if len(points) > maxPoints {
			return Data{}, refuse("has more than %d prices", maxPoints)
		}
	}
	s, err := market.New(points, market.Options{Node: node, Kind: kind, Step: step})
	if err != nil {
		return Data{}, refuse("%w", err)
	}
	return q.within(s)
}

// commonStep returns the longest step whose grid has the ends of all spans.
func commonStep(spans []span) (time.Duration, error) {
	longest := len(market.Steps) - 1
	for _, s := range spans {
		for _, at := range []time.Time{s.from, s.to} {
			for longest >= 0 && !at.Equal(at.Truncate(market.Steps[longest])) {
				longest--
			}
			if longest < 0 {
				return 0, refuse("has an interval from %s to %s: only full 5 minutes are supported", stamp(s.from), stamp(s.to))
			}
		}
	}
	return market.Steps[longest], nil
}
