package feed

import (
	"strconv"
	"time"

	"github.com/gridhook/gridhook/pricing/market"
)

// comedAdapter reads ComEd's hourly pricing. Source: https://hourlypricing.comed.com/hp-api:
// the feeds, local times in the query, and prices in cents/kWh with the time in
// milliseconds UTC.
var comedAdapter = Adapter{
	Name: "comed", Title: "ComEd Hourly Pricing: real-time prices",
	Doc: "https://hourlypricing.comed.com/hp-api", URL: "https://hourlypricing.comed.com/api",
	Every: 5 * time.Minute, Timezone: "America/Chicago",
	Parameters: []Parameter{
		{Name: "node", Doc: "name of the prices' node", Example: "COMED", Required: true},
		{Name: "feed", Doc: "prices of 5 minutes (the default), or the average of the current hour", Values: []string{"5minutefeed", "currenthouraverage"}},
	},
	Requests: func(q *Query) ([]Request, error) {
		if q.Parameters["feed"] == "currenthouraverage" {
			return []Request{{URL: q.address("", "type", "currenthouraverage", "format", "json")}}, nil
		}
		// Prevailing Central time is at most an hour later than standard time.
		standard, layout := time.FixedZone("CST", -6*60*60), "200601021504"
		return []Request{{URL: q.address("", "type", "5minutefeed", "format", "json",
			"datestart", q.From.In(standard).Format(layout), "dateend", q.To.Add(time.Hour).In(standard).Format(layout))}}, nil
	},
	Read: readComEd,
}

func readComEd(q *Query, r *Response) (Data, error) {
	prices := jsonTable(r.Body, "")
	step := 5 * time.Minute
	if q.Parameters["feed"] == "currenthouraverage" {
		step = time.Hour
	}
	for i, r := range prices.rows {
		millis, err := strconv.ParseInt(r["millisutc"], 10, 64)
		if err != nil {
			return Data{}, refuse("row %d: millisUTC: %q is not a time", i+1, clip(r["millisutc"]))
		}
		// An average has the time of its last price.
		r["start"] = stamp(time.UnixMilli(millis).Truncate(step))
	}
	return q.read(prices, columns{time: "start", price: "price", unit: "cents/kWh", kind: market.RealTime, step: step})
}
