package pricing_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/solar"
)

func date(s string) pricing.Date {
	d, err := pricing.ParseDate(s)
	if err != nil {
		panic(err)
	}
	return d
}

func TestBillingMonth_Starts(t *testing.T) {
	for _, tt := range []struct {
		day        string
		billingDay int
		start      string
		days       int
	}{
		{"2026-02-14", 0, "2026-02-01", 28},
		{"2024-02-29", 1, "2024-02-01", 29},
		{"2026-01-14", 15, "2025-12-15", 31},
		{"2026-01-15", 15, "2026-01-15", 31},
		{"2026-03-01", 28, "2026-02-28", 28},
		{"2026-03-31", 29, "2026-03-01", 31},
		{"2026-03-31", -1, "2026-03-01", 31},
	} {
		start, days := pricing.BillingMonth(date(tt.day), tt.billingDay)
		if start.String() != tt.start || days != tt.days {
			t.Errorf("%s, day %d: got %v and %d days, want %s and %d", tt.day, tt.billingDay, start, days, tt.start, tt.days)
		}
	}
}

// firstPrice returns the import price at the start of a UTC instant.
func firstPrice(t *testing.T, tariff *pricing.Tariff, usage pricing.Usage, at string) float64 {
	t.Helper()
	start := instant(at)
	c := price(t, pricing.Input{Tariff: tariff, Location: time.UTC, Usage: usage}, pricing.Window{Start: start, End: start.Add(pricing.Interval)})
	return c.Import[0]
}

