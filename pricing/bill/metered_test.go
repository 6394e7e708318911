package bill_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/bill"
	"github.com/gridhook/gridhook/pricing/eligibility"
	"github.com/gridhook/gridhook/pricing/solar"
)

// meteredHome is a home in Chicago with a net power of 0.5 kW in every hour, by a meter
// that counts exports.
func meteredHome(t *testing.T) bill.Home {
	t.Helper()
	at, _ := eligibility.Locate("60614")
	location, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	h := bill.Home{Place: &at.Place, Location: location, Metered: new(solar.Metered)}
	for month := range h.Metered {
		h.Metered[month] = &solar.MeteredMonth{Exports: true}
		for hour := range 24 {
			h.Metered[month].NetKW[hour] = 0.5
		}
	}
	h.Solar = &bill.Solar{Solar: pricing.Solar{SizeKw: 5}, Array: solar.DefaultArray}
	return h
}

// The bill of a home with solar has the metered net energy. Another size of the solar
// changes the generation, not the load of the house.
func TestForHome_MeteredLoad(t *testing.T) {
	rate := func() bill.Terms {
		return bill.Terms{Tariff: parse(t, fields{"energyratestructure": []any{[]any{fields{"rate": 0.2}}}})}
	}
	own, err := bill.ForHome(meteredHome(t), rate(), bill.Request{Rules: bill.Rules{Metering: bill.NetMetering}})
	if err != nil {
		t.Fatal(err)
	}
	if want := 0.2 * 0.5 * 8760; math.Abs(own.Total/want-1) > 0.001 || len(own.Caveats) != 0 {
		t.Errorf("$ %.2f, want %.2f; %v", own.Total, want, own.Caveats)
	}
	none := 0.0
	without, err := bill.ForHome(meteredHome(t), rate(), bill.Request{SolarKW: &none})
	if err != nil {
		t.Fatal(err)
	}
	generated := 0.0
	for _, m := range own.Months {
		generated += m.SolarKWh
	}
	if want := own.Total + 0.2*generated; generated < 5000 || math.Abs(without.Total/want-1) > 0.001 {
		t.Errorf("without the solar $ %.2f, want %.2f", without.Total, want)
	}
}

// A typical year has the measured power of an hour in that hour, and exactly the energy of the request.
func TestForHome_MeteredHours(t *testing.T) {
	h := meteredHome(t)
	h.Solar = nil
	for month := range h.Metered {
		for hour := range 24 {
			h.Metered[month].NetKW[hour] = 5 + float64(hour%12)
		}
	}
	evening := [12][24]int{}
	for month := range evening {
		evening[month][18] = 1
	}
	tariff := parse(t, fields{"energyratestructure": append(flatRate(0), flatRate(1)...), "energyweekdayschedule": evening})
	b, err := bill.ForHome(h, bill.Terms{Tariff: tariff}, bill.Request{AnnualKWh: 9000})
	if err != nil {
		t.Fatal(err)
	}
	used := 0.0
	for _, m := range b.Months {
		used += m.UsedKWh
	}
	if want := 9000.0 * 11 / 252; !near(used, 9000) || math.Abs(b.Energy/want-1) > 1e-6 {
		t.Errorf("%v kWh, %v of them at 18:00; want 9000 and %v", used, b.Energy, want)
	}
}

// Another direction of the solar changes the generation, not the load of the house.
func TestForHome_MeteredBehindOtherArray(t *testing.T) {
	rate := bill.Terms{Tariff: parse(t, fields{"energyratestructure": flatRate(0.2)})}
	var june []bill.Month
	for _, azimuth := range []float64{180, 0} {
		b, err := bill.ForHome(meteredHome(t), rate, bill.Request{Azimuth: &azimuth})
		if err != nil {
			t.Fatal(err)
		}
		june = append(june, b.Months[5])
	}
	if south, north := june[0], june[1]; !near(south.UsedKWh, north.UsedKWh) || south.SolarKWh < north.SolarKWh*1.05 {
		t.Errorf("to the south %+v, to the north %+v", south, north)
	}
}

