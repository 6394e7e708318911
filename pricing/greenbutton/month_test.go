package greenbutton_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the tests need the same zones on every machine

	"github.com/gridhook/gridhook/pricing/greenbutton"
)

// pacificDST is the LocalTimeParameters of PG&E's sample.
const pacificDST = `<entry><content><espi:LocalTimeParameters><espi:dstEndRule>B40E2000</espi:dstEndRule><espi:dstOffset>3600</espi:dstOffset>
	<espi:dstStartRule>360E2000</espi:dstStartRule><espi:tzOffset>-28800</espi:tzOffset></espi:LocalTimeParameters></content></entry>`

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// hours returns a value for each hour between two local days, such as 2026-07-01.
func hours(z *time.Location, from, to string, value func(time.Time) int) map[int]int {
	start, _ := time.ParseInLocation(time.DateOnly, from, z)
	end, _ := time.ParseInLocation(time.DateOnly, to, z)
	all := map[int]int{}
	for at := start; at.Before(end); at = at.Add(time.Hour) {
		all[int((at.Unix()-midnight)/3600)] = value(at)
	}
	return all
}

func read(t *testing.T, file string) *greenbutton.Readings {
	t.Helper()
	r, err := greenbutton.Read(strings.NewReader(header + file + `</feed>`))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func months(t *testing.T, file string, z *time.Location) []greenbutton.Month {
	t.Helper()
	all, err := read(t, file).Months(z)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A month's hours of the day follow the wall clock, also on the days of 23 and of 25 hours.
func TestMonths_ClockChanges(t *testing.T) {
	z := zone(t, "America/Los_Angeles")
	byHour := func(at time.Time) int { return 100 * (1 + at.In(z).Hour()) }
	for _, tt := range []struct {
		from, to string
	}{{"2026-03-01", "2026-04-01"}, {"2026-11-01", "2026-12-01"}} { // of 743 and 721 hours
		got := months(t, readingType("in", 1, 72, 0)+block("a", hours(z, tt.from, tt.to, byHour)), z)
		if len(got) != 1 || got[0].MissingHours != 0 || got[0].Month != tt.from[:len("2026-03")] {
			t.Fatalf("%s: %+v", tt.from, got)
		}
		for hour, watts := range got[0].Watts {
			if watts != 100*(1+hour) {
				t.Errorf("%s: %d W in hour %d, want %d", tt.from, watts, hour, 100*(1+hour))
			}
		}
	}
}

func TestMonths_GapsAndExports(t *testing.T) {
	z := zone(t, "America/Los_Angeles")
	in := hours(z, "2026-07-01", "2026-08-03", func(time.Time) int { return 500 })
	out := hours(z, "2026-07-01", "2026-08-03", func(at time.Time) int {
		if at.In(z).Hour() == 12 {
			return 2
		}
		return 0
	})
	delete(in, 30)
	delete(out, 31) // a step without one direction is missing
	got := months(t, readingType("in", 1, 72, 0)+readingType("out", 19, 72, 3)+meter("a", "in")+meter("b", "out")+block("a", in)+block("b", out), z)
	if len(got) != 2 {
		t.Fatalf("%d months", len(got))
	}
	july, august := got[0], got[1]
	if july.MissingHours != 2 || math.Abs(july.KWh-0.5*742) > 1e-9 || july.ExportKWh == nil || math.Abs(*july.ExportKWh-62) > 1e-9 {
		t.Errorf("July is %+v", july)
	}
	if july.Watts[11] != 500 || july.Watts[12] != -1500 {
		t.Errorf("July has %v W", july.Watts)
	}
	if august.MissingHours != 29*24 || august.KWh != 24 {
		t.Errorf("August is %+v", august)
	}
}

// Two meters of a home add up. An hour that one of them lacks is missing, unless that meter
// is not in use yet: 740 hours of 500 Wh and then 500 + 250 Wh, without the hour 742.
func TestMonths_TwoMeters(t *testing.T) {
	z := zone(t, "America/Los_Angeles")
	first := hours(z, "2026-07-01", "2026-08-01", func(time.Time) int { return 500 })
	second := map[int]int{740: 250, 741: 250, 743: 250}
	other := strings.NewReplacer("/UsagePoint/1/", "/UsagePoint/2/")
	got := months(t, readingType("in", 1, 72, 0)+meter("a", "in")+other.Replace(meter("a", "in"))+block("a", first)+other.Replace(block("a", second)), z)
	if want := 0.5*740 + 0.75*3; len(got) != 1 || got[0].MissingHours != 1 || math.Abs(got[0].KWh-want) > 1e-9 {
		t.Errorf("%+v, want %v kWh and an hour missing", got, want)
	}
}

// A meter that counts backwards has one direction with negative values.
func TestMonths_NegativeValues(t *testing.T) {
	got := months(t, readingType("net", 4, 72, 0)+block("a", map[int]int{0: 500, 1: -700}), zone(t, "America/Los_Angeles"))
	if m := got[0]; m.KWh != 0.5 || m.ExportKWh == nil || math.Abs(*m.ExportKWh-0.7) > 1e-9 || m.Watts[0] != 500 || m.Watts[1] != -700 || m.Watts[2] != -100 {
		t.Errorf("it is %+v; an hour without readings has the mean of -100 W", m)
	}
}

func TestMonths_TooLongIntervals(t *testing.T) {
	file := readingType("in", 1, 72, 0) + strings.ReplaceAll(block("a", map[int]int{0: 1}), "3600", "86400")
	if _, err := read(t, file).Months(time.UTC); err == nil || !strings.Contains(err.Error(), "intervals of 24h0m0s") {
		t.Errorf("days: %v", err)
	}
}

// The local time of a file follows its rules of daylight saving time.
func TestOtherClock(t *testing.T) {
	in := readingType("in", 1, 72, 0)
	summerAndWinter := block("a", map[int]int{0: 1, 24 * 180: 1})
	for _, tt := range []struct{ parameters, zone, want string }{
		{pacificDST, "America/Los_Angeles", ""},
		{pacificDST, "America/New_York", "UTC-07:00 at 2026-07-01T07:00:00Z"},
		{pacificDST, "America/Phoenix", "UTC-08:00 at 2026-12-28T07:00:00Z"}, // differs in winter only
		{pacific, "America/New_York", ""},                                    // without rules the file's summer is not known
		{"", "America/New_York", ""},
	} {
		if got := read(t, tt.parameters+in+summerAndWinter).OtherClock(zone(t, tt.zone)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.zone, got, tt.want)
		}
	}
}

// With rules, a file that begins at 23:00 of standard time in winter does not begin at
// midnight.
func TestDay_FollowsRules(t *testing.T) {
	z := zone(t, "America/Los_Angeles")
	winter := hours(z, "2026-12-01", "2026-12-02", func(time.Time) int { return 1 })
	summer := hours(z, "2026-07-01", "2026-07-02", func(time.Time) int { return 1 })
	for want, values := range map[string]map[int]int{"2026-12-01": winter, "2026-07-01": summer} {
		u, err := usage(header + pacificDST + readingType("in", 1, 72, 0) + block("a", values) + `</feed>`)
		if err != nil {
			t.Fatal(err)
		}
		if day, err := u.Day(); day != want || err != nil {
			t.Errorf("%s, %v, want %s", day, err, want)
		}
	}
	late, err := usage(header + pacificDST + readingType("in", 1, 72, 0) + block("a", map[int]int{24*180 - 1: 1}) + `</feed>`)
	if err != nil {
		t.Fatal(err)
	}
	if day, err := late.Day(); err == nil {
		t.Errorf("23:00 is the start of %s", day)
	}
}

func summary(kind string, start, days, kwh, asOf int) string {
	current := ""
	if asOf != 0 {
		current = fmt.Sprintf(`<espi:currentBillingPeriodOverAllConsumption><espi:timeStamp>%d</espi:timeStamp><espi:uom>72</espi:uom><espi:value>1</espi:value></espi:currentBillingPeriodOverAllConsumption>`, asOf)
	}
	return fmt.Sprintf(`<entry><content><espi:%[1]s><espi:billingPeriod><espi:duration>%[3]d</espi:duration><espi:start>%[2]d</espi:start></espi:billingPeriod>
		<espi:overallConsumptionLastPeriod><espi:powerOfTenMultiplier>3</espi:powerOfTenMultiplier><espi:uom>72</espi:uom><espi:value>%[4]d</espi:value></espi:overallConsumptionLastPeriod>%[5]s
		</espi:%[1]s></content></entry>`, kind, start, days*86400, kwh, current)
}

// The intervals of a billing period add up to its summary: as drawn, or as net energy.
func TestRead_Summaries(t *testing.T) {
	z := zone(t, "America/Los_Angeles")
	in := hours(z, "2026-07-01", "2026-07-21", func(time.Time) int { return 1000 })
	out := hours(z, "2026-07-01", "2026-07-21", func(time.Time) int { return 250 })
	types := readingType("in", 1, 72, 0) + readingType("out", 19, 72, 0) + meter("a", "in") + meter("b", "out")
	gap := hours(z, "2026-07-01", "2026-07-21", func(time.Time) int { return 1000 })
	delete(gap, 24)
	second := strings.NewReplacer("/UsagePoint/1/", "/UsagePoint/2/")
	for name, tt := range map[string]struct {
		file, want string
	}{
		"drawn":           {types + block("a", in) + block("b", out) + summary("UsageSummary", midnight, 10, 240, 0), ""},
		"net":             {types + block("a", in) + block("b", out) + summary("ElectricPowerUsageSummary", midnight, 10, 180, 0), ""},
		"4.6 kWh allowed": {types + block("a", in) + summary("UsageSummary", midnight, 10, 244, 0), ""},
		"of one of two meters": {
			types + block("a", in) + second.Replace(meter("a", "in")+block("a", in)) + summary("UsageSummary", midnight, 10, 240, 0), "",
		},
		"wrong":              {types + block("a", in) + summary("UsageSummary", midnight, 10, 245, 0), "intervals of 240.000 kWh from 2026-07-01T07:00:00Z to 2026-07-11T07:00:00Z, but its UsageSummary of that time has 245.000 kWh"},
		"a later period":     {types + block("a", in) + summary("UsageSummary", midnight+15*86400, 10, 1, 0), ""},
		"with a gap":         {types + block("a", gap) + summary("UsageSummary", midnight, 10, 1, 0), ""},
		"during the period":  {types + block("a", in) + summary("UsageSummary", midnight, 10, 1, midnight+86400), ""},
		"after the period":   {types + block("a", in) + summary("UsageSummary", midnight, 10, 1, midnight+11*86400), "its UsageSummary"},
		"of another unit":    {types + block("a", in) + strings.ReplaceAll(summary("UsageSummary", midnight, 10, 1, 0), ">72<", ">169<"), ""},
		"too many summaries": {types + strings.Repeat(summary("UsageSummary", midnight, 10, 240, 0), 1001) + block("a", in), "more than 1000 summaries"},
	} {
		_, err := greenbutton.Read(strings.NewReader(header + tt.file + `</feed>`))
		if (tt.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}
