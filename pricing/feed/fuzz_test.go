package feed_test

import (
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gridhook/gridhook/pricing/feed"
	"github.com/gridhook/gridhook/pricing/feed/feedtest"
)

// Whatever a server sends, an adapter returns prices of the queried days or an error.
func FuzzAdapter_Read(f *testing.F) {
	adapters := feed.Adapters()
	addresses := []string{"http://source/20260701_da_expost_lmp.csv?page=1&startRow=1", "http://source/?getpage=a", "http://source/?eia=1&offset=0#a", "http://source/events?programID=p", "http://source/programs"}
	queried := make([]feedtest.Source, len(adapters))
	for i, a := range adapters {
		queried[i] = feedtest.Source{Adapter: a.Name, Parameters: map[string]string{"label": "a"}, Zone: "America/New_York"}
		f.Add(uint8(i), uint8(0), []byte("<html>"))
		for _, s := range sources() {
			if s.Adapter != a.Name {
				continue
			}
			queried[i] = s
			requests, err := a.Requests(s.Query("http://source", "2026-07-01", 1))
			if err != nil || requests[0].Body != nil {
				continue
			}
			recorder, request := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, requests[0].URL, nil)
			request.Header = requests[0].Header
			s.Serve(recorder, request)
			f.Add(uint8(i), uint8(0), recorder.Body.Bytes()[:min(recorder.Body.Len(), 1500)])
		}
		f.Add(uint8(i), uint8(3), []byte(`[{"programID":"p","intervalPeriod":{"start":"2026-07-01T07:00:00Z","duration":"PT1H"},"intervals":[{"payloads":[{"type":"PRICE","values":[0.1]}]}]}]`))
		f.Add(uint8(i), uint8(2), []byte(`{"items":[{"label":"b","eiaid":1,"enddate":1,"supersedes":"a"}]}`))
	}
	f.Fuzz(func(t *testing.T, adapter, address uint8, body []byte) {
		a, s := adapters[int(adapter)%len(adapters)], queried[int(adapter)%len(adapters)]
		q := s.Query("http://source", "2026-07-01", 1)
		data, err := a.Read(q, response(addresses[int(address)%len(addresses)], string(body)))
		if err != nil && !errors.Is(err, feed.ErrResponse) {
			t.Fatal(err)
		}
		for _, p := range data.Prices {
			for _, point := range p.Points {
				if point.Start.Before(q.From) || !point.Start.Before(q.To) || !(math.Abs(point.Price) <= 50) {
					t.Fatalf("%s: %v", a.Name, point)
				}
			}
		}
	})
}
