package savings_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/savings"
)

// TestEstimate_FlatTariff checks that a flat price with a constant efficiency leaves
// nothing to shift. If the efficiency depends on the outdoor temperature, running in
// mild weather saves a little.
func TestEstimate_FlatTariff(t *testing.T) {
	for _, at := range cities[3:] {
		in := home(t, at, flatRate)
		in.Request.Months, in.Request.Mode = []int{1, 4, 11}, ptr(savings.Heat)
		for source, maxPercent := range map[savings.HeatSource]float64{savings.Resistance: 0.05, savings.GasFurnace: 0.05, savings.HeatPump: 8} {
			in.Devices[0].Equipment.HeatSource = source
			r := estimate(t, in)
			if r.SavingsPercent >= maxPercent || r.BaselineCost <= 1 || source == savings.HeatPump && r.SavingsPercent < 1 {
				t.Errorf("%s, %s: %+v", at.name, source, r.Figures)
			}
		}
	}
}

// A target of 72 F in AUTO is a band about it, so that it saves what 71.9 F saves.
func TestTargetTemp_Band(t *testing.T) {
	in := home(t, chicago, scePrime)
	var percents []float64
	for _, target := range []float64{71.9, 72} {
		in.Request.TargetTemp = &target
		percents = append(percents, estimate(t, in).SavingsPercent)
	}
	if percents[1] < 5 || math.Abs(percents[1]-percents[0]) > 1 {
		t.Errorf("savings of %v %%", percents)
	}
}

// Heat of people and appliances is cooled away in summer and saved in winter. The
// default doubles the cooling of this house in Chicago, which was 441 kWh without.
func TestInternalGains_RaiseCoolingAndLowerHeating(t *testing.T) {
	in := home(t, chicago, flatRate)
	energy := func(mode savings.Mode, gains *float64) float64 {
		in.Request.Mode, in.Devices[0].Equipment.InternalGainsKw = &mode, gains
		return estimate(t, in).BaselineKwh
	}
	none := 0.0
	if cooling, without := energy(savings.Cool, nil), energy(savings.Cool, &none); cooling < 1.6*without {
		t.Errorf("cooling takes %v kWh, without gains %v", cooling, without)
	}
	if heating, without := energy(savings.Heat, nil), energy(savings.Heat, &none); heating > 0.85*without {
		t.Errorf("heating takes %v kWh, without gains %v", heating, without)
	}
}

// A gas furnace has therms, and the electricity of its fan; a year in Duluth costs less
// with it than with resistance heat.
func TestGasFurnace_Therms(t *testing.T) {
	in := home(t, cities[5], flatRate)
	in.Request.Mode = ptr(savings.Heat)
	in.Devices[0].Equipment = savings.Equipment{HeatSource: savings.Resistance}
	electric := estimate(t, in)
	in.Devices[0].Equipment = savings.Equipment{HeatSource: savings.GasFurnace, AFUE: 0.9, GasPrice: 1.2}
	r := estimate(t, in)
	if r.Gas == nil || electric.Gas != nil {
		t.Fatalf("gas %+v, electric %+v", r.Gas, electric.Gas)
	}
	if want := electric.BaselineKwh / 0.9 / 29.3; math.Abs(r.Gas.BaselineTherms-want) > 0.01*want {
		t.Errorf("%v therms, want %v", r.Gas.BaselineTherms, want)
	}
	if sum := 0.2*r.BaselineKwh + r.Gas.BaselineCost; math.Abs(sum-r.BaselineCost) > 0.2 || math.Abs(r.Gas.BaselineCost-1.2*r.Gas.BaselineTherms) > 0.2 {
		t.Errorf("%+v %+v", r.Figures, r.Gas)
	}
}

