package feed

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/gridhook/gridhook/pricing/market"
)

// misoAdapter reads the market reports of MISO. Source:
// https://www.misoenergy.org/markets-and-operations/real-time--market-data/market-reports/
// with the reports' readers guides: a CSV file for each day with a title, and the columns
// Node, Type, Value and HE 1 to HE 24. Hours end in Eastern Standard Time all year. Prices
// are $/MWh.
var misoAdapter = Adapter{
	Name: "miso", Title: "MISO: hourly locational marginal prices",
	Doc: "https://www.misoenergy.org/markets-and-operations/real-time--market-data/market-reports/", URL: "https://docs.misoenergy.org/marketreports",
	Every: time.Hour, Timezone: "Etc/GMT+5",
	Parameters: []Parameter{
		{Name: "node", Doc: "name of the node", Example: "MINN.HUB", Required: true},
		{Name: "report", Doc: "report of the prices, da_expost_lmp by default", Values: []string{"da_expost_lmp", "da_exante_lmp", "rt_lmp_prelim", "rt_lmp_final"}},
	},
	Requests: misoRequests, Read: readMISO,
}

func misoRequests(q *Query) ([]Request, error) {
	report := cmp.Or(q.Parameters["report"], "da_expost_lmp")
	return q.daily(easternStandard, func(day time.Time) Request {
		return Request{URL: q.address("/" + day.Format("20060102") + "_" + report + ".csv")}
	}), nil
}

var misoDate = regexp.MustCompile(`\d{2}/\d{2}/\d{4}`)

func readMISO(q *Query, r *Response) (Data, error) {
	address, _, _ := strings.Cut(r.Request.URL, "?")
	asked, _, _ := strings.Cut(path.Base(address), "_")
	day, err := time.ParseInLocation("20060102", asked, easternStandard)
	if err != nil {
		return Data{}, refuse("has a request without a day: %w", err)
	}
	title, lines, ok := bytes.Cut(r.Body, []byte("\nNode,"))
	if date := misoDate.Find(title); !ok || string(date) != day.Format("01/02/2006") {
		return Data{}, refuse("is no report of %s, it begins with %q", day.Format(time.DateOnly), beginning(r.Body))
	}
	days := csvTable(append([]byte("Node,"), lines...), "node").pick("value", "LMP").pick("node", q.Parameters["node"])
	hours := table{err: days.err}
	for _, r := range days.rows {
		for hour := range 24 {
			if value := r[fmt.Sprintf("he%d", hour+1)]; value != "" {
				hours.rows = append(hours.rows, row{"start": stamp(day.Add(time.Duration(hour) * time.Hour)), "price": value})
			}
		}
	}
	kind := market.DayAhead
	if strings.HasPrefix(q.Parameters["report"], "rt_") {
		kind = market.RealTime
	}
	return q.read(hours, columns{time: "start", price: "price", kind: kind, step: time.Hour})
}
