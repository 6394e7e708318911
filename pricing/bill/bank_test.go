package bill_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/bill"
)

// Exports beyond the use of a period offset the same period of the next month, kWh for
// kWh, and no other one.
func TestRollover_Energy(t *testing.T) {
	tariff := parse(t, fields{
		"energyratestructure":   []any{[]any{fields{"rate": 0.1}}, []any{fields{"rate": 0.3}}},
		"energyweekdayschedule": schedule(),
		"riders":                []any{fields{"rate": 10, "unit": "%"}, fields{"rate": 0.02}},
	})
	// The last day of April and the first of May have 12 kWh a day before noon and after.
	// 40 kWh are generated in April after noon.
	m := bill.Meter{Start: time.Date(2026, time.April, 30, 0, 0, 0, 0, time.UTC), Step: time.Hour, Location: time.UTC,
		Load: make([]float64, 48), Solar: make([]float64, 48)}
	for i := range m.Load {
		m.Load[i] = 1
	}
	m.Solar[15] = 40
	b := calculate(t, m, bill.Terms{Tariff: tariff, Rules: bill.Rules{Rollover: bill.Energy, SurplusRate: 0.02}})
	// April leaves 28 kWh. 12 of them offset May's use.
	if want := (12 + 12) * (0.1 + 0.02) * 1.1; !near(b.Total, want) {
		t.Errorf("$%v, want $%v: %+v", b.Total, want, b)
	}
	dollars := calculate(t, m, bill.Terms{Tariff: tariff, Rules: bill.Rules{SurplusRate: 0.02}})
	if want := 0.0; !near(dollars.Total, want) {
		t.Errorf("in dollars: $%v, want $%v", dollars.Total, want)
	}
}

// If the next month lacks a period, its kWh go to the period at the same time of the day.
func TestRollover_Seasons(t *testing.T) {
	var weekdays [12][24]int
	for month := range weekdays {
		for hour := 12; hour < 24; hour++ {
			weekdays[month][hour] = 1
			if month >= 4 {
				weekdays[month][hour] = 2
			}
		}
	}
	tariff := parse(t, fields{
		"energyratestructure":   []any{[]any{fields{"rate": 0.1}}, []any{fields{"rate": 0.3}}, []any{fields{"rate": 0.5}}},
		"energyweekdayschedule": weekdays,
	})
	m := bill.Meter{Start: time.Date(2026, time.April, 30, 0, 0, 0, 0, time.UTC), Step: time.Hour, Location: time.UTC,
		Load: make([]float64, 48), Solar: make([]float64, 48)}
	m.Solar[15], m.Load[24+15], m.Load[24+5] = 7, 10, 4
	b := calculate(t, m, bill.Terms{Tariff: tariff, Rules: bill.Rules{Rollover: bill.Energy}})
	if want := 3*0.5 + 4*0.1; !near(b.Total, want) {
		t.Errorf("$%v, want $%v: %+v", b.Total, want, b)
	}
}

// A season may price other hours. The kWh of a period go to the new period of an hour of SAM (0, 5,
// 11 and 17) that the old period has: winter's two peaks go to summer's afternoon. Weekends have
// hours of their own. A month of both seasons ends with the periods of the later one.
func TestRollover_TimesOfDay(t *testing.T) {
	winter := slices.Concat(make([]int, 6), []int{1, 1, 1}, slices.Repeat([]int{3}, 8), []int{1, 1, 1, 1}, make([]int, 3))
	summer := slices.Concat(slices.Repeat([]int{1}, 14), make([]int, 7), slices.Repeat([]int{1}, 3)) // 0 and 1 swapped
	weekdays := append(slices.Repeat([][]int{winter}, 4), slices.Repeat([][]int{summer}, 8)...)
	weekend := slices.Repeat([][]int{slices.Repeat([]int{2}, 24)}, 12)
	rates := []any{[]any{fields{"rate": 0.1}}, []any{fields{"rate": 0.2}}, []any{fields{"rate": 0.4}}, []any{fields{"rate": 0.8}}}
	tariff := parse(t, fields{"energyratestructure": rates, "energyweekdayschedule": weekdays, "energyweekendschedule": weekend})
	// Hours of 2026: Wednesday 1 April, Thursday 30 April, Friday 1 May, the Saturdays 2 and 30 May, Monday 1 June.
	const wednesday, thursday, friday, saturday, later, monday = 0, 29 * 24, 30 * 24, 31 * 24, 59 * 24, 61 * 24
	for _, tt := range []struct {
		name                 string
		billingDay, from, to int
		credit               float64 // of 10 kWh
	}{
		{"a winter peak in May", 1, thursday + 18, friday + 18, 0.1},
		{"a winter peak not before", 1, thursday + 18, friday + 10, 0},
		{"a winter peak in a month of both", 20, wednesday + 18, thursday + 18, 0.2},
		{"a weekend in the next month", 20, saturday + 18, later + 6, 0.4},
		{"a weekend no weekday", 20, saturday + 18, monday + 18, 0},
		{"a summer afternoon after a month of both", 20, friday + 18, monday + 18, 0.1},
	} {
		m := hours(62, always(0), nil)
		m.Load[tt.to] = 10
		terms := bill.Terms{Tariff: tariff, Rules: bill.Rules{Rollover: bill.Energy}, Usage: pricing.Usage{BillingDay: tt.billingDay}}
		whole := calculate(t, m, terms).Total
		m.Load[tt.from] = -10
		if got := whole - calculate(t, m, terms).Total; !near(got, 10*tt.credit) {
			t.Errorf("%s: a credit of $%v, want $%v", tt.name, got, 10*tt.credit)
		}
	}
}
