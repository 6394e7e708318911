package feed_test

import (
	"errors"
	"maps"
	"math"
	"testing"

	"github.com/gridhook/gridhook/pricing/feed"
	"github.com/gridhook/gridhook/pricing/feed/feedtest"
)

// Whatever a server sends, an adapter returns prices of the queried days or an error.
func FuzzAdapter_Read(f *testing.F) {
	adapters, sources := feed.Adapters(), sources()
	maps.Copy(sources, new(feedtest.Market).Others())
	queried := make([]feedtest.Source, len(adapters))
	asked := make([][]*feed.Request, len(adapters)) // the requests of a fetch
	for i, a := range adapters {
		f.Add(uint8(i), uint8(0), []byte("<html>"))
		f.Add(uint8(i), uint8(3), []byte(`[{"programID":"p60","intervalPeriod":{"start":"2026-07-01T07:00:00Z","duration":"PT1H"},"intervals":[{"payloads":[{"type":"PRICE","values":[0.1]}]}]}]`))
		f.Add(uint8(i), uint8(1), []byte(`{"items":[{"label":"b","eiaid":1,"enddate":1,"supersedes":"a"}]}`))
		for _, s := range sources {
			if s.Adapter != a.Name || asked[i] != nil {
				continue
			}
			queried[i] = s
			if _, err := fetchSeen(f, s, "2026-07-01", 1, func(r *feed.Response) {
				f.Add(uint8(i), uint8(len(asked[i])), r.Body[:min(len(r.Body), 1500)])
				asked[i] = append(asked[i], r.Request)
			}); err != nil {
				f.Fatal(err)
			}
		}
	}
	f.Fuzz(func(t *testing.T, adapter, request uint8, body []byte) {
		i := int(adapter) % len(adapters)
		a, s, r := adapters[i], queried[i], asked[i][int(request)%len(asked[i])]
		q := s.Query("http://source", "2026-07-01", 1)
		data, err := read(a, q, &feed.Response{Request: r, Body: body})
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
