package feed

import (
	"errors"
	"strings"
	"time"

	"github.com/gridhook/gridhook/pricing/market"
)

// genericParameters are the parameters of a source of any format.
var genericParameters = []Parameter{
	{Name: "node", Doc: "name of the node. It selects rows if nodeField is given", Required: true},
	marketParameter,
	{Name: "timeField", Doc: "field of the interval's start. Times without an offset are in the source's time zone, or UTC if the name of the field has utc or gmt", Example: "start"},
	{Name: "priceField", Doc: "field of the price. Without it, the columns of market imports are read", Example: "price"},
	{Name: "nodeField", Doc: "field of the node", Example: "zone"},
	{Name: "unit", Doc: "unit of the price, if priceField is given", Values: []string{"$/kWh", "$/MWh", "cents/kWh"}},
	{Name: "stepMinutes", Doc: "length of an interval. By default the shortest distance between two prices", Values: []string{"5", "15", "30", "60"}},
}

func csvAdapter() Adapter {
	return Adapter{
		Name: "csv", Title: "CSV file of prices", Every: time.Hour, Timezone: "UTC",
		Parameters: genericParameters,
		Secret:     "bearer token, if the server wants one",
		Requests:   genericRequests,
		Read: func(q *Query, r *Response) (Data, error) {
			rows, err := csvRows(r.Body, q.Parameters["priceField"])
			if err != nil {
				return Data{}, err
			}
			return q.readGeneric(rows)
		},
	}
}

func jsonAdapter() Adapter {
	return Adapter{
		Name: "json", Title: "JSON list of prices", Every: time.Hour, Timezone: "UTC",
		Parameters: append([]Parameter{{Name: "list", Doc: "path to the list, with dots. By default the whole document. Paths of fields have dots too", Example: "data.prices"}}, genericParameters...),
		Secret:     "bearer token, if the server wants one",
		Requests:   genericRequests,
		Read: func(q *Query, r *Response) (Data, error) {
			rows, err := jsonRows(r.Body, q.Parameters["list"])
			if err != nil {
				return Data{}, err
			}
			return q.readGeneric(rows)
		},
	}
}

// genericRequests returns one request. The address may contain {from} and {to}, the first
// day of the span and the day after its last day.
func genericRequests(q *Query) ([]Request, error) {
	if err := q.need("node"); err != nil {
		return nil, err
	}
	if q.Parameters["priceField"] != "" && (q.Parameters["timeField"] == "" || q.Parameters["unit"] == "") {
		return nil, errors.New("priceField: timeField and unit are required with it")
	}
	if _, err := q.step(); err != nil {
		return nil, err
	}
	url := strings.NewReplacer("{from}", q.From.In(q.location()).Format(time.DateOnly), "{to}", q.To.In(q.location()).Format(time.DateOnly)).Replace(q.URL)
	return []Request{{URL: url, Header: bearer(q.Secret)}}, nil
}

func (q *Query) readGeneric(rows []row) (Data, error) {
	step, err := q.step()
	if err != nil {
		return Data{}, err
	}
	o := market.ReadOptions{Node: q.Parameters["node"], Kind: q.kind(), Step: step}
	if field := q.Parameters["nodeField"]; field != "" {
		if rows, err = pick(rows, field, o.Node); err != nil {
			return Data{}, err
		}
	}
	if price := q.Parameters["priceField"]; price != "" {
		c := columns{time: q.Parameters["timeField"], price: price, unit: q.Parameters["unit"]}
		rows = c.rename(rows)
		name := strings.ToLower(c.time)
		o.Local = !strings.Contains(name, "utc") && !strings.Contains(name, "gmt")
	}
	return q.read(rows, o)
}