// A typical year has the newest version of the tariff on every date, with and without solar.
func TestForHome_ExpiredTariff(t *testing.T) {
	generated := make([]float64, 8760)
	generated[12] = 10
	rates := fields{"startdate": "2024-06-01", "enddate": "2025-05-31", "energyratestructure": []any{[]any{fields{"rate": 0.1, "sell": 0.04}}}}
	values := fields{"startdate": "2024-06-01", "enddate": "2025-05-31", "energyratestructure": []any{[]any{fields{"rate": 0.1}}}, "exportvalues": "PG&E NBT26"}
	for _, tt := range []struct {
		name      string
		tariff    fields
		generated []float64
		year      int
		credit    bool
	}{
		{"without solar", rates, nil, 0, false},
		{"sell rate", rates, generated, 0, true},
		{"sell rate in another year", rates, generated, 2021, true},
		{"avoided costs", values, generated, 0, true},
	} {
		request := bill.Request{Load: make([]float64, 8760), Generated: tt.generated, CalendarYear: tt.year}
		b, err := bill.ForHome(bill.Home{Location: time.UTC}, bill.Terms{Tariff: parse(t, tt.tariff)}, request)
		if err != nil || (b.Credit > 0) != tt.credit {
			t.Errorf("%s: %+v, %v", tt.name, b, err)
		}
	}
}

// TestMeter_PeriodWithinStep checks that an hour in which a period begins is billed like its four
// quarter hours.
func TestMeter_PeriodWithinStep(t *testing.T) {
	halfHours := func(from, to int) (row []any) { // a peak from the 33rd to the 41st half hour, 16:30 to 20:30
		for i := range 48 {
			row = append(row, min(max(i-from+1, 0), 1)*min(max(to-i, 0), 1))
		}
		return row
	}
	peak := slices.Repeat([]any{halfHours(33, 41)}, 12)
	tariff := parse(t, fields{
		"energyratestructure":   []any{[]any{fields{"rate": 0.1, "sell": 0.02}}, []any{fields{"rate": 0.5, "sell": 0.2}}},
		"energyweekdayschedule": peak, "energyweekendschedule": peak,
		"demandratestructure":   []any{[]any{fields{"rate": 1}}, []any{fields{"rate": 7}}},
		"demandweekdayschedule": peak, "demandweekendschedule": peak, "demandwindow": 60,
	})
	use := func(i int) float64 { return float64(i*i%7) + float64(i/24%3) }
	sun := func(i int) float64 { return float64(max(0, 9-2*max(i%24-14, 14-i%24))) }
	for _, rules := range []bill.Rules{{Metering: bill.NetMetering}, {Metering: bill.NetBilling}, {Metering: bill.FeedIn}, {Metering: bill.NetMetering, Rollover: bill.Energy}, {Metering: bill.NetMetering, Tiers: bill.Prorated}} {
		byHour := hours(31, use, sun)
		byQuarter := byHour
		byQuarter.Step, byQuarter.Load, byQuarter.Solar = 15*time.Minute, nil, nil
		for i := range 4 * len(byHour.Load) {
			byQuarter.Load, byQuarter.Solar = append(byQuarter.Load, byHour.Load[i/4]/4), append(byQuarter.Solar, byHour.Solar[i/4]/4)
		}
		got, want := calculate(t, byHour, bill.Terms{Tariff: tariff, Rules: rules}), calculate(t, byQuarter, bill.Terms{Tariff: tariff, Rules: rules})
		if !near(got.Energy, want.Energy) || !near(got.Credit, want.Credit) || !near(got.Demand, want.Demand) || !near(got.Months[0].DrawnKWh, want.Months[0].DrawnKWh) || want.Demand == 0 {
			t.Errorf("%+v: by the hour %+v, by the quarter hour %+v", rules, got, want)
		}
	}
}
