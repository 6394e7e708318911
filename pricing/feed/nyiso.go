package feed

import (
	"time"

	"github.com/gridhook/gridhook/pricing/market"
)

// nyisoAdapter reads the zonal prices of the New York ISO. Source:
// https://www.nyiso.com/energy-market-operational-data and the lists
// http://mis.nyiso.com/public/P-2Alist.htm (day-ahead) and P-24Alist.htm (real-time): a CSV
// file for each day of about the last ten. Times are Eastern time without an offset: the
// start of a day-ahead hour, the end of a real-time interval.
var nyisoAdapter = Adapter{
	Name: "nyiso", Title: "NYISO: zonal day-ahead and real-time prices",
	Doc: "https://www.nyiso.com/energy-market-operational-data", URL: "https://mis.nyiso.com/public/csv",
	Every: time.Hour, Timezone: "America/New_York",
	Parameters: []Parameter{{Name: "node", Doc: "name of the zone", Example: "N.Y.C.", Required: true}, marketParameter},
	Requests:   nyisoRequests, Read: readNYISO,
}

func nyisoRequests(q *Query) ([]Request, error) {
	file := byMarket(q, "/damlbmp/20060102damlbmp_zone.csv", "/realtime/20060102realtime_zone.csv")
	return q.daily(eastern, func(day time.Time) Request { return Request{URL: q.address(day.Format(file))} }), nil
}

func readNYISO(q *Query, r *Response) (Data, error) {
	t := csvTable(r.Body, "timestamp")
	c := columns{node: "name", time: "timestamp", price: "lbmpmwhr", kind: q.kind(), step: time.Hour, local: true}
	if c.kind == market.RealTime {
		c.step, c.ends = 5*time.Minute, true
		t = t.pick(c.node, q.Parameters["node"])
		t.rows = regularRows(t.rows)
	}
	return q.in(eastern).read(t, c)
}

// regularRows returns the rows of the five-minute dispatch. The file also has the times of
// corrective dispatches off the grid, and ends with forecasts of 15 minutes.
func regularRows(rows []row) []row {
	var regular []row
	var times []time.Time
	for _, r := range rows {
		t, err := time.Parse("01/02/2006 15:04:05", r["timestamp"])
		if err == nil && !t.Equal(t.Truncate(5*time.Minute)) {
			continue
		}
		regular, times = append(regular, r), append(times, t)
	}
	n := len(regular)
	for n > 1 && times[n-1].Sub(times[n-2]) == 15*time.Minute {
		n--
	}
	return regular[:n]
}
