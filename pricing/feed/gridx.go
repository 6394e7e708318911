package feed

import (
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/gridhook/gridhook/pricing/market"
)

// gridxAdapter reads the CalFUSE prices of GridX for PG&E and SCE. Source:
// https://api-calculate-docs.gridx.com/calculate-apis-gridx-docs/get-pricing and
// sce-getpricing-api: the query, at most two weeks in a request, and intervals with
// components that add up to the price. Prices are $/kWh, times have an offset.
var gridxAdapter = Adapter{
	Name: "gridx", Title: "GridX: CalFUSE prices by rate and circuit",
	Doc: "https://api-calculate-docs.gridx.com/calculate-apis-gridx-docs/get-pricing", URL: "https://pe-api.gridx.com/v1",
	Every: time.Hour, Timezone: "America/Los_Angeles",
	Parameters: []Parameter{
		{Name: "utility", Doc: "utility", Required: true, Values: []string{"PGE", "SCE"}},
		{Name: "rate", Doc: "code of the rate", Example: "EELEC", Required: true},
		{Name: "circuit", Doc: "circuit of PG&E with all nine digits, or substation of SCE", Example: "013532223", Required: true},
		{Name: "cca", Doc: "code of the community choice aggregator", Example: "MCE"},
	},
	Requests: gridxRequests, Read: readGridX,
}

func gridxRequests(q *Query) ([]Request, error) {
	const weeks, layout = 14, "20060102"
	var requests []Request
	for from := q.From.In(q.Location); from.Before(q.To); from = from.AddDate(0, 0, weeks) {
		last := from.AddDate(0, 0, weeks-1)
		if end := q.To.In(q.Location).AddDate(0, 0, -1); last.After(end) {
			last = end
		}
		requests = append(requests, Request{URL: q.address("/getPricing", "utility", q.Parameters["utility"], "market", "DAM",
			"program", "CalFUSE", "startdate", from.Format(layout), "enddate", last.Format(layout),
			"ratename", q.Parameters["rate"], "representativeCircuitId", q.Parameters["circuit"], "cca", q.Parameters["cca"])})
	}
	return requests, nil
}

type gridxCurve struct {
	Header struct {
		Market   string `json:"marketName"`
		Minutes  int    `json:"intervalLengthInMinutes"`
		Currency string `json:"settlementCurrency"`
		Unit     string `json:"settlementUnit"`
	} `json:"priceHeader"`
	Details []struct {
		Start      string      `json:"startIntervalTimeStamp"`
		Price      json.Number `json:"intervalPrice"`
		Components []struct {
			Name  string      `json:"component"`
			Price json.Number `json:"intervalPrice"`
		} `json:"priceComponents"`
	} `json:"priceDetails"`
}

func readGridX(q *Query, r *Response) (Data, error) {
	var document struct {
		Meta *struct {
			Code        int
			RequestBody string
		}
		Data []gridxCurve
	}
	if err := decode(r.Body, &document); err != nil {
		return Data{}, err
	}
	if document.Meta == nil || document.Meta.Code != 200 {
		return Data{}, refuse("is no success, it begins with %q", beginning(r.Body))
	}
	var asked struct{ Ratename, RepresentativeCircuitID string }
	if err := json.Unmarshal([]byte(document.Meta.RequestBody), &asked); err == nil &&
		(asked.Ratename != q.Parameters["rate"] || asked.RepresentativeCircuitID != q.Parameters["circuit"]) {
		return Data{}, refuse("is about rate %q and circuit %q", clip(asked.Ratename), clip(asked.RepresentativeCircuitID))
	}
	var kind market.Kind
	var spans []span
	for _, curve := range document.Data {
		one, err := curve.kind()
		if err != nil {
			return Data{}, err
		}
		if kind != "" && kind != one {
			return Data{}, refuse("has prices of two markets")
		}
		kind = one
		if spans, err = curve.spans(spans); err != nil {
			return Data{}, err
		}
	}
	node := q.Parameters["rate"] + "-" + q.Parameters["circuit"]
	if cca := q.Parameters["cca"]; cca != "" { // an aggregator has its own generation prices
		node += "-" + cca
	}
	return q.spread(spans, node, kind)
}

// kind returns the market of a curve, and checks its units.
func (c *gridxCurve) kind() (market.Kind, error) {
	h := c.Header
	switch {
	case !strings.EqualFold(h.Unit, "kWh") || h.Currency != "USD":
		return "", refuse("has prices in %q per %q, not USD per kWh", clip(h.Currency), clip(h.Unit))
	case h.Minutes < 5 || h.Minutes > 60:
		return "", refuse("has intervals of %d minutes", h.Minutes)
	case strings.HasSuffix(h.Market, "DAM"):
		return market.DayAhead, nil
	case strings.HasSuffix(h.Market, "RTM"):
		return market.RealTime, nil
	}
	return "", refuse("has prices of the market %q", clip(h.Market))
}

// spans appends the prices of a curve. The components of a price must add up to the price
// within the rounding of all of them to six decimals.
func (c *gridxCurve) spans(spans []span) ([]span, error) {
	for _, d := range c.Details {
		from, err := time.Parse("2006-01-02T15:04:05Z0700", d.Start)
		if err != nil {
			return nil, refuse("%q is not a time such as 2026-07-01T00:00:00-0700", clip(d.Start))
		}
		total, err := market.Number(d.Price.String())
		if err != nil {
			return nil, refuse("%s: %w", d.Start, err)
		}
		sum := 0.0
		for _, component := range d.Components {
			part, err := market.Number(component.Price.String())
			if err != nil {
				return nil, refuse("%s: %s: %w", d.Start, clip(component.Name), err)
			}
			sum += part
		}
		if n := len(d.Components); n > 0 && math.Abs(sum-total) > 1e-6*float64(n+1) {
			return nil, refuse("%s: the components add up to %.6f, the price is %.6f", d.Start, sum, total)
		}
		spans = append(spans, span{from: from.UTC(), to: from.UTC().Add(time.Duration(c.Header.Minutes) * time.Minute), price: total})
	}
	return spans, nil
}
