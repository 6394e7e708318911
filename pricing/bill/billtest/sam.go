package billtest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing/bill"
)

// The cases of SAM's tests of module utilityrate5 (NREL/ssc,
// test/ssc_test/cmod_utilityrate5_test.cpp; BSD-3). A bill depends on a month's energy by
// period and on its peaks alone, so each case is rebuilt of those: sums of SAM's
// hourly load and generation by month and period of the case's schedule (2007, a
// Monday first), worked out for this test. SAM states its bills to 0.1 $.

// SAMCase is a bill of SAM with its inputs.
type SAMCase struct {
	Name    string
	Tariff  []byte // in the JSON of the rate database
	Request bill.Request
	Want    float64 // total of the year, $
	Open    float64 // credit that is left for the next year, $
}

// samYear is the number of hours of the cases' year.
const samYear = 8760

// samPeriod is what SAM's hours of a month's period come to, kWh: used, generated, and
// sent out in the hours that generate more than they use.
type samPeriod struct {
	period                int
	used, generated, sent float64
}

// samHome is SAM's residential load and generation under its default schedule.
var samHome = [12][]samPeriod{
	{{1, 252.755, 207.659, 160.737}, {2, 43.718, 306.788, 263.214}, {3, 78.618, 68.463, 45.647}},
	{{1, 229.849, 238.186, 188.836}, {2, 36.922, 287.235, 251.284}, {3, 64.559, 83.594, 57.185}},
	{{1, 233.923, 316.403, 255.68}, {2, 36.693, 356.856, 320.345}, {3, 63.601, 107.998, 79.736}},
	{{1, 240.713, 374.969, 302.173}, {2, 43.712, 350.217, 306.793}, {3, 84.939, 108.846, 63.124}},
	{{1, 356.283, 757.831, 599.749}, {4, 123.105, 127.365, 58.226}},
	{{1, 526.476, 729.338, 477.628}, {4, 166.215, 120.721, 28.876}},
	{{1, 654.273, 686.552, 389.692}, {4, 187.959, 117.433, 21.663}},
	{{1, 588.697, 664.386, 403.851}, {4, 183.933, 116.609, 27.429}},
	{{1, 486.408, 660.592, 446.016}, {4, 135.333, 85.318, 26.108}},
	{{1, 374.458, 637.541, 474.6}, {4, 125.408, 71.013, 26.207}},
	{{1, 219.053, 240.082, 189.414}, {2, 36.961, 323.157, 286.196}, {3, 68.801, 52.894, 34.363}},
	{{1, 263.09, 219.005, 168.423}, {2, 40.018, 279.028, 239.282}, {3, 73.426, 47.033, 28.328}},
}

// samTiered is the same under the schedule of Test_Residential_TOU_Rates_w_tiers.
var samTiered = [12][]samPeriod{
	{{4, 118.671, 33.477, 16.4}, {5, 163.326, 444.611, 366.657}, {6, 93.093, 104.821, 86.541}},
	{{4, 102.546, 49.089, 24.002}, {5, 142.44, 434.949, 366.986}, {6, 86.343, 124.976, 106.317}},
	{{4, 103.059, 70.224, 41.216}, {5, 114.283, 267.341, 221.321}, {6, 116.875, 443.692, 393.223}},
	{{4, 129.776, 77.901, 30.148}, {5, 117.71, 288.305, 231.414}, {6, 121.878, 467.826, 410.527}},
	{{4, 170.804, 86.121, 22.109}, {5, 206.358, 648.348, 514.114}, {6, 102.226, 150.727, 121.752}},
	{{1, 235.256, 93.402, 5.173}, {2, 299.697, 578.491, 375.537}, {3, 157.739, 178.165, 125.793}},
	{{1, 268.29, 88.022, 1.306}, {2, 368.558, 556.977, 314.418}, {3, 205.384, 158.987, 95.631}},
	{{1, 251.333, 80.803, 2.705}, {2, 340.769, 569.157, 346.177}, {3, 180.527, 131.036, 82.397}},
	{{1, 207.16, 57.458, 3.401}, {2, 261.402, 515.864, 348.337}, {3, 153.18, 172.588, 120.385}},
	{{1, 169.715, 36.424, 3.036}, {2, 223.41, 534.8, 390.438}, {3, 106.742, 137.329, 107.333}},
	{{4, 105.122, 21.419, 7.511}, {5, 139.482, 477.777, 403.882}, {6, 80.21, 116.937, 98.58}},
	{{4, 120.563, 17.629, 4.315}, {5, 156.595, 400.175, 326.759}, {6, 99.376, 127.262, 104.958}},
}

