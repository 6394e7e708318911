package feed

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"time"

	"github.com/gridhook/gridhook/pricing/market"
)

// caisoAdapter reads OASIS of the California ISO. Source: "Interface Specification for
// OASIS", version 5, https://www.caiso.com/library/oasis-technical-documentation: the
// reports with their columns and versions, times in GMT, at most 31 days in a request, and
// errors as XML in the zip file. Error 1000 means no data.
var caisoAdapter = Adapter{
	Name: "caiso", Title: "CAISO OASIS: locational marginal prices",
	Doc: "https://www.caiso.com/library/oasis-technical-documentation", URL: "https://oasis.caiso.com/oasisapi",
	Every: time.Hour, Timezone: "America/Los_Angeles",
	Parameters: []Parameter{
		{Name: "node", Doc: "name of the node", Example: "TH_NP15_GEN-APND", Required: true},
		{Name: "report", Doc: "day-ahead hours (PRC_LMP, the default), or real-time prices of 5 minutes (PRC_INTVL_LMP) or 15 minutes (PRC_RTPD_LMP)", Values: []string{"PRC_LMP", "PRC_INTVL_LMP", "PRC_RTPD_LMP"}},
	},
	Requests: caisoRequests, Read: readCAISO,
}

// caisoReports has the market, the version and the step of a report.
var caisoReports = map[string]struct {
	run, version string
	kind         market.Kind
	step         time.Duration
}{
	"PRC_LMP":       {"DAM", "12", market.DayAhead, time.Hour},
	"PRC_INTVL_LMP": {"RTM", "3", market.RealTime, 5 * time.Minute},
	"PRC_RTPD_LMP":  {"RTPD", "3", market.RealTime, 15 * time.Minute},
}

func caisoRequests(q *Query) ([]Request, error) {
	name := cmp.Or(q.Parameters["report"], "PRC_LMP")
	report := caisoReports[name]
	const longest, layout = 31 * 24 * time.Hour, "20060102T15:04-0000"
	var requests []Request
	for from := q.From.UTC(); from.Before(q.To); from = from.Add(longest) {
		to := from.Add(longest)
		if to.After(q.To) {
			to = q.To.UTC()
		}
		requests = append(requests, Request{URL: q.address("/SingleZip", "queryname", name, "version", report.version,
			"market_run_id", report.run, "node", q.Parameters["node"], "resultformat", "6",
			"startdatetime", from.Format(layout), "enddatetime", to.Format(layout))})
	}
	return requests, nil
}

func readCAISO(q *Query, r *Response) (Data, error) {
	content, err := unzip(r.Body)
	if err != nil {
		return Data{}, err
	}
	if isXML(content) {
		if err := checkSize(content); err != nil {
			return Data{}, err
		}
		code, text := caisoError(content)
		if code == "1000" {
			return Data{}, nil
		}
		return Data{}, refuse("is error %q: %s", clip(code), clip(text))
	}
	report := caisoReports[cmp.Or(q.Parameters["report"], "PRC_LMP")]
	prices := csvTable(content, "intervalstarttimegmt").pick("lmptype", "LMP")
	return q.read(prices, columns{node: "node", kind: report.kind, step: report.step})
}

// caisoError returns the code and the text of an error document.
func caisoError(content []byte) (code, text string) {
	decoder := xml.NewDecoder(bytes.NewReader(content))
	for {
		token, err := decoder.Token()
		if err != nil {
			return code, cmp.Or(text, beginning(content))
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch start.Name.Local {
		case "ERR_CODE":
			_ = decoder.DecodeElement(&code, &start)
		case "ERR_DESC":
			_ = decoder.DecodeElement(&text, &start)
		}
	}
}
