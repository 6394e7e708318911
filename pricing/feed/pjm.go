package feed

import (
	"net/http"
	"strconv"
	"time"
)

// pjmAdapter reads Data Miner 2 of PJM. Source: the definitions of the feeds da_hrl_lmps and
// rt_hrl_lmps, https://dataminer2.pjm.com/feed/da_hrl_lmps/definition, and the API portal
// https://apiportal.pjm.com: columns, paging by startRow and rowCount, and the key in the
// header Ocp-Apim-Subscription-Key. Prices are $/MWh, datetime_beginning_utc is UTC.
var pjmAdapter = Adapter{
	Name: "pjm", Title: "PJM Data Miner 2: hourly locational marginal prices",
	Doc: "https://dataminer2.pjm.com/feed/da_hrl_lmps/definition", URL: "https://api.pjm.com/api/v1",
	Every: time.Hour, Timezone: "America/New_York",
	Parameters: []Parameter{{Name: "node", Doc: "pnode_id of the node", Example: "33092371", Required: true}, marketParameter},
	Secret:     "subscription key of the API portal",
	Requests:   pjmRequests, Read: readPJM,
}

// pjmRows is the number of rows of a page. A node has 744 hours in a month.
const pjmRows = 1000

func pjmRequests(q *Query) ([]Request, error) {
	// The filter is in prevailing Eastern time, which is at most an hour later than
	// standard time. So the range has all wanted hours in any season.
	const layout = "01/02/2006 15:04"
	hours := q.From.In(easternStandard).Format(layout) + "to" + q.To.Add(time.Hour).In(easternStandard).Format(layout)
	return []Request{{
		URL: q.address(byMarket(q, "/da_hrl_lmps", "/rt_hrl_lmps"), "pnode_id", q.Parameters["node"], "datetime_beginning_ept", hours,
			"row_is_current", "TRUE", "startRow", "1", "rowCount", strconv.Itoa(pjmRows)),
		Header: http.Header{"Ocp-Apim-Subscription-Key": {q.Secret}},
	}}, nil
}

func readPJM(q *Query, r *Response) (Data, error) {
	page := jsonTable(r.Body, "items")
	data, err := q.read(page, columns{node: "pnodeid", kind: q.kind(), step: time.Hour})
	if len(page.rows) == pjmRows {
		data.Next = []Request{r.Request.advance("startRow", pjmRows)}
	}
	return data, err
}
