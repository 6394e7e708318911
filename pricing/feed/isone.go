package feed

import (
	"encoding/base64"
	"net/http"
	"time"
)

// isoneAdapter reads the web services of ISO New England. Source: "Web Services Data",
// https://www.iso-ne.com/participate/support/web-services-data, version 1.1: the address of
// a day and a location, the fields of HourlyLmp, and the format by the header Accept.
// Prices are $/MWh, times have an offset.
var isoneAdapter = Adapter{
	Name: "isone", Title: "ISO New England: hourly locational marginal prices",
	Doc: "https://www.iso-ne.com/participate/support/web-services-data", URL: "https://webservices.iso-ne.com/api/v1.1",
	Every: time.Hour, Timezone: "America/New_York",
	Parameters: []Parameter{{Name: "node", Doc: "number of the location", Example: "4000", Required: true}, marketParameter},
	Secret:     "user name and password with a colon between them",
	Requests:   isoneRequests, Read: readISONE,
}

func isoneRequests(q *Query) ([]Request, error) {
	report := byMarket(q, "/hourlylmp/da/final/day/", "/hourlylmp/rt/prelim/day/")
	header := http.Header{
		"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(q.Secret))},
		"Accept":        {"application/json"},
	}
	return q.daily(eastern, func(day time.Time) Request {
		return Request{URL: q.address(report + day.Format("20060102") + "/location/" + q.Parameters["node"]), Header: header}
	}), nil
}

func readISONE(q *Query, r *Response) (Data, error) {
	hours := jsonTable(r.Body, "HourlyLmps.HourlyLmp")
	return q.read(hours, columns{node: "locationlocid", time: "begindate", price: "lmptotal", kind: q.kind(), step: time.Hour})
}
