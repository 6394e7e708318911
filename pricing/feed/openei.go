package feed

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// openeiAdapter reads the US Utility Rate Database by label. Source:
// https://openei.org/services/doc/rest/util_rates/, version 8: the query with getpage, eia,
// sector, limit and offset, and the response's items with enddate (the last day in force,
// Unix seconds) and supercedes (the label of the rate before).
func openeiAdapter() Adapter {
	return Adapter{
		Name: "openei", Title: "OpenEI: tariff of the US Utility Rate Database by label",
		Doc: "https://openei.org/services/doc/rest/util_rates/", URL: "https://api.openei.org/utility_rates",
		Every: 24 * time.Hour, Timezone: "UTC",
		Parameters: []Parameter{{Name: "label", Doc: "label of any version of the rate", Example: "539fc010ec4f024c27d8984b", Required: true}},
		Secret:     "API key",
		Requests: func(q *Query) ([]Request, error) {
			return []Request{{URL: q.openei("getpage", q.Parameters["label"])}}, nil
		},
		Read: readOpenEI,
	}
}

// openeiRows is the number of rates of a page.
const openeiRows = 100

// openeiNewest is the fragment of the address of a rate without successor. In the address of
// a page, the fragment is the label whose successor is wanted. Fragments are not sent.
const openeiNewest = "newest"

func (q *Query) openei(pairs ...string) string {
	return address(q.URL, append(pairs, "version", "8", "format", "json", "detail", "full", "api_key", q.Secret)...)
}

type openeiRate struct {
	Label      string
	EIAID      json.Number
	Sector     string
	EndDate    json.Number
	Supercedes string
}

func readOpenEI(q *Query, r *Response) (Data, error) {
	var page struct{ Items []json.RawMessage }
	if err := decode(r.Body, &page); err != nil {
		return Data{}, err
	}
	if page.Items == nil { // an error document
		return Data{}, refuse("has no items, it begins with %q", beginning(r.Body))
	}
	_, wanted, _ := strings.Cut(r.Request.URL, "#")
	label := r.Request.argument("getpage")
	for _, item := range page.Items {
		var rate openeiRate
		if err := decode(item, &rate); err != nil {
			return Data{}, err
		}
		switch {
		case label != "" && rate.Label != label || label == "" && rate.Supercedes != wanted:
			continue
		case wanted != openeiNewest && rate.ended(q.From):
			return Data{Next: []Request{{URL: q.openei("eia", rate.EIAID.String(), "sector", rate.Sector,
				"limit", strconv.Itoa(openeiRows), "offset", "0") + "#" + rate.Label}}}, nil
		}
		return Data{Tariff: bytes.Clone(item)}, nil
	}
	switch {
	case label != "":
		return Data{}, refuse("has no rate %q", label)
	case len(page.Items) >= openeiRows:
		return Data{Next: []Request{r.Request.advance("offset", openeiRows)}}, nil
	}
	return Data{Next: []Request{{URL: q.openei("getpage", wanted) + "#" + openeiNewest}}}, nil
}

// ended reports whether another version is in force: the last day of the rate is before
// the queried span.
func (r *openeiRate) ended(from time.Time) bool {
	seconds, err := r.EndDate.Int64()
	return err == nil && time.Unix(seconds, 0).AddDate(0, 0, 1).Before(from) && r.EIAID != ""
}
