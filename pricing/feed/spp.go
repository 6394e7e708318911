package feed

import (
	"time"

	"github.com/gridhook/gridhook/pricing/market"
)

// sppAdapter reads the marketplace files of the Southwest Power Pool. Source:
// https://portal.spp.org/pages/da-lmp-by-location and rtbm-lmp-by-location: a CSV file of
// each day in Central time, and a file of the latest five minutes alone. The time column is the
// end of an interval in GMT, prices are $/MWh.
var sppAdapter = Adapter{
	Name: "spp", Title: "SPP: locational marginal prices by settlement location",
	Doc: "https://portal.spp.org/pages/da-lmp-by-location", URL: "https://portal.spp.org/file-browser-api/download",
	Every: time.Hour, everyRealTime: 5 * time.Minute, Timezone: "America/Chicago",
	Parameters: []Parameter{{Name: "node", Doc: "name of the settlement location", Example: "SPPNORTH_HUB", Required: true}, marketParameter},
	Requests:   sppRequests, Read: readSPP,
}

func sppRequests(q *Query) ([]Request, error) {
	if q.kind() == market.RealTime {
		return []Request{{URL: q.address("/rtbm-lmp-by-location", "path", "/RTBM-LMP-SL-latestInterval.csv")}}, nil
	}
	return q.daily(central, func(day time.Time) Request {
		file := day.Format("/2006/01/By_Day/DA-LMP-SL-20060102") + "0100.csv"
		return Request{URL: q.address("/da-lmp-by-settlement-location", "path", file)}
	}), nil
}

func readSPP(q *Query, r *Response) (Data, error) {
	return q.read(csvTable(r.Body, "gmtintervalend"), columns{
		node: "settlementlocation", time: "gmtintervalend", price: "lmp",
		kind: q.kind(), step: byMarket(q, time.Hour, 5*time.Minute), ends: true,
	})
}