// A setback compares a constant setpoint with the schedule: it uses less energy, more
// so with a deeper setback.
func TestSetback_SavesEnergy(t *testing.T) {
	in := home(t, chicago, flatRate)
	in.Request.Comparison = savings.Setback
	usual := estimate(t, in)
	if usual.SavingsPercent < 5 || usual.SavingsPercent > 30 || usual.OptimizedKwh >= usual.BaselineKwh || usual.Comparison != savings.Setback {
		t.Errorf("the usual schedule: %+v", usual.Figures)
	}
	night := savings.Settings{Mode: savings.Auto, Min: 50, Heat: 66, Cool: 77, Max: 90}
	day := savings.Settings{Mode: savings.Auto, Min: 50, Heat: 68, Cool: 75, Max: 90}
	in.Devices[0].Schedule = &savings.Schedule{Units: savings.Fahrenheit, Enabled: true, Default: day, Blocks: []savings.Block{
		{StartMinute: 0, EndMinute: 360, Days: []int{0, 1, 2, 3, 4, 5, 6}, Settings: night},
	}}
	if shallow := estimate(t, in); shallow.Savings <= 0 || shallow.Savings >= usual.Savings || shallow.BaselineKwh != usual.BaselineKwh {
		t.Errorf("a shallow schedule: %+v, the usual %+v", shallow.Figures, usual.Figures)
	}
}

// The device's own settings have no effect if the schedule is in force in all weeks.
func TestEstimate_OwnSettingsOutsideSchedule(t *testing.T) {
	set := func(mode savings.Mode, heat, cool float64) savings.Settings {
		return savings.Settings{Mode: mode, Min: 50, Heat: heat, Cool: cool, Max: 90}
	}
	in := home(t, chicago, flatRate)
	in.Request = savings.Request{Type: savings.Monthly, Start: savings.Start{Month: ptr(1)}}
	in.Devices[0].Settings = set(savings.Auto, 68, 78)
	in.Devices[0].Schedule = &savings.Schedule{
		Units: savings.Fahrenheit, Enabled: true, Default: in.Devices[0].Settings,
		Blocks: []savings.Block{{StartMinute: 0, EndMinute: 360, Days: []int{0, 1, 2, 3, 4, 5, 6}, Settings: set(savings.Auto, 62, 82)}},
	}
	for _, in.Request = range []savings.Request{
		in.Request,
		{Type: savings.Monthly, Start: in.Request.Start, Comparison: savings.Setback},
		{Type: savings.Monthly, Start: in.Request.Start, Comparison: savings.Setback, TargetTemp: ptr(72.0)},
		{Type: savings.Monthly, Start: in.Request.Start, Comparison: savings.Setback, TargetHeatSetpoint: ptr(70.0)},
	} {
		want := estimate(t, in).Figures
		if in.Request.Comparison == savings.Setback && want.Savings <= 0 {
			t.Errorf("%+v saves %+v", in.Request, want)
		}
		for _, own := range []savings.Settings{set(savings.Auto, 73, 76), set(savings.Heat, 52, 54), set(savings.Cool, 68, 78), set(savings.Off, 68, 78)} {
			other := in
			other.Devices = slices.Clone(in.Devices)
			other.Devices[0].Settings = own
			if got := estimate(t, other).Figures; got != want {
				t.Errorf("%+v with %+v: %+v, want %+v", in.Request, own, got, want)
			}
		}
	}
}

// Auxiliary heat holds the lowest heating setpoint, also one of exactly 0 C.
func TestEstimate_FreezingSetpoint(t *testing.T) {
	in := home(t, cities[5], flatRate)
	in.Request = savings.Request{Type: savings.Monthly, Start: savings.Start{Month: ptr(1)}}
	baseline := func(lowest float64) float64 {
		set := func(heat float64) savings.Settings {
			return savings.Settings{Mode: savings.Heat, Min: lowest, Heat: heat, Cool: 25, Max: 30}
		}
		in.Devices[0].Schedule = &savings.Schedule{Units: savings.Celsius, Enabled: true, Default: set(lowest), Blocks: []savings.Block{
			{StartMinute: 480, EndMinute: 1200, Days: []int{0, 1, 2, 3, 4, 5, 6}, Settings: set(20)},
		}}
		return estimate(t, in).BaselineCost
	}
	if at, above := baseline(0), baseline(0.01); math.Abs(at-above) > 0.01*above {
		t.Errorf("$%v at 0 C, $%v at 0.01 C", at, above)
	}
}

