package feed

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gridhook/gridhook/pricing/internal/plain"
	"github.com/gridhook/gridhook/pricing/market"
)

// genericParameters are the parameters of a source of any format.
var genericParameters = []Parameter{
	{Name: "node", Doc: "name of the node, or the grid region of EMISSIONS. Prices of other nodes are ignored", Required: true},
	{Name: "market", Doc: marketParameter.Doc + ". Prices of another market are ignored. EMISSIONS requires priceField and a unit of mass", Values: append(slices.Clone(marketParameter.Values), string(market.Emissions))},
	{Name: "timeField", Doc: "field of the interval's start, if priceField is given. Times without an offset are in the source's time zone, or UTC if the name of the field has utc or gmt", Example: "start"},
	{Name: "priceField", Doc: "field of the price. Without it, the columns of market imports are read, with the rule of timeField for times", Example: "price"},
	{Name: "nodeField", Doc: "field of the node", Example: "zone"},
	{Name: "unit", Doc: "unit of the price, if priceField is given", Values: append([]string{"$/kWh", "$/MWh", "cents/kWh"}, market.MassUnits...)},
	{Name: "stepMinutes", Doc: "length of an interval. By default the interval of the stored prices, or the shortest distance between two prices", Values: []string{"5", "15", "30", "60"}},
}

var csvAdapter = Adapter{
	Name: "csv", Title: "CSV file of prices", Every: time.Hour, Timezone: "UTC",
	Parameters: genericParameters, Secret: "bearer token, if the server wants one",
	Requests: genericRequests,
	Read: func(q *Query, r *Response) (Data, error) {
		return q.readGeneric(csvTable(r.Body, plain.Name(q.Parameters["priceField"])))
	},
}

var jsonAdapter = Adapter{
	Name: "json", Title: "JSON list of prices", Every: time.Hour, Timezone: "UTC",
	Parameters: append([]Parameter{
		{Name: "list", Doc: "path to the list, with dots. By default the whole document. Paths of fields have dots too", Example: "data.prices"},
	}, genericParameters...),
	Secret:   "bearer token, if the server wants one",
	Requests: genericRequests,
	Read: func(q *Query, r *Response) (Data, error) {
		return q.readGeneric(jsonTable(r.Body, q.Parameters["list"]))
	},
}

// genericRequests returns one request. The address may contain {from} and {to}, the first
// day of the span and the day after its last day.
func genericRequests(q *Query) ([]Request, error) {
	if q.Parameters["priceField"] != "" && (q.Parameters["timeField"] == "" || q.Parameters["unit"] == "") {
		return nil, errors.New("priceField: timeField and unit are required with it")
	}
	if q.Parameters["timeField"] != "" && q.Parameters["priceField"] == "" {
		return nil, errors.New("timeField: priceField is required with it")
	}
	if err := market.CheckUnit(q.kind(), q.Parameters["unit"]); err != nil {
		return nil, fmt.Errorf("unit: %w", err)
	}
	if q.kind() == market.Emissions {
		if err := checkRegion("node", q.Parameters["node"]); err != nil {
			return nil, err
		}
	}
	from, to := q.From.In(q.Location), q.To.In(q.Location)
	days := strings.NewReplacer("{from}", from.Format(time.DateOnly), "{to}", to.Format(time.DateOnly))
	return []Request{{URL: days.Replace(q.URL), Header: bearer(q.Secret)}}, nil
}

func (q *Query) readGeneric(t table) (Data, error) {
	name := q.Parameters["timeField"]
	minutes, _ := strconv.Atoi(q.Parameters["stepMinutes"]) // 0 if it is not given
	step := time.Duration(minutes) * time.Minute
	data, err := q.read(t, columns{
		node:  plain.Name(q.Parameters["nodeField"]),
		time:  plain.Name(name),
		price: plain.Name(q.Parameters["priceField"]),
		unit:  q.Parameters["unit"],
		kind:  q.kind(), step: step,
		local: !market.IsUTC(name), // package market checks the names of its own columns
	})
	for i := range data.Prices {
		// The step of a response with few prices is a guess. The one of the series counts.
		data.Prices[i].Step = step
	}
	return data, err
}