// samPower is what SAM's commercial hours come to: kWh used and generated, and the
// highest demand in kW without and with the generation.
var samPower = [12][]struct {
	period                     int
	used, generated            float64
	peakWithout, peakWithSolar float64
}{
	{{3, 10659.77, 258.159, 155.912, 156.612}, {4, 46679.719, 11126.281, 234.676, 234.676}},
	{{3, 9031.374, 283.779, 155.723, 155.723}, {4, 39525.942, 10937.666, 173.422, 173.422}},
	{{3, 10199.552, 362.658, 172.007, 172.707}, {4, 45550.53, 14532.388, 167.643, 167.643}},
	{{3, 9645.464, 364.8, 188.079, 188.779}, {4, 43369.465, 12807.452, 191.434, 192.134}},
	{{1, 11940.451, 741.274, 188.872, 189.572}, {2, 48520.295, 14766.78, 198.295, 198.295}},
	{{1, 13673.566, 818.061, 236.469, 237.169}, {2, 56478.773, 16181.953, 231.478, 231.478}},
	{{1, 16170.694, 1010.544, 270.053, 270.753}, {2, 61537.77, 16697.373, 274.231, 274.931}},
	{{1, 16323.954, 1368.962, 260.336, 261.036}, {2, 61231.097, 17624.395, 247.018, 247.718}},
	{{1, 10879.303, 1301.748, 213.441, 213.341}, {2, 50914.374, 17472.694, 226.751, 227.451}},
	{{1, 11409.88, 1314.718, 185.123, 185.823}, {2, 46282.6, 16506.601, 181.664, 181.664}},
	{{3, 10360.272, 1421.306, 152.423, 150.349}, {4, 41485.01, 16374.9, 156.2, 151.587}},
	{{3, 9460.09, 1346.554, 147.7, 148.4}, {4, 44878.441, 16530.3, 184.05, 184.05}},
}

// samSchedule is a month a row, and which period each third of the day has: night,
// day, evening. SAM's own hours do not matter, as its sums are by period.
func samSchedule(months func(month int) [3]int) (s [12][24]int) {
	for month := range s {
		thirds := months(month)
		for hour := range 24 {
			s[month][hour] = thirds[hour/8]
		}
	}
	return s
}

// samEnergy gives each period of each month two hours of the 10th: one that draws and
// one that sends out.
func samEnergy(t testing.TB, months [12][]samPeriod, s [12][24]int) (load, generated []float64) {
	t.Helper()
	load, generated = make([]float64, samYear), make([]float64, samYear)
	for month, periods := range months {
		for _, p := range periods {
			at := samHour(t, month, p.period, s)
			load[at], generated[at] = p.used, p.generated-p.sent
			generated[at+1] = p.sent
		}
	}
	return load, generated
}

// samHour is the first hour of a period on the 10th of a month.
func samHour(t testing.TB, month, period int, s [12][24]int) int {
	t.Helper()
	day := time.Date(2007, time.Month(month+1), 10, 0, 0, 0, 0, time.UTC).YearDay() - 1
	for hour, p := range s[month] {
		if p == period-1 {
			return day*24 + hour
		}
	}
	t.Fatalf("month %d has no period %d", month+1, period)
	return 0
}