// TestEstimate_PublishedRange checks the range of the published results in
// docs/savings.md, 6 to 31 % of the cost of heating and cooling, and the documented
// exceptions.
func TestEstimate_PublishedRange(t *testing.T) {
	for _, at := range cities {
		for _, on := range []tariff{pgeElec, scePrime, peco} {
			r := estimate(t, home(t, at, on))
			t.Logf("%-12s %-16s $%.0f of $%.0f: %.1f %%, $%.0f to $%.0f", at.name, on.name, r.Savings, r.BaselineCost,
				r.SavingsPercent, r.Uncertainty.SavingsLow, r.Uncertainty.SavingsHigh)
			if r.SavingsPercent < 3 || r.SavingsPercent > 40 {
				t.Errorf("%s, %s: %.1f %%", at.name, on.name, r.SavingsPercent)
			}
			if u := r.Uncertainty; u.SavingsLow < 0 || u.SavingsLow >= r.Savings || u.SavingsHigh <= r.Savings {
				t.Errorf("%s, %s: $%v outside its band %+v", at.name, on.name, r.Savings, u)
			}
		}
	}
}

// drawInput is any device on any prices, some below zero, for a month.
func drawInput(t *rapid.T, base savings.Input) savings.Input {
	in := base
	d := device()
	d.HeatingRate = rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0.1, 15)).Draw(t, "heating rate")
	d.CoolingRate = rapid.Float64Range(0.5, 15).Draw(t, "cooling rate")
	d.HeatTransferCoefficient = rapid.Float64Range(0.01, 0.4).Draw(t, "heat transfer")
	d.IrradianceCoefficient = rapid.Float64Range(0, 6).Draw(t, "irradiance")
	modes := rapid.SampledFrom([]savings.Mode{savings.Off, savings.Heat, savings.Cool, savings.Auto})
	settings := rapid.Custom(func(t *rapid.T) savings.Settings {
		s := savings.Settings{Mode: modes.Draw(t, "mode"), Min: rapid.Float64Range(50, 70).Draw(t, "min")}
		s.Heat = s.Min + rapid.Float64Range(0, 8).Draw(t, "heat")
		s.Cool = s.Heat + rapid.Float64Range(0, 8).Draw(t, "cool")
		s.Max = s.Cool + rapid.Float64Range(0, 8).Draw(t, "max")
		return s
	})
	d.Settings = settings.Draw(t, "settings")
	night, day := settings.Draw(t, "night"), settings.Draw(t, "day")
	d.Schedule = &savings.Schedule{
		Units: savings.Fahrenheit, Enabled: rapid.Bool().Draw(t, "enabled"), Default: night,
		Blocks: []savings.Block{{StartMinute: 420, EndMinute: 1320, Days: []int{1, 2, 3, 4, 5}, Settings: day}},
	}
	in.Devices = []savings.Device{d}
	in.Request = savings.Request{Type: savings.Monthly, Start: savings.Start{Month: ptr(rapid.IntRange(1, 12).Draw(t, "month"))}}
	low := rapid.Float64Range(-0.1, 0.3).Draw(t, "low")
	high := rapid.Float64Range(0, 1).Draw(t, "high")
	from := rapid.IntRange(0, 95).Draw(t, "from")
	in.Prices = func(w pricing.Window) ([]float64, error) {
		all := make([]float64, w.Len())
		for i := range all {
			if all[i] = low; i%96 >= from {
				all[i] = high
			}
		}
		return all, nil
	}
	return in
}

