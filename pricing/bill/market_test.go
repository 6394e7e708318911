package bill_test

import (
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing/bill"
	"github.com/gridhook/gridhook/pricing/market"
)

// A plan with its own price of 0.25 in March, a market's price of 0.05 in April, and its
// own price of 0.35 from May on. The version in force in the billed time counts, not the
// newest.
func TestMarket_Versions(t *testing.T) {
	versions := []fields{
		{"startdate": "2026-03-01", "enddate": "2026-03-31", "energyratestructure": []any{[]any{fields{"rate": 0.25}}}},
		{"startdate": "2026-04-01", "enddate": "2026-04-30", "market": fields{"node": "HUB", "market": "REAL_TIME"}},
		{"startdate": "2026-05-01", "energyratestructure": []any{[]any{fields{"rate": 0.35}}}},
	}
	tariff := parse(t, versions)
	april := time.Date(2026, time.April, 1, 0, 0, 0, 0, time.UTC)
	points := make([]market.Point, 30*24)
	for i := range points {
		points[i] = market.Point{Start: april.Add(time.Duration(i) * time.Hour), Price: 0.05}
	}
	hub, err := market.New(points, market.Options{Node: "HUB", Kind: market.RealTime})
	if err != nil {
		t.Fatal(err)
	}
	request := func(start string) bill.Request {
		load := make([]float64, 48)
		for i := range load {
			load[i] = 1
		}
		return bill.Request{Load: load, StepMinutes: 60, Start: start}
	}
	home := bill.Home{Location: time.UTC, Market: hub}
	for start, want := range map[string]float64{"2026-03-30": 0.25, "2026-04-01": 0.05, "2026-04-29": 0.05, "2026-05-01": 0.35} {
		b, err := bill.ForHome(home, bill.Terms{Tariff: tariff}, request(start))
		if err != nil || !near(b.Total, 48*want) {
			t.Errorf("from %s: %+v, %v; want %v", start, b, err, 48*want)
		}
	}
	for start, want := range map[string]string{
		"2026-03-31": "start: with loadKwh crosses 2026-04-01: from that day the plan's prices follow a market, so request one bill before and one from that day",
		"2026-04-30": "start: with loadKwh crosses 2026-05-01: from that day the plan's prices follow no market, so request one bill before and one from that day",
	} {
		_, err := bill.ForHome(home, bill.Terms{Tariff: tariff}, request(start))
		if err == nil || err.Error() != want {
			t.Errorf("from %s: %v, want %s", start, err, want)
		}
	}
}
