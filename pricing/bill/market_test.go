package bill_test

import (
	"fmt"
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
	points := make([]market.Point, 30*24*4) // an hour has the mean of its quarter hours
	for i := range points {
		points[i] = market.Point{Start: april.Add(time.Duration(i) * 15 * time.Minute), Price: float64(i%4) / 30}
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

// The caveats name forecasts of the market and tiers, not other doubts in the plan's prices,
// such as an old source.
func TestMarket_Caveats(t *testing.T) {
	april := time.Date(2026, time.April, 1, 0, 0, 0, 0, time.UTC)
	points := make([]market.Point, 48)
	for i := range points {
		points[i] = market.Point{Start: april.Add(time.Duration(i) * time.Hour), Price: 0.05}
	}
	hub, err := market.New(points, market.Options{Node: "HUB", Kind: market.RealTime})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		structure []any
		hours     int
		want      string
	}{
		"published": {flatRate(0.1), 48, "[]"},
		"forecast":  {flatRate(0.1), 49, "[some prices of the market are forecast]"},
		"tiers":     {[]any{[]any{fields{"rate": 0.1, "max": 10}, fields{"rate": 0.2}}}, 48, "[prices that follow a market have the rate of the first tier, also in higher tiers]"},
	} {
		tariff := parse(t, fields{"sourcedate": "2015-01-01", "market": fields{"node": "HUB", "market": "REAL_TIME"}, "energyratestructure": tt.structure})
		request := bill.Request{Load: make([]float64, tt.hours), StepMinutes: 60, Start: "2026-04-01"}
		b, err := bill.ForHome(bill.Home{Location: time.UTC, Market: hub}, bill.Terms{Tariff: tariff}, request)
		if err != nil || fmt.Sprint(b.Caveats) != tt.want {
			t.Errorf("%s: %+v, %v; want %s", name, b, err, tt.want)
		}
	}
}