// Savings are never negative. The optimum stays in the band, but where the baseline is out
// of it and then no further.
func TestEstimate_NeverLoses(t *testing.T) {
	base := home(t, chicago, flatRate)
	rapid.Check(t, func(t *rapid.T) {
		r, err := savings.Estimate(drawInput(t, base))
		if err != nil {
			t.Fatal(err)
		}
		if r.Savings < 0 || r.BaselineKwh < 0 || r.OptimizedKwh < 0 || math.IsNaN(r.OptimizedCost) || r.Uncertainty.SavingsLow < 0 {
			t.Fatalf("%+v", r)
		}
		d := r.Devices[0].Day
		if d == nil {
			return
		}
		if len(d.Price) < 92 {
			t.Fatalf("a day of %d quarter hours", len(d.Price))
		}
		for i, got := range d.Optimized.Temperature {
			low := min(d.Least[i], d.Baseline.Temperature[i])
			high := max(d.Greatest[i], d.Baseline.Temperature[i])
			if got < low-1e-6 || got > high+1e-6 {
				t.Fatalf("quarter %d of %v: %v is outside %v to %v", i, d.Date, got, low, high)
			}
		}
	})
}

func TestEstimate_SumsAddUp(t *testing.T) {
	in := home(t, chicago, pgeElec)
	second := device()
	second.ID, second.Units, second.Equipment.CapacityKw = "dev_2", savings.Celsius, 5
	second.Settings = savings.Settings{Mode: savings.Heat, Min: 18, Heat: 20, Cool: 24, Max: 23 + 2}
	second.HeatingRate, second.CoolingRate, second.IrradianceCoefficient = 3, 0, 0.5
	in.Devices = append(in.Devices, second)
	r := estimate(t, in)
	var months, devices savings.Figures
	for _, m := range r.Months {
		months.BaselineCost += m.BaselineCost
		months.OptimizedKwh += m.OptimizedKwh
		if m.Savings < 0 || math.Abs(m.BaselineCost-m.OptimizedCost-m.Savings) > 0.005 {
			t.Errorf("%+v", m)
		}
	}
	for _, d := range r.Devices {
		devices.BaselineCost += d.BaselineCost
		devices.OptimizedKwh += d.OptimizedKwh
	}
	for _, sum := range []savings.Figures{months, devices} {
		if math.Abs(sum.BaselineCost-r.BaselineCost) > 0.005 || math.Abs(sum.OptimizedKwh-r.OptimizedKwh) > 0.005 {
			t.Errorf("sum %+v, total %+v", sum, r.Figures)
		}
	}
	if len(r.Months) != 12 || r.Months[0].Month != 1 || r.Months[11].Year != 2026 {
		t.Errorf("months %+v", r.Months)
	}
	in.Devices = in.Devices[:1]
	if alone := estimate(t, in); alone.Figures != r.Devices[0].Figures {
		t.Errorf("alone %+v, of two %+v", alone.Figures, r.Devices[0].Figures)
	}
}

// TestEstimate_MonthsIndependent checks that a month has the same result alone and in
// a year.
func TestEstimate_MonthsIndependent(t *testing.T) {
	in := home(t, chicago, scePrime)
	year := estimate(t, in)
	for name := 2; name <= 12; name += 5 {
		in.Request = savings.Request{Type: savings.Monthly, Start: savings.Start{Month: &name}}
		alone := estimate(t, in)
		in := year.Months[name-1]
		if math.Abs(alone.Savings-in.Savings) > 0.02 || math.Abs(alone.BaselineCost-in.BaselineCost) > 0.02 {
			t.Errorf("month %d alone %+v, in the year %+v", name, alone.Figures, in.Figures)
		}
	}
}

func TestEstimate_Units(t *testing.T) {
	in := home(t, chicago, peco)
	in.Request.Months = []int{1, 7}
	fahrenheit := estimate(t, in)
	d := &in.Devices[0]
	d.Units = savings.Celsius
	for _, degrees := range []*float64{&d.HeatingRate, &d.CoolingRate, &d.IrradianceCoefficient} {
		*degrees *= 5.0 / 9
	}
	for _, temperature := range []*float64{&d.Settings.Min, &d.Settings.Heat, &d.Settings.Cool, &d.Settings.Max} {
		*temperature = (*temperature - 32) * 5 / 9
	}
	celsius := estimate(t, in)
	if math.Abs(celsius.Savings-fahrenheit.Savings) > 0.02 || math.Abs(celsius.BaselineKwh-fahrenheit.BaselineKwh) > 0.02 {
		t.Errorf("C %+v, F %+v", celsius.Figures, fahrenheit.Figures)
	}
}

