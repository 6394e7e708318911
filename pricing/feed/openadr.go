package feed

import (
	"cmp"
	"encoding/json"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/market"
)

// openadrAdapter reads the events of a program of an OpenADR 3 server. Source: "OpenADR 3.1
// Definition" and the OpenAPI document, https://github.com/oadr3-org/specification: paging
// by skip and limit with at most 50 objects, the token of /auth/token, payload descriptors
// with units and currency, durations of ISO 8601, and priorities of events that overlap.
var openadrAdapter = Adapter{ //nolint:gosec // the help of a parameter, no credentials
	Name: "openadr3", Title: "OpenADR 3: events of a program with prices or emissions",
	Doc:   "https://github.com/oadr3-org/specification",
	Every: time.Hour, Timezone: "UTC",
	Parameters: []Parameter{
		{Name: "program", Doc: "programName of the program", Example: "EELEC-013532223", Required: true},
		{Name: "payload", Doc: "type of the payloads, PRICE by default", Values: []string{openadrPrice, "EXPORT_PRICE", openadrEmissions}},
		{Name: "region", Doc: "grid region whose homes get the emissions of the payload GHG, which are in g/kWh", Example: "CA"},
		{Name: "units", Doc: "units of prices without a descriptor, KWH by default. A descriptor with other units is an error", Values: []string{"KWH", "MWH"}},
		{Name: "tokenUrl", Doc: "address of the token service, if it is not /auth/token of the server"},
	},
	Secret:   "client ID and client secret with a colon between them, or a bearer token",
	Requests: openadrRequests, Read: readPrograms,
}

// openadrRows is the maximum number of objects of a page.
const openadrRows = 50

// openadrPrice is the type of payloads with the price of a drawn kWh.
const openadrPrice = "PRICE"

// openadrEmissions is the type and the unit of payloads with marginal emissions.
const openadrEmissions = "GHG"

func openadrRequests(q *Query) ([]Request, error) {
	if q.Parameters["payload"] == openadrEmissions {
		if err := checkRegion("region", q.Parameters["region"]); err != nil {
			return nil, err
		}
	}
	id, secret, ok := strings.Cut(q.Secret, ":")
	if !ok {
		return []Request{q.openadrPrograms(q.Secret)}, nil
	}
	return []Request{tokenRequest(cmp.Or(q.Parameters["tokenUrl"], q.address("/auth/token")), url.Values{
		"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret},
	}, "access_token", q.openadrPrograms)}, nil
}

// openadrPrograms asks for the program by its name. A server without a filter for names
// returns all programs.
func (q *Query) openadrPrograms(token string) Request {
	return Request{
		URL: q.address("/programs", "programName", q.Parameters["program"],
			"skip", "0", "limit", strconv.Itoa(openadrRows)),
		Header: bearer(token),
	}
}

type openadrProgram struct {
	ID          string
	Name        string              `json:"programName"`
	Descriptors []openadrDescriptor `json:"payloadDescriptors"`
}

func readPrograms(q *Query, r *Response) (Data, error) {
	var programs []openadrProgram
	if err := decode(r.Body, &programs); err != nil {
		return Data{}, err
	}
	for _, p := range programs {
		if p.Name == q.Parameters["program"] {
			return Data{Next: []Request{{
				URL:    q.address("/events", "programID", p.ID, "skip", "0", "limit", strconv.Itoa(openadrRows)),
				Header: r.Request.Header, Read: p.readEvents(nil),
			}}}, nil
		}
	}
	if len(programs) < openadrRows {
		return Data{}, refuse("has no program %q", q.Parameters["program"])
	}
	return Data{Next: []Request{r.Request.advance("skip", openadrRows)}}, nil
}

type openadrEvent struct {
	ID, ProgramID  string
	Priority       *int // 0 is the highest, null the lowest
	IntervalPeriod *openadrPeriod
	Descriptors    []openadrDescriptor `json:"payloadDescriptors"`
	Intervals      []struct {
		IntervalPeriod *openadrPeriod
		Payloads       []struct {
			Type   string
			Values []any
		}
	}
}

type openadrDescriptor struct{ PayloadType, Units, Currency string }

type openadrPeriod struct{ Start, Duration string }

// readEvents returns a function that reads a page of the program's events. earlier has the
// prices of the earlier pages.
func (p *openadrProgram) readEvents(earlier []span) func(*Query, *Response) (Data, error) {
	return func(q *Query, r *Response) (Data, error) { return q.readEvents(r, p, earlier) }
}

