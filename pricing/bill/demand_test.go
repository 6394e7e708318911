package bill_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing/bill"
)

// The test has April of 30 days and May of 31 in quarter hours: 1 kW always, 5 kW on 10
// April from 13:00 to 13:15, and 3 kW of solar in that quarter hour.
func demandMeter() bill.Meter {
	m := bill.Meter{Start: time.Date(2026, time.April, 1, 0, 0, 0, 0, time.UTC), Step: 15 * time.Minute, Location: time.UTC}
	m.Load = make([]float64, 61*96)
	for i := range m.Load {
		m.Load[i] = 0.25
	}
	m.Load[9*96+13*4] = 1.25
	return m
}

func TestDemand_Charges(t *testing.T) {
	flat := func(extra fields, tiers ...any) fields {
		all := fields{"energyratestructure": []any{[]any{fields{"rate": 0}}}, "flatdemandstructure": []any{tiers}}
		for k, v := range extra {
			all[k] = v
		}
		return all
	}
	tou := func(extra fields) fields {
		all := fields{
			"energyratestructure": []any{[]any{fields{"rate": 0}}},
			"demandratestructure": []any{[]any{fields{"rate": 2}}, []any{fields{"rate": 8, "adj": 2}}}, "demandweekdayschedule": schedule(),
		}
		for k, v := range extra {
			all[k] = v
		}
		return all
	}
	weekends := make([][]int, 12)
	for i := range weekends {
		weekends[i] = make([]int, 24)
	}
	for _, tt := range []struct {
		name       string
		tariff     fields
		april, may float64
		caveat     string
	}{
		{"flat", flat(nil, fields{"rate": 10}), 50, 10, ""},
		{"in tiers", flat(nil, fields{"rate": 10, "max": 2}, fields{"rate": 4}), 20 + 12, 10, ""},
		{"by the hour", flat(fields{"demandwindow": 60}, fields{"rate": 10}), 20, 10, ""},
		{"by the half hour", flat(fields{"demandwindow": 30}, fields{"rate": 10}), 30, 10, ""},
		{"of some months", flat(fields{"flatdemandmonths": []int{0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}, "flatdemandstructure": []any{[]any{fields{"rate": 10}}, []any{fields{"rate": 7}}}}), 50, 7, ""},
		{"daily", flat(fields{"flatdemandunit": "kW daily"}, fields{"rate": 1}), 29 + 5, 31, ""},
		{"horsepower", flat(fields{"flatdemandunit": "hp"}, fields{"rate": 7.457}), 50, 10, ""},
		{"kVA", flat(fields{"flatdemandunit": "kVA"}, fields{"rate": 10}), 50, 10, "power factor"},
		{"ratchet", flat(fields{"lookbackpercent": 0.8, "lookbackrange": 11}, fields{"rate": 10}), 50, 40, "ratchet"},
		{"ratchet of some months", flat(fields{"lookbackpercent": 0.8, "lookbackmonths": []int{0, 0, 0, 1}}, fields{"rate": 10}), 50, 40, "ratchet"},
		{"ratchet of other months", flat(fields{"lookbackpercent": 0.8, "lookbackmonths": []int{0, 0, 0, 0, 0, 1}}, fields{"rate": 10}), 50, 10, "ratchet"},
		{"by time of use", tou(nil), 2 + 50, 2 + 10, ""},
		{"by time of use, the 10th no weekend", tou(fields{"demandweekendschedule": weekends}), 2 + 50, 2 + 10, ""},
		{"by time of use of weekends", tou(fields{"demandweekdayschedule": weekends, "demandweekendschedule": schedule()}), 10 + 10, 2 + 10, ""},
		{"a window the meter has not", flat(fields{"demandwindow": 20}, fields{"rate": 10}), 50, 10, "20 minutes"},
		{"reactive power", flat(fields{"demandreactivepowercharge": 0.52}, fields{"rate": 10}), 50, 10, "demandreactivepowercharge: is left out"},
		{"a ratchet without months", flat(fields{"demandratchetpercentage": []any{0, 0, 0, 0, 0, 0, 80, 0, 0, 0, 0, 0}}, fields{"rate": 10}), 50, 10, "demandratchetpercentage: is left out"},
		{"no reactive power", flat(fields{"demandreactivepowercharge": "0", "demandratchetpercentage": []any{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}, fields{"rate": 10}), 50, 10, ""},
		{"unreadable", flat(nil, fields{"rate": "ten"}, fields{"rate": 1}), 0, 0, "flatdemandstructure[0][0].rate"},
	} {
		b := calculate(t, demandMeter(), bill.Terms{Tariff: parse(t, tt.tariff)})
		if !near(b.Months[0].Demand, tt.april) || !near(b.Months[1].Demand, tt.may) || !near(b.Demand, tt.april+tt.may) || !near(b.Total, b.Demand) {
			t.Errorf("%s: $%v in April and $%v in May, want %v and %v", tt.name, b.Months[0].Demand, b.Months[1].Demand, tt.april, tt.may)
		}
		if got := strings.Join(b.Caveats, "; "); !strings.Contains(got, tt.caveat) || tt.caveat == "" && got != "" {
			t.Errorf("%s: the caveats are %q, want ...%s...", tt.name, got, tt.caveat)
		}
	}
}

// Solar reduces the demand, unless it has its own meter. A minimum charge includes demand
// charges.
func TestDemand_Solar(t *testing.T) {
	tariff := parse(t, fields{"energyratestructure": []any{[]any{fields{"rate": 0}}}, "flatdemandstructure": []any{[]any{fields{"rate": 10}}}, "mincharge": 15})
	m := demandMeter()
	m.Solar = make([]float64, len(m.Load))
	m.Solar[9*96+13*4] = 0.75
	for metering, want := range map[bill.Metering]float64{bill.NetMetering: 20, bill.NetBilling: 20, bill.FeedIn: 50} {
		b := calculate(t, m, bill.Terms{Tariff: tariff, Rules: bill.Rules{Metering: metering}})
		if !near(b.Months[0].Demand, want) || !near(b.Months[0].Minimum, 0) || !near(b.Months[1].Minimum, 5) || !near(b.Total, want+15) {
			t.Errorf("%s: %+v, want $%v in April", metering, b, want)
		}
	}
}

// A period that changes within a window does not split the window of the flat charge. The
// 8 kWh from 16:00 to 17:00 are 8 kW, and 4 kW in each period.
func TestDemand_WindowAcrossPeriods(t *testing.T) {
	halves := make([][]int, 12)
	for month := range halves {
		halves[month] = slices.Concat(make([]int, 33), slices.Repeat([]int{1}, 15))
	}
	tariff := parse(t, fields{
		"energyratestructure": flatRate(0), "demandwindow": 60, "flatdemandstructure": flatRate(10),
		"demandratestructure": []any{[]any{fields{"rate": 1}}, []any{fields{"rate": 2}}}, "demandweekdayschedule": halves,
	})
	m := hours(30, always(0), nil)
	m.Step, m.Load = 15*time.Minute, make([]float64, 30*96)
	for i := range 4 {
		m.Load[16*4+i] = 2
	}
	if b := calculate(t, m, bill.Terms{Tariff: tariff}); !near(b.Demand, 80+4+8) || !near(b.Months[0].DemandKW, 8) {
		t.Errorf("demand of %v kW for $%v, want 8 kW for $92", b.Months[0].DemandKW, b.Demand)
	}
}

// Half of the 10 kW of the first month counts for as many months as the look-back has.
func TestDemand_LookBack(t *testing.T) {
	r := hourly("2026-01-15", 31+28+31, always(1))
	r.Load[0] = 10
	plan := fields{"energyratestructure": flatRate(0), "flatdemandstructure": flatRate(10), "lookbackpercent": 0.5}
	for months, want := range map[int]float64{0: 100 + 50 + 50, 1: 100 + 50 + 10, 2: 100 + 50 + 50} {
		plan["lookbackrange"] = months
		if b := billing(t, r, plan); !near(b.Demand, want) {
			t.Errorf("a look-back of %d months: $%v, want $%v", months, b.Demand, want)
		}
	}
	// Beside a flat charge, a charge by period has no look-back.
	plan["demandratestructure"], plan["lookbackrange"] = flatRate(1), 0
	if b := billing(t, r, plan); !near(b.Demand, 200+10+1+1) {
		t.Errorf("a charge by period beside the flat one: $%v, want $212", b.Demand)
	}
	// By default eleven months count.
	delete(plan, "demandratestructure")
	r.Load = append(r.Load, slices.Repeat([]float64{1}, (365-90+31)*24)...)
	if b := billing(t, r, plan); !near(b.Months[11].Demand, 50) || !near(b.Months[12].Demand, 10) {
		t.Errorf("the twelfth month costs $%v, the thirteenth $%v; want $50 and $10", b.Months[11].Demand, b.Months[12].Demand)
	}
}

// A meter by the hour does not show the peaks of shorter windows.
func TestDemand_ShortWindow(t *testing.T) {
	for window, doubtful := range map[int]bool{0: false, 30: true, 60: false} {
		b := billing(t, hourly("2026-02-15", 28, always(2)), fields{"energyratestructure": flatRate(0), "flatdemandstructure": flatRate(10), "demandwindow": window})
		if !near(b.Demand, 20) || strings.Contains(strings.Join(b.Caveats, "; "), "peaks are too low") != doubtful {
			t.Errorf("windows of %d minutes: $%v, want $20; caveats %q", window, b.Demand, b.Caveats)
		}
	}
}

// A month in which the season changes has each season's charge for its days. From 15 September
// on, 16 days of $20 and 14 days of $8 for 5 kW are $72. Charges that stay the same are for the
// highest demand of the month, and a ratchet charges no period of another season.
func TestDemand_SeasonChange(t *testing.T) {
	summer := make([][]int, 12)
	for month := range summer {
		summer[month] = slices.Repeat([]int{month / 9}, 24) // the other season from October on
	}
	monthly := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	same := slices.Repeat(flatRate(20), 12)
	seasons := []any{[]any{fields{"rate": 20}}, []any{fields{"rate": 8}}}
	for name, tt := range map[string]struct {
		fields
		want float64
	}{
		"flat":           {fields{"flatdemandstructure": seasons, "flatdemandmonths": []int{0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1}}, 5 * (20*16 + 8*14) / 30.0},
		"flat, the same": {fields{"flatdemandstructure": same, "flatdemandmonths": monthly}, 100},
		"by period":      {fields{"demandratestructure": seasons, "demandweekdayschedule": summer}, 5 * (20*16 + 8*14) / 30.0},
		"by period, with a ratchet": {
			fields{"demandratestructure": seasons, "demandweekdayschedule": summer, "lookbackpercent": 0.5}, 5 * (20*16 + 8*14) / 30.0,
		},
	} {
		tt.fields["energyratestructure"] = flatRate(0)
		b := billing(t, hourly("2026-09-15", 30, func(hour int) float64 { return float64(hour / 23 * 5) }), tt.fields)
		if !near(b.Demand, tt.want) {
			t.Errorf("%s: $%v, want $%v", name, b.Demand, tt.want)
		}
		next := billing(t, hourly("2026-09-15", 30+31, func(hour int) float64 { return float64(hour / 23 * 5) }), tt.fields)
		if want := map[bool]float64{true: 100, false: 40}[tt.want == 100]; !near(next.Months[1].Demand, want) {
			t.Errorf("%s: $%v in the month of one season, want $%v", name, next.Months[1].Demand, want)
		}
	}
}