// samHours are the hours of a month that have a period.
func samHours(month, period int, s [12][24]int) (hours []int) {
	first := time.Date(2007, time.Month(month+1), 1, 0, 0, 0, 0, time.UTC).YearDay() - 1
	last := time.Date(2007, time.Month(month+2), 0, 0, 0, 0, 0, time.UTC).YearDay()
	for at := first * 24; at < last*24; at++ {
		if s[month][at%24] == period-1 {
			hours = append(hours, at)
		}
	}
	return hours
}

// SAM returns all cases.
func SAM(t testing.TB) []SAMCase {
	t.Helper()
	return append(append(samResidential(t), samTiers(t)...), samDemandCharges(t)...)
}

type fields = map[string]any

func samCase(t testing.TB, name string, tariff fields, load, generated []float64, rules bill.Rules, want float64) SAMCase {
	t.Helper()
	text, err := json.Marshal(tariff)
	if err != nil {
		t.Fatal(err)
	}
	r := bill.Request{Load: load, Generated: generated, CalendarYear: 2007, Rules: rules}
	return SAMCase{Name: name, Tariff: text, Request: r, Want: want}
}

func samResidential(t testing.TB) (cases []SAMCase) {
	t.Helper()
	s := samSchedule(func(month int) [3]int {
		if month >= 4 && month <= 9 {
			return [3]int{0, 0, 3}
		}
		return [3]int{0, 1, 2} // as SAM's at midnight, 11:00 and 17:00
	})
	rates := func(sells []float64) fields {
		var periods []any
		for i, rate := range []float64{0.1, 0.05, 0.2, 0.25} {
			tier := fields{"rate": rate}
			if len(sells) > 0 {
				tier["sell"] = sells[i]
			}
			periods = append(periods, []any{tier})
		}
		return fields{"energyratestructure": periods, "energyweekdayschedule": s}
	}
	retail, low := []float64{0.1, 0.05, 0.2, 0.25}, []float64{0.05, 0.05, 0.05, 0.05}
	load, generated := samEnergy(t, samHome, s)
	const yearEnd = 0.02789
	ten, hundred := 10.0, 100.0
	energy := bill.Rules{Metering: bill.NetMetering, Rollover: bill.Energy}
	billed := bill.Rules{Metering: bill.NetBilling}
	carried := bill.Rules{Metering: bill.NetBilling, Rollover: bill.Dollars, SurplusRetail: true}
	with := func(r bill.Rules, change func(*bill.Rules)) bill.Rules { change(&r); return r }
	for _, tt := range []struct {
		name  string
		sells []float64
		rules bill.Rules
		want  float64
		open  float64
	}{
		{"net metering in kWh", nil, with(energy, func(r *bill.Rules) { r.SurplusRate = yearEnd }), -11.9, 0},
		{"no credit at the end", nil, energy, 64.03, 0},
		{"yearly minimum", nil, with(energy, func(r *bill.Rules) { r.Minimum, r.MinimumUnit = &hundred, "year" }), 100, 0},
		{"true-up in May", nil, with(energy, func(r *bill.Rules) { r.SurplusRate, r.TrueUpMonth = yearEnd, 5 }), 36.6, 0},
		{"net billing", retail, billed, -150.02, 0},
		{"net billing, carried over", retail, carried, -150.02, 0},
		{"carried over at a lower sell rate", low, carried, 136.77, 0},
		{"carried over and expired", retail, with(billed, func(r *bill.Rules) { r.Rollover = bill.Dollars }), 0, 0},
		// SAM's other cases credit from the month after: January's 31.75 $ are paid and
		// carried, so twelve months are topped up here and eleven there (-40.02), and
		// 31.75 $ more are paid back at the end (-81.77).
		{"a monthly minimum", retail, with(carried, func(r *bill.Rules) { r.Minimum, r.MinimumUnit = &ten, "month" }), -30.02, 0},
		{"a yearly minimum", retail, with(carried, func(r *bill.Rules) { r.Minimum, r.MinimumUnit = &hundred, "year" }), -81.77 + 31.75, 0},
		// The first four months come to -90.44 $, paid in April, and the others to -59.58 $.
		{"settled in April", retail, with(carried, func(r *bill.Rules) { r.TrueUpMonth = 4 }), -90.44, 59.58},
		{"buy all, sell all", retail, bill.Rules{Metering: bill.FeedIn}, -150.02, 0},
	} {
		made := samCase(t, tt.name, rates(tt.sells), load, generated, tt.rules, tt.want)
		made.Open = tt.open
		tt.rules.Minimum, tt.rules.MinimumUnit = nil, ""
		cases = append(cases, made, samCase(t, tt.name+", no solar", rates(tt.sells), load, nil, tt.rules, 771.8))
	}
	return cases
}