func (q *Query) readEvents(r *Response, program *openadrProgram, earlier []span) (Data, error) {
	var events []openadrEvent
	if err := decode(r.Body, &events); err != nil {
		return Data{}, err
	}
	payload := cmp.Or(q.Parameters["payload"], openadrPrice)
	var spans []span
	for _, e := range events {
		if e.ProgramID != program.ID {
			return Data{}, refuse("has an event of program %q, not %q", clip(e.ProgramID), program.ID)
		}
		// The descriptors of a program are the default of its events.
		scale, err := q.openadrScale(payload, slices.Concat(program.Descriptors, e.Descriptors))
		if err != nil {
			return Data{}, refuse("event %q: %w", clip(e.ID), err)
		}
		one, err := e.spans(payload, scale)
		if err != nil {
			return Data{}, refuse("event %q: %w", clip(e.ID), err)
		}
		spans = append(spans, one...)
	}
	// A page may have events of other days only.
	spans = slices.Concat(earlier, q.clipped(spans))
	if len(events) >= openadrRows { // a later page may have events with a higher priority
		next := r.Request.advance("skip", openadrRows)
		next.Read = program.readEvents(spans)
		return Data{Next: []Request{next}}, nil
	}
	// The later span wins.
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(b.priority, a.priority) })
	if payload == openadrEmissions {
		return q.emitted(spans, q.Parameters["region"])
	}
	node := q.Parameters["program"]
	if payload != openadrPrice { // a program's prices for exports are another series than its prices
		node += "-" + payload
	}
	return q.spread(spans, node, market.DayAhead)
}

// openadrScale returns the factor from a payload's values to $/kWh, or to g CO2 a kWh. The
// parameter and all descriptors of the payload with units must have the same units.
func (q *Query) openadrScale(payload string, descriptors []openadrDescriptor) (float64, error) {
	units := q.Parameters["units"]
	for _, d := range descriptors {
		switch {
		case d.PayloadType != payload:
			continue
		case d.Currency != "" && d.Currency != "USD":
			return 0, refuse("currency %q is not USD", clip(d.Currency))
		case d.Units != "" && units != "" && d.Units != units:
			return 0, refuse("units %q contradict the units %q of the program or of the source", clip(d.Units), clip(units))
		}
		units = cmp.Or(d.Units, units)
	}
	known := map[string]float64{"": 1, "KWH": 1, "MWH": 1e-3}
	if payload == openadrEmissions {
		known = map[string]float64{"": 1, openadrEmissions: 1}
	}
	scale, ok := known[units]
	if !ok {
		return 0, refuse("units %q are not those of %s", clip(units), payload)
	}
	return scale, nil
}

// spans returns the prices of an event. An interval follows the interval before and has the
// event's duration, unless its own period says otherwise.
func (e *openadrEvent) spans(payload string, scale float64) ([]span, error) {
	var spans []span
	var at time.Time
	for i, interval := range e.Intervals {
		period := openadrPeriod{}
		if e.IntervalPeriod != nil {
			period.Duration = e.IntervalPeriod.Duration
			if i == 0 {
				period.Start = e.IntervalPeriod.Start
			}
		}
		if own := interval.IntervalPeriod; own != nil {
			period.Start, period.Duration = cmp.Or(own.Start, period.Start), cmp.Or(own.Duration, period.Duration)
		}
		s, err := period.span(at)
		if err != nil {
			return nil, refuse("interval %d: %w", i+1, err)
		}
		at = s.to
		if s.priority = math.MaxInt; e.Priority != nil {
			s.priority = *e.Priority
		}
		for _, p := range interval.Payloads {
			if p.Type != payload {
				continue
			}
			if len(p.Values) != 1 {
				return nil, refuse("interval %d: %d values, 1 is expected", i+1, len(p.Values))
			}
			number, _ := p.Values[0].(json.Number)
			value, err := market.Number(number.String())
			if err != nil {
				return nil, refuse("interval %d: %w", i+1, err)
			}
			s.price = value * scale
			spans = append(spans, s)
		}
	}
	return spans, nil
}

// longestPeriod bounds the time of one price.
const longestPeriod = 366 * 24 * time.Hour

// span returns the time of a period. A period without a start begins at the given time.
func (p *openadrPeriod) span(at time.Time) (span, error) {
	if p.Start != "" {
		start, err := time.Parse(time.RFC3339, p.Start)
		if err != nil {
			return span{}, refuse("%q is not a time such as 2026-07-01T00:00:00Z", clip(p.Start))
		}
		at = start.UTC()
	}
	end, ok := pricing.AddDuration(at, p.Duration)
	if !ok || at.IsZero() || !end.After(at) || end.Sub(at) > longestPeriod {
		return span{}, refuse("has no start or no duration such as PT1H")
	}
	return span{from: at, to: end}, nil
}
