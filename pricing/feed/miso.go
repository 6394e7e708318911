package feed

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gridhook/gridhook/pricing/market"
)

// misoAdapter reads the market reports of MISO. Source:
// https://www.misoenergy.org/markets-and-operations/real-time--market-data/market-reports/
// with the reports' readers guides: a CSV file for each day with a title, and the columns
// Node, Type, Value and HE 1 to HE 24. Hours end in Eastern Standard Time all year. Prices
// are $/MWh.
func misoAdapter() Adapter {
	return Adapter{
		Name: "miso", Title: "MISO: hourly locational marginal prices",
		Doc: "https://www.misoenergy.org/markets-and-operations/real-time--market-data/market-reports/", URL: "https://docs.misoenergy.org/marketreports",
		Every: time.Hour, Timezone: "Etc/GMT+5",
		Parameters: []Parameter{
			{Name: "node", Doc: "name of the node", Example: "MINN.HUB", Required: true},
			{Name: "report", Doc: "report of the prices, da_expost_lmp by default", Values: []string{"da_expost_lmp", "da_exante_lmp", "rt_lmp_prelim", "rt_lmp_final"}},
		},
		Requests: misoRequests, Read: readMISO,
	}
}

func misoRequests(q *Query) ([]Request, error) {
	if err := q.need("node"); err != nil {
		return nil, err
	}
	report := cmp.Or(q.Parameters["report"], "da_expost_lmp")
	own := *q
	own.Location = eastern
	return own.daily(func(day time.Time) Request {
		return Request{URL: q.URL + "/" + day.Format("20060102") + "_" + report + ".csv", Optional: true}
	})
}

var misoDate = regexp.MustCompile(`\b\d{2}/\d{2}/\d{4}\b`)

func readMISO(q *Query, r *Response) (Data, error) {
	file, _, _ := strings.Cut(path.Base(r.Request.path()), "_")
	day, err := time.ParseInLocation("20060102", file, eastern)
	if err != nil {
		return Data{}, fmt.Errorf("address %q has no day: %w", clip(r.Request.path()), err)
	}
	rows, err := csvRows(r.Body, "HE 1")
	if err != nil {
		return Data{}, err
	}
	title := string(r.Body[:min(len(r.Body), 200)])
	if dates := misoDate.FindAllString(title, -1); len(dates) > 0 && !slices.Contains(dates, day.Format("01/02/2006")) {
		return Data{}, refuse("is about %s, not %s", dates[0], day.Format(time.DateOnly))
	}
	if rows, err = pick(rows, "Node", q.Parameters["node"]); err != nil {
		return Data{}, err
	}
	if len(rows) > 0 {
		if rows, err = pick(rows, "Value", "LMP"); err != nil {
			return Data{}, err
		}
	}
	var hours []row
	for _, r := range rows {
		for hour := range 24 {
			if value := r[fmt.Sprintf("HE %d", hour+1)]; value != "" {
				hours = append(hours, row{"start": stamp(day.Add(time.Duration(hour) * time.Hour)), "price": value, "unit": "$/MWh"})
			}
		}
	}
	kind := market.DayAhead
	if strings.HasPrefix(q.Parameters["report"], "rt_") {
		kind = market.RealTime
	}
	return q.read(hours, market.ReadOptions{Node: q.Parameters["node"], Kind: kind, Step: time.Hour})
}