func samTiers(t testing.TB) []SAMCase {
	t.Helper()
	s := samSchedule(func(month int) [3]int {
		if month >= 5 && month <= 9 {
			return [3]int{0, 1, 2}
		}
		return [3]int{3, 4, 5}
	})
	var periods []any
	for i, rates := range [][2]float64{{0.31868, 0.50884}, {0.26425, 0.45441}, {0.21035, 0.40051}, {0.23241, 0.40853}, {0.22394, 0.40006}, {0.21454, 0.39066}} {
		bound := 11.7
		if i >= 3 {
			bound = 11.96
		}
		periods = append(periods, []any{fields{"rate": rates[0], "max": bound, "unit": "kWh daily"}, fields{"rate": rates[1], "unit": "kWh daily"}})
	}
	tariff := fields{"energyratestructure": periods, "energyweekdayschedule": s}
	load, generated := samEnergy(t, samTiered, s)
	rules := bill.Rules{Metering: bill.NetMetering, Tiers: bill.Prorated, Rollover: bill.Energy, SurplusRate: 0.02789}
	return []SAMCase{
		samCase(t, "tiers, with solar", tariff, load, generated, rules, 286.2),
		samCase(t, "tiers, no solar", tariff, load, nil, rules, 1839.7),
	}
}

// samDemandCharges returns Test_Commercial_Demand_Charges: $ 45,388.11 for energy and 30 $
// a month, the rest for power by time of use in two tiers.
func samDemandCharges(t testing.TB) (cases []SAMCase) {
	t.Helper()
	energy := samSchedule(func(month int) [3]int {
		if month >= 4 && month <= 9 {
			return [3]int{1, 0, 1}
		}
		return [3]int{3, 2, 3}
	})
	power := samSchedule(func(int) [3]int { return [3]int{1, 0, 1} })
	tariff := fields{
		"energyratestructure":   []any{[]any{fields{"rate": 0.05}}, []any{fields{"rate": 0.075}}, []any{fields{"rate": 0.06}}, []any{fields{"rate": 0.05}}},
		"energyweekdayschedule": energy, "fixedchargefirstmeter": 30,
		"demandratestructure": []any{
			[]any{fields{"rate": 20, "max": 100}, fields{"rate": 15, "max": 1e38}},
			[]any{fields{"rate": 10, "max": 100, "unit": "kW"}, fields{"rate": 5}},
		},
		"demandweekdayschedule": power,
	}
	for _, tt := range []struct {
		name  string
		solar bool
		want  float64
	}{{"demand charges", false, 104614.5}, {"demand charges, with solar", true, 92538.1}} {
		load := make([]float64, samYear)
		for month, periods := range samPower {
			for _, p := range periods {
				kwh, peak := p.used, p.peakWithout
				if tt.solar {
					kwh, peak = p.used-p.generated, p.peakWithSolar
				}
				// An hour of the peak, and the rest spread over the month's other hours.
				first := samHour(t, month, p.period, energy)
				hours := samHours(month, p.period, energy)
				for _, at := range hours {
					load[at] = (kwh - peak) / float64(len(hours)-1)
				}
				load[first] = peak
			}
		}
		cases = append(cases, samCase(t, tt.name, tariff, load, nil, bill.Rules{Metering: bill.NetMetering, Rollover: bill.Energy}, tt.want))
	}
	return cases
}