func TestEstimate_WiderBand(t *testing.T) {
	in := home(t, chicago, scePrime)
	in.Request.Months = []int{1, 7}
	before := -1.0
	for _, width := range []float64{0, 1, 2, 4} {
		in.Request.TargetHeatSetpoint, in.Request.TargetCoolSetpoint = ptr(68.0), ptr(75.0)
		in.Request.MinTemp, in.Request.MaxTemp = ptr(68-width), ptr(75+width)
		r := estimate(t, in)
		if r.Savings <= before {
			t.Errorf("width %v saves $%v, a narrower one $%v", width, r.Savings, before)
		}
		before = r.Savings
	}
}

func TestEstimate_JSON(t *testing.T) {
	got, err := json.Marshal(estimate(t, home(t, chicago, pgeElec)))
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(got, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields("homeId type currency baselineCost optimizedCost savings savingsPercent baselineKwh optimizedKwh months assumptions uncertainty devices") {
		if _, ok := fields[name]; !ok {
			t.Errorf("no field %s in %s", name, got)
		}
	}
	const month = `[{"year":2026,"month":1,"baselineCost":`
	if !strings.HasPrefix(string(fields["months"]), month) {
		t.Errorf("months %s", fields["months"])
	}
}

func TestEstimate_PriceError(t *testing.T) {
	in := home(t, chicago, flatRate)
	want := errors.New("not in force")
	in.Prices = func(pricing.Window) ([]float64, error) { return nil, want }
	if _, err := savings.Estimate(in); !errors.Is(err, want) {
		t.Errorf("error %v", err)
	}
	in.Prices = func(pricing.Window) ([]float64, error) { return make([]float64, 3), nil }
	if _, err := savings.Estimate(in); err == nil {
		t.Error("three prices for a year are accepted")
	}
}

// TestEstimate_Canceled checks that an error of a rest ends the estimate, so that no
// abandoned estimate continues.
func TestEstimate_Canceled(t *testing.T) {
	want := errors.New("nobody waits")
	in := home(t, chicago, flatRate)
	in.Request = savings.Request{Type: savings.Monthly, Start: savings.Start{Month: ptr(7)}}
	rests, last := 0, 0
	in.Rest = func() error {
		if rests++; rests == last {
			return want
		}
		return nil
	}
	if estimate(t, in); rests < 3 {
		t.Fatalf("%d rests", rests)
	}
	for all := rests; last < all; {
		rests = 0
		last++
		if _, err := savings.Estimate(in); !errors.Is(err, want) || rests != last {
			t.Fatalf("rest %d of %d was to end it; after %d: %v", last, all, rests, err)
		}
	}
}

func BenchmarkAnnualEstimate(b *testing.B) {
	for _, on := range []tariff{flatRate, pgeElec, scePrime, peco} {
		b.Run(on.name, func(b *testing.B) {
			in := home(b, chicago, on)
			known := map[pricing.Window][]float64{} // the pricing is not measured
			prices := in.Prices
			in.Prices = func(w pricing.Window) (values []float64, err error) {
				if known[w] == nil {
					known[w], err = prices(w)
				}
				return known[w], err
			}
			estimate(b, in) // unpacks the year and the prices
			least := time.Duration(math.MaxInt64)
			for b.Loop() {
				before := processorTime(b)
				estimate(b, in)
				least = min(least, processorTime(b)-before)
			}
			b.ReportMetric(float64(least.Microseconds())/1000, "least-cpu-ms")
		})
	}
}

// processorTime returns the processor time of the process. Other processes on a busy
// machine hardly change its minimum.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
