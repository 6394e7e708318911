package feed_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/gridhook/gridhook/pricing/feed"
	"github.com/gridhook/gridhook/pricing/feed/feedtest"
)

// sources returns a source for each adapter of prices.
func sources() map[string]feedtest.Source { return new(feedtest.Market).Sources() }

// fetch runs a fetch to its end, as a worker does.
func fetch(t testing.TB, s feedtest.Source, from string, days int) (feed.Data, error) {
	t.Helper()
	return fetchSeen(t, s, from, days, func(*feed.Response) {})
}

// fetchSeen is like fetch, and passes each response to seen.
func fetchSeen(t testing.TB, s feedtest.Source, from string, days int, seen func(*feed.Response)) (feed.Data, error) {
	t.Helper()
	server := httptest.NewServer(s.Serve)
	defer server.Close()
	adapter, ok := feed.ByName(s.Adapter)
	if !ok {
		t.Fatalf("no adapter %s", s.Adapter)
	}
	q := s.Query(server.URL, from, days)
	requests, err := adapter.Requests(q)
	if err != nil {
		return feed.Data{}, err
	}
	var all feed.Data
	for n := 0; len(requests) > 0; n++ {
		if n == 100 {
			t.Fatal("100 requests are not enough")
		}
		r := requests[0]
		requests = requests[1:]
		response, ok := send(t, r)
		if !ok {
			continue
		}
		seen(response)
		data, err := read(adapter, q, response)
		if err != nil {
			return feed.Data{}, err
		}
		all.Prices = append(all.Prices, data.Prices...)
		all.Alerts = append(all.Alerts, data.Alerts...)
		all.Alerted = all.Alerted || data.Alerted
		if data.Tariff != nil {
			all.Tariff = data.Tariff
		}
		requests = append(requests, data.Next...)
	}
	return all, nil
}

// read reads a response, as a worker does.
func read(a feed.Adapter, q *feed.Query, r *feed.Response) (feed.Data, error) {
	if r.Request.Read != nil {
		return r.Request.Read(q, r)
	}
	return a.Read(q, r)
}

// send makes a request. It is false if the response is an allowed 404.
func send(t testing.TB, r feed.Request) (*feed.Response, bool) {
	t.Helper()
	method := http.MethodGet
	if r.Body != nil {
		method = http.MethodPost
	}
	request, err := http.NewRequest(method, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range r.Header {
		request.Header[name] = values
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode == http.StatusNotFound && r.Optional {
		return nil, false
	}
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s", r.URL, response.StatusCode, body)
	}
	return &feed.Response{Request: &r, Body: body}, true
}

// response returns a response to the request of an address.
func response(address string, body string) *feed.Response {
	if _, err := url.Parse(address); err != nil {
		panic(err)
	}
	return &feed.Response{Request: &feed.Request{URL: address}, Body: []byte(body)}
}
