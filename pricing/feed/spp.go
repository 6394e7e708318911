package feed

import (
	"time"

	"github.com/gridhook/gridhook/pricing/market"
)

// sppAdapter reads the marketplace files of the Southwest Power Pool. Source:
// https://portal.spp.org/pages/da-lmp-by-location and rtbm-lmp-by-location: a CSV file for
// each day in Central time. The time column is the end of an interval in GMT, prices are
// $/MWh. The columns of the real-time file have other names.
func sppAdapter() Adapter {
	return Adapter{
		Name: "spp", Title: "SPP: locational marginal prices by settlement location",
		Doc: "https://portal.spp.org/pages/da-lmp-by-location", URL: "https://portal.spp.org/file-browser-api/download",
		Every: time.Hour, Timezone: "America/Chicago",
		Parameters: []Parameter{{Name: "node", Doc: "name of the settlement location", Example: "SPPNORTH_HUB", Required: true}, marketParameter},
		Requests:   sppRequests, Read: readSPP,
	}
}

func sppRequests(q *Query) ([]Request, error) {
	if err := q.need("node"); err != nil {
		return nil, err
	}
	folder, file := "/da-lmp-by-settlement-location", "/2006/01/By_Day/DA-LMP-SL-200601020100.csv"
	if q.kind() == market.RealTime {
		folder, file = "/rtbm-lmp-by-location", "/2006/01/By_Day/RTBM-LMP-DAILY-SL-20060102.csv"
	}
	return q.daily(func(day time.Time) Request {
		return Request{URL: address(q.URL+folder, "path", day.Format(file)), Optional: true}
	})
}

func readSPP(q *Query, r *Response) (Data, error) {
	c := columns{time: "GMTIntervalEnd", price: "LMP", unit: "$/MWh"}
	location, step := "Settlement Location", time.Hour
	if q.kind() == market.RealTime {
		c.time, location, step = "GMT Interval", "Settlement Location Name", 5*time.Minute
	}
	rows, err := csvRows(r.Body, c.time)
	if err != nil {
		return Data{}, err
	}
	if rows, err = pick(rows, location, q.Parameters["node"]); err != nil {
		return Data{}, err
	}
	return q.read(c.rename(rows), market.ReadOptions{Node: q.Parameters["node"], Kind: q.kind(), Step: step, Ending: true})
}