func TestTiers_FollowUsage(t *testing.T) {
	jackson := jacksonEMC().Parse(t) // to 650 and to 1000 kWh a month
	for _, tt := range []struct {
		name  string
		usage pricing.Usage
		at    string
		want  float64
	}{
		{"none", pricing.Usage{}, "2026-07-31T23:45:00Z", 0.0896},
		{"first tier", pricing.Usage{DailyKWh: 50}, "2026-07-13T23:45:00Z", 0.0896},
		{"second tier at 650", pricing.Usage{DailyKWh: 50}, "2026-07-14T00:00:00Z", 0.1121},
		{"third tier at 1000", pricing.Usage{DailyKWh: 50}, "2026-07-21T00:00:00Z", 0.1181},
		{"within the day", pricing.Usage{DailyKWh: 96, AsOf: date("2026-07-10"), MonthToDateKWh: 640}, "2026-07-10T02:15:00Z", 0.0896},
		{"reached within the day", pricing.Usage{DailyKWh: 96, AsOf: date("2026-07-10"), MonthToDateKWh: 640}, "2026-07-10T02:30:00Z", 0.1121},
		{"anew each month", pricing.Usage{DailyKWh: 50}, "2026-08-01T00:00:00Z", 0.0896},
		{"billing day", pricing.Usage{DailyKWh: 50, BillingDay: 14}, "2026-07-13T23:45:00Z", 0.1181},
		{"anew on the billing day", pricing.Usage{DailyKWh: 50, BillingDay: 14}, "2026-07-14T00:00:00Z", 0.0896},
		{"before the reading in proportion", pricing.Usage{AsOf: date("2026-07-11"), MonthToDateKWh: 1300}, "2026-07-05T23:45:00Z", 0.0896},
		{"half of the reading", pricing.Usage{AsOf: date("2026-07-11"), MonthToDateKWh: 1300}, "2026-07-06T00:00:00Z", 0.1121},
		{"a reading on the first day", pricing.Usage{AsOf: date("2026-07-01"), MonthToDateKWh: 0, DailyKWh: 10}, "2026-07-31T00:00:00Z", 0.0896},
		{"a reading of another month", pricing.Usage{AsOf: date("2026-06-20"), MonthToDateKWh: 2000, DailyKWh: 50}, "2026-07-13T00:00:00Z", 0.0896},
	} {
		if got := firstPrice(t, jackson, tt.usage, tt.at); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

// A billing month that crosses a season has the allowance of each of its days: 16 days of
// 10.4 kWh and 15 of 17.7 kWh are 431.9 kWh.
func TestTiers_BaselineOfSeasons(t *testing.T) {
	baseline := []any{10.4, 10.4, 10.4, 10.4, 10.4, 17.7, 17.7, 17.7, 17.7, 10.4, 10.4, 10.4}
	tariff := flat(0.3).With("baseline", baseline).
		With("energyratestructure", []any{[]any{doc{"rate": 0.3, "max": 1, "unit": "baseline"}, doc{"rate": 0.4}}}).Parse(t)
	usage := pricing.Usage{DailyKWh: 25, BillingDay: 16}
	own := usage
	own.BaselineDailyKWh = 10
	for at, want := range map[string]float64{
		"2026-05-31T12:00:00Z": 0.3, "2026-06-02T06:30:00Z": 0.3, "2026-06-02T06:45:00Z": 0.4, "2026-06-05T00:00:00Z": 0.4,
		"2026-09-30T23:45:00Z": 0.3, "2026-10-02T20:30:00Z": 0.3, "2026-10-02T20:45:00Z": 0.4, // 15 * 17.7 + 15 * 10.4 = 421.5
		"2026-07-31T00:00:00Z": 0.3, "2026-12-29T00:00:00Z": 0.4,
	} {
		if got := firstPrice(t, tariff, usage, at); got != want {
			t.Errorf("%s: got %v, want %v", at, got, want)
		}
	}
	if got := firstPrice(t, tariff, own, "2026-05-29T00:00:00Z"); got != 0.4 { // 310 kWh are reached on 28 May
		t.Errorf("the home's own allowance: got %v, want 0.4", got)
	}
}

// use returns the metered use of months: kWh a day from and to the grid.
func use(drawn, sent float64, months ...time.Month) *solar.Metered {
	u := new(solar.Metered)
	for _, month := range months {
		u[month-1] = &solar.MeteredMonth{Drawn: drawn, Sent: sent}
	}
	return u
}

// The metered use of a month selects its tiers. Months without it have the assumed use.
func TestTiers_MeteredUse(t *testing.T) {
	jackson := jacksonEMC() // to 650 and to 1000 kWh a month
	netted := jackson.With("dgrules", "Net Metering")
	crossing := use(100, 0, time.June)
	crossing[time.July-1] = &solar.MeteredMonth{Drawn: 10}
	for _, tt := range []struct {
		name  string
		plan  doc
		usage pricing.Usage
		at    string
		want  float64
	}{
		{"first tier", jackson, pricing.Usage{Metered: use(50, 0, time.July)}, "2026-07-13T23:45:00Z", 0.0896},
		{"second tier at 650", jackson, pricing.Usage{Metered: use(50, 0, time.July)}, "2026-07-14T00:00:00Z", 0.1121},
		{"instead of the assumed use", jackson, pricing.Usage{DailyKWh: 500, Metered: use(50, 0, time.July)}, "2026-07-13T23:45:00Z", 0.0896},
		{"assumed in another month", jackson, pricing.Usage{DailyKWh: 500, Metered: use(50, 0, time.July)}, "2026-08-10T00:00:00Z", 0.1181},
		{"after a reading", jackson, pricing.Usage{AsOf: date("2026-07-10"), MonthToDateKWh: 600, Metered: use(50, 0, time.July)}, "2026-07-11T00:00:00Z", 0.1121},
		// From 25 June on: 6 days of 100 kWh, then 10 kWh a day.
		{"a billing month over two months", jackson, pricing.Usage{BillingDay: 25, Metered: crossing}, "2026-07-05T23:45:00Z", 0.0896},
		{"650 kWh are reached", jackson, pricing.Usage{BillingDay: 25, Metered: crossing}, "2026-07-06T00:00:00Z", 0.1121},
		{"the month before is unknown", jackson, pricing.Usage{BillingDay: 25, Metered: use(50, 0, time.July)}, "2026-07-08T00:00:00Z", 0.1121},
		{"exports do not count", jackson.With("dgrules", "Net Billing Instantaneous"), pricing.Usage{Metered: use(50, 30, time.July)}, "2026-07-14T00:00:00Z", 0.1121},
		{"net metering counts the net", netted, pricing.Usage{Metered: use(50, 30, time.July)}, "2026-07-14T00:00:00Z", 0.0896},
		{"a home that sends more", netted, pricing.Usage{Metered: use(50, 90, time.July)}, "2026-07-31T00:00:00Z", 0.0896},
	} {
		if got := firstPrice(t, tt.plan.Parse(t), tt.usage, tt.at); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestTiers_MeteredUseExplained(t *testing.T) {
	w := window("2026-07-20T00:00:00Z", "2026-07-20T00:15:00Z")
	in := pricing.Input{Tariff: jacksonEMC().Parse(t), Location: time.UTC, Usage: pricing.Usage{Metered: use(50, 0, time.July)}}
	if r := explain(t, in, w)[0]; r.Tier != "2 of 3, at 950 measured kWh of the month" || r.Confidence != 1 || r.Doubt != "" {
		t.Errorf("it is tier %q, confidence %v, %q", r.Tier, r.Confidence, r.Doubt)
	}
	in.Usage.Metered = use(50, 0, time.June)
	if r := explain(t, in, w)[0]; r.Confidence == 1 || !strings.Contains(r.Doubt, "usage is not known") {
		t.Errorf("July is not metered: confidence %v, %q", r.Confidence, r.Doubt)
	}
}

func TestTiers_Units(t *testing.T) {
	step := func(unit string, bound float64) doc {
		return doc{"energyratestructure": []any{[]any{
			map[string]any{"rate": 0.1, "max": bound, "unit": unit}, map[string]any{"rate": 0.2},
		}}}
	}
	daily := step("kWh daily", 10).Parse(t) // 280 kWh in February, 310 in March
	baseline := step("baseline", 1.3).With("baseline", []any{10, 20, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10}).Parse(t)
	for _, tt := range []struct {
		name   string
		tariff *pricing.Tariff
		usage  pricing.Usage
		at     string
		want   float64
	}{
		{"28 days", daily, pricing.Usage{DailyKWh: 20}, "2026-02-14T23:45:00Z", 0.1},
		{"28 days, reached", daily, pricing.Usage{DailyKWh: 20}, "2026-02-15T00:00:00Z", 0.2},
		{"31 days", daily, pricing.Usage{DailyKWh: 20}, "2026-03-16T11:45:00Z", 0.1},
		{"31 days, reached", daily, pricing.Usage{DailyKWh: 20}, "2026-03-16T12:00:00Z", 0.2},
		{"130 % of the plan's baseline", baseline, pricing.Usage{DailyKWh: 52}, "2026-02-14T23:45:00Z", 0.1},
		{"above it", baseline, pricing.Usage{DailyKWh: 52}, "2026-02-15T00:00:00Z", 0.2},
		{"the home's own baseline", baseline, pricing.Usage{DailyKWh: 52, BaselineDailyKWh: 30}, "2026-02-20T23:45:00Z", 0.1},
		{"above the home's own", baseline, pricing.Usage{DailyKWh: 52, BaselineDailyKWh: 30}, "2026-02-22T00:00:00Z", 0.2},
	} {
		if got := firstPrice(t, tt.tariff, tt.usage, tt.at); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

// The sell rate belongs to the tier of the next kWh.
func TestTiers_SellRate(t *testing.T) {
	tariff := doc{"energyratestructure": []any{[]any{
		map[string]any{"rate": 0.2, "sell": 0.05, "max": 100}, map[string]any{"rate": 0.3, "sell": 0.07},
	}}}.Parse(t)
	w := window("2026-01-10T00:00:00Z", "2026-01-10T00:15:00Z")
	for daily, want := range map[float64]float64{0: 0.05, 20: 0.07} {
		c := price(t, pricing.Input{Tariff: tariff, Location: time.UTC, Usage: pricing.Usage{DailyKWh: daily}}, w)
		if c.Export[0] != want || c.ExportCompensation.Type != pricing.NetBilling {
			t.Errorf("at %v kWh a day: export %v, want %v", daily, c.Export[0], want)
		}
	}
}

// Without an assumed usage the use goes on as until the reading. A reading on the first day
// says nothing about the month.
func TestTiers_ReadingAlone(t *testing.T) {
	tiers := []any{map[string]any{"rate": 0.2, "max": 500}, map[string]any{"rate": 0.3}}
	in := pricing.Input{Tariff: flat(1).With("energyratestructure", []any{tiers}).Parse(t), Location: time.UTC}
	for _, tt := range []struct {
		asOf  int // day of July
		kwh   float64
		day   string
		want  float64
		known bool
	}{
		{15, 420, "2026-07-10", 0.2, true},
		{15, 420, "2026-07-17", 0.2, true}, // 480 kWh at its start, 500 at 16:00
		{15, 420, "2026-07-18", 0.3, true},
		{15, 420, "2026-07-30", 0.3, true},
		{1, 0, "2026-07-30", 0.2, false},
	} {
		in.Usage = pricing.Usage{AsOf: pricing.Date{Year: 2026, Month: time.July, Day: tt.asOf}, MonthToDateKWh: tt.kwh}
		c := price(t, in, window(tt.day+"T00:00:00Z", tt.day+"T01:00:00Z"))
		if c.Import[0] != tt.want || (c.Confidence[0] == 1) != tt.known {
			t.Errorf("%v kWh on %d July: %s has the price %v at the confidence %v, want %v", tt.kwh, tt.asOf, tt.day, c.Import[0], c.Confidence[0], tt.want)
		}
	}
}

// Without a usage the first tier is a guess. The confidence is the share of homes that
// are still in it, or in a tier with a price within a tenth. It falls through the month.
func TestTiers_NoUsage(t *testing.T) {
	reading := pricing.Date{Year: 2026, Month: time.July, Day: 10}
	for name, tt := range map[string]struct {
		rates []float64
		usage pricing.Usage
		want  float64
	}{
		"two prices":                    {[]float64{0.2, 0.3}, pricing.Usage{}, 0.02},
		"three prices":                  {[]float64{0.2, 0.3, 0.4}, pricing.Usage{BillingDay: 5}, 0.06},
		"prices alike":                  {[]float64{0.2, 0.21}, pricing.Usage{}, 1},
		"one tier":                      {[]float64{0.2}, pricing.Usage{}, 1},
		"assumed usage":                 {[]float64{0.2, 0.3}, pricing.Usage{DailyKWh: 20}, 1},
		"a reading":                     {[]float64{0.2, 0.3}, pricing.Usage{AsOf: reading, MonthToDateKWh: 90}, 1},
		"a reading of an earlier month": {[]float64{0.2, 0.3}, pricing.Usage{AsOf: pricing.Date{Year: 2026, Month: time.June, Day: 10}, MonthToDateKWh: 90}, 0.02},
		"the month has begun":           {[]float64{0.2, 0.3}, pricing.Usage{BillingDay: 14}, 0.95},
	} {
		var tiers []any
		for i, rate := range tt.rates {
			tiers = append(tiers, map[string]any{"rate": rate, "max": 100 * (i + 1)}) // the last tier has no end, whatever its maximum
		}
		in := pricing.Input{Tariff: flat(1).With("energyratestructure", []any{tiers}).Parse(t), Location: time.UTC, Usage: tt.usage}
		w := window("2026-07-15T00:00:00Z", "2026-07-15T01:00:00Z")
		reasons, err := pricing.Explain(in, w)
		if err != nil {
			t.Fatal(err)
		}
		if c := price(t, in, w); c.Confidence[0] != tt.want || strings.Contains(reasons[0].Doubt, "usage is not known") != (tt.want < 1) {
			t.Errorf("%s: confidence %v, want %v: %q", name, c.Confidence[0], tt.want, reasons[0].Doubt)
		}
	}
}
