package feed

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// openeiAdapter reads the US Utility Rate Database by label. Source:
// https://openei.org/services/doc/rest/util_rates/: the query with getpage, eia, sector,
// limit and offset, and the response's items with enddate (the last day in force, Unix
// seconds) and supersedes (the label of the rate before).
var openeiAdapter = Adapter{
	Name: "openei", Title: "OpenEI: tariff of the US Utility Rate Database by label",
	Doc: "https://openei.org/services/doc/rest/util_rates/", URL: "https://api.openei.org/utility_rates",
	Every: 24 * time.Hour, Timezone: "UTC",
	Parameters: []Parameter{{Name: "label", Doc: "label of any version of the rate", Example: "539fc010ec4f024c27d8984b", Required: true}},
	Secret:     "API key",
	Requests: func(q *Query) ([]Request, error) {
		return []Request{{URL: q.openei("getpage", q.Parameters["label"])}}, nil
	},
	Read: func(q *Query, r *Response) (Data, error) { return q.readRates(r, nil) },
}

// openeiRows is the number of rates of a page.
const openeiRows = 100

func (q *Query) openei(pairs ...string) string {
	return q.address("", append(pairs, "version", "latest", "format", "json", "detail", "full", "api_key", q.Secret)...)
}

// openeiRate has the fields that lead to a rate's successor. Numbers may be strings.
type openeiRate struct {
	Label, Sector, Supersedes string
	EIAID, EndDate            json.RawMessage
}

// readRates reads a rate by its label. After some versions it reads a page of a utility's rates
// that may have the successor of the last version.
func (q *Query) readRates(r *Response, versions []json.RawMessage) (Data, error) {
	var page struct{ Items []json.RawMessage }
	if err := decode(r.Body, &page); err != nil {
		return Data{}, err
	}
	if page.Items == nil { // an error document
		return Data{}, refuse("has no items, it begins with %q", beginning(r.Body))
	}
	label := q.Parameters["label"]
	var before openeiRate
	if n := len(versions); n > 0 {
		_ = json.Unmarshal(versions[n-1], &before) // read before
	}
	for _, item := range page.Items {
		var rate openeiRate
		if err := decode(item, &rate); err != nil {
			return Data{}, err
		}
		if len(versions) == 0 && rate.Label == label || len(versions) > 0 && rate.Supersedes == before.Label {
			return q.follow(append(slices.Clone(versions), item), rate), nil
		}
	}
	switch {
	case len(versions) == 0:
		return Data{}, refuse("has no rate %q", label)
	case len(page.Items) >= openeiRows:
		return Data{Next: []Request{r.Request.advance("offset", openeiRows)}}, nil
	}
	// A rate that has ended must not replace the stored plan.
	last, _ := before.last()
	return Data{}, refuse("has no successor of rate %q, which ends on %s: set label to the new rate", clip(before.Label), last.Format(time.DateOnly))
}

// follow asks for the successor of a version that ends within the queried span.
func (q *Query) follow(versions []json.RawMessage, last openeiRate) Data {
	if !last.ended(q.To) {
		return q.tariff(versions)
	}
	return Data{Next: []Request{{
		URL:  q.openei("eia", strings.Trim(string(last.EIAID), `"`), "sector", last.Sector, "limit", strconv.Itoa(openeiRows), "offset", "0"),
		Read: func(q *Query, r *Response) (Data, error) { return q.readRates(r, versions) },
	}}}
}

// tariff returns the versions that are in force in the queried span.
func (q *Query) tariff(versions []json.RawMessage) Data {
	for len(versions) > 1 {
		var first openeiRate
		if json.Unmarshal(versions[0], &first) == nil && !first.ended(q.From) {
			break
		}
		versions = versions[1:]
	}
	all, _ := json.Marshal(map[string]any{"items": versions}) // valid JSON
	return Data{Tariff: all}
}

// ended reports whether the last day of a version is before a time.
func (r *openeiRate) ended(t time.Time) bool {
	last, ok := r.last()
	return ok && last.AddDate(0, 0, 1).Before(t)
}

// last returns the last day of a version. It is false if the version has no end.
func (r *openeiRate) last() (time.Time, bool) {
	seconds, err := strconv.ParseInt(strings.Trim(string(r.EndDate), `"`), 10, 64)
	return time.Unix(seconds, 0).UTC(), err == nil
}
