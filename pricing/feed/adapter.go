package feed

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/gridhook/gridhook/pricing/market"
)

// Adapter is the knowledge about one kind of source.
type Adapter struct {
	// Name identifies the adapter in a source's record, such as caiso.
	Name  string
	Title string
	// Doc is the address of the operator's documentation of the format.
	Doc string
	// URL is the operator's address. A source may name another. It is empty if every
	// source must name its address.
	URL string
	// Every is the default interval between two fetches. everyRealTime is the interval for
	// real-time prices, if it differs.
	Every, everyRealTime time.Duration
	// Timezone is the default time zone of local times and of the prices' daily pattern.
	Timezone string
	// Parameters are the settings of a source. The caller checks that a query has the
	// required ones and allowed values only.
	Parameters []Parameter
	// Secret says what the secret of a source is, such as "subscription key". It is empty
	// if the adapter uses none.
	Secret string
	// Requests returns the first requests of a fetch. Errors name the parameter.
	Requests func(q *Query) ([]Request, error)
	// Read reads a response with status 200. An error means that nothing of the response
	// is used. It wraps ErrResponse.
	Read func(q *Query, r *Response) (Data, error)
}

// Interval returns the default interval between two fetches of a source with parameters.
func (a *Adapter) Interval(parameters map[string]string) time.Duration {
	q := Query{Parameters: parameters}
	return byMarket(&q, a.Every, cmp.Or(a.everyRealTime, a.Every))
}

// Parameter is a setting of a source that its adapter defines, such as the node.
type Parameter struct {
	Name     string   `json:"name" example:"node"`
	Doc      string   `json:"doc" example:"name of the node"`
	Example  string   `json:"example" example:"TH_NP15_GEN-APND"`
	Required bool     `json:"required" example:"true"`
	Values   []string `json:"values" doc:"The allowed values. An empty list allows any value." example:"[]"`
}

// Query is what a fetch asks for.
type Query struct {
	// URL is the address of the source. It may have a query.
	URL        string
	Parameters map[string]string
	Secret     string
	Location   *time.Location
	// From and To span the wanted prices. Both are midnights in Location.
	From, To time.Time
}

// Request is an HTTP request. It is a GET request if it has no body.
type Request struct {
	URL    string
	Header http.Header
	Body   []byte
	// Optional means that status 404 is no error: the operator has not published the
	// prices of the day yet.
	Optional bool
	// Read reads the response. nil means the adapter's Read.
	Read func(q *Query, r *Response) (Data, error)
}

// Response is the response to a request.
type Response struct {
	Request *Request
	Body    []byte
}

// Data is what a response says. A fetch collects the data of all its responses.
type Data struct {
	Prices []Prices
	// Alerts are the alerts in the queried span. Alerted is set if the response is about
	// alerts. So a span without alerts can be told from a response about prices.
	Alerts  []Alert
	Alerted bool
	// Tariff is a tariff in the JSON of the US Utility Rate Database, nil if the response
	// has none.
	Tariff json.RawMessage
	// Next are further requests, such as the next page. A fetch has a limited number of
	// requests.
	Next []Request
}

// Prices are the prices of one node in one market.
type Prices struct {
	Node string
	Kind market.Kind
	// Step is the length of the points' intervals, 0 if unknown.
	Step   time.Duration
	Points []market.Point
}

// Alert is a time in which a grid operator asks homes to use less, without a price.
type Alert struct {
	Name     string
	From, To time.Time
}

// ErrResponse is wrapped by every error about a response.
var ErrResponse = errors.New("feed: unusable response")
