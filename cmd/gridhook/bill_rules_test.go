package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/pricing/bill/billtest"
)

// Solar follows the wall clock like prices: an hour later in summer than by standard
// time. 276.75 interpolates the output of the typical year at the sun of the middle of each
// quarter hour. With the sun at its start it was 239.91: the place is 32 s of solar time west
// of the station, so each quarter hour had the output of the one before.
func TestBill_SolarWallClock(t *testing.T) {
	b := billed(t, nil, "--catalog", "pge-e-elec", "--load", hoursOf(t, 8760, 0.5), "--zipcode", "90012", "--solar-kw", "8")
	if energy := b.Energy - b.Credit; math.Abs(energy-276.75) > 2 {
		t.Errorf("energy less credits is $ %.2f, want near 276.75", energy)
	}
}

func TestBill_NegativeMeter(t *testing.T) {
	const tariff = `{"name":"Sell","energyratestructure":[[{"rate":0.40,"sell":0.05}]]}`
	month := []string{"--tariff", writeFile(t, "tariff.json", tariff), "--load", hoursOf(t, 744, -1), "--step", "1h", "--start", "2026-07-01", "--timezone", "UTC"}
	for metering, want := range map[string]float64{"": -37.20, "net-billing": -37.20, "net-metering": 0} {
		b := billed(t, nil, append(month, "--metering", metering)...)
		if math.Abs(b.Total-want) > 0.005 || b.Months[0].SentKWh != 744 || b.Months[0].DrawnKWh != 0 {
			t.Errorf("metering %q: $ %.2f for %+v, want %.2f", metering, b.Total, b.Months[0], want)
		}
	}
}

// Two months at 0.20 $/kWh and 10 $ a month: the home exports 100 kWh in January and uses
// 300 kWh in February.
func TestBill_Rules(t *testing.T) {
	load := "kwh\n" + strings.Repeat("0\n", 31*24-1) + "-100\n" + strings.Repeat("0\n", 28*24-1) + "300\n"
	args := []string{
		"--tariff", writeFile(t, "tariff.json", flatTariff), "--load", writeFile(t, "load.csv", load),
		"--step", "1h", "--start", "2026-01-01", "--timezone", "UTC", "--metering", "net-metering",
	}
	for name, tt := range map[string]struct {
		rules []string
		want  float64
	}{
		"credits carry over":           {nil, 20 + 40},
		"as energy":                    {[]string{"--carry-over", "kwh"}, 20 + 40},
		"settled in January":           {[]string{"--true-up-month", "1"}, 20 + 60},
		"settled as energy":            {[]string{"--true-up-month", "1", "--carry-over", "kwh"}, 20 + 60},
		"settled at a rate":            {[]string{"--true-up-month", "1", "--surplus-rate", "0.03"}, 20 + 60 - 3},
		"settled at retail":            {[]string{"--true-up-month", "1", "--surplus-rate", "retail"}, 20 + 60 - 20},
		"credits last a month":         {[]string{"--credit-expiry", "1"}, 20 + 40},
		"minimum a month":              {[]string{"--minimum-charge", "25"}, 25 + 10 + 40},
		"minimum a day":                {[]string{"--minimum-charge", "1", "--minimum-charge-unit", "day"}, 31 + 10 + 40},
		"minimum a year":               {[]string{"--minimum-charge", "730", "--minimum-charge-unit", "year"}, 730 * 59 / 365},
		"grid fee":                     {[]string{"--grid-fee", "4"}, 20 + 40 + 8},
		"net billing, the last wins":   {[]string{"--metering", "net-billing"}, 20 + 60 - 5},
		"feed-in at a rate of its own": {[]string{"--metering", "feed-in", "--feed-in-rate", "0.1"}, 20 + 60 - 10},
	} {
		if b := billed(t, nil, slices.Concat(args, tt.rules)...); math.Abs(b.Total-tt.want) > 0.005 {
			t.Errorf("%s: $ %.2f, want %.2f", name, b.Total, tt.want)
		}
	}
}

func TestBill_CreditsAfterTrueUp(t *testing.T) {
	load := writeFile(t, "load.csv", "kwh\n"+strings.Repeat("0\n", 31*24-1)+"100\n"+strings.Repeat("0\n", 28*24-1)+"-50\n")
	args := []string{
		"bill", "--tariff", writeFile(t, "tariff.json", flatTariff), "--load", load, "--step", "1h", "--start", "2026-01-01",
		"--timezone", "UTC", "--metering", "net-metering", "--true-up-month", "1",
	}
	for carried, want := range map[string]string{"dollars": "$ 10.00 and 0 kWh", "kwh": "$ 0.00 and 50 kWh"} {
		if got := run(t, nil, "", append(args, "--carry-over", carried)); !strings.Contains(got.out, want) || !strings.Contains(got.out, "= $ 40.00") {
			t.Errorf("%s: it shows\n%s%s", carried, got.out, got.err)
		}
	}
}

func TestBill_InvalidRules(t *testing.T) {
	args := []string{"bill", "--tariff", writeFile(t, "tariff.json", flatTariff), "--load", hoursOf(t, 8760, 1)}
	for _, tt := range [][]string{
		{"--tier-rule", "none"}, {"--metering", "barter"}, {"--carry-over", "gold"}, {"--true-up-month", "13"}, {"--surplus-rate", "much"},
		{"--minimum-charge-unit", "week"}, {"--credit-expiry", "-1"}, {"--calendar-year", "2028"}, {"--calendar-year", "2027", "--start", "2026-01-01", "--timezone", "UTC"}, {"--generated", writeFile(t, "short.csv", "1\n")},
	} {
		if got := run(t, nil, "", append(args, tt...)); got.code == 0 || got.err == "" {
			t.Errorf("%v: exit %d, %s", tt, got.code, got.err)
		}
	}
}

// The command reproduces every published bill of OpenStudio-HPXML to the dollar.
func TestBill_OpenStudioHPXML(t *testing.T) {
	columns := map[string]string{}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	column := func(name string, values []float64) string {
		if columns[name] == "" {
			var b strings.Builder
			b.WriteString("kWh\n")
			for _, v := range values {
				b.WriteString(number(v) + "\n")
			}
			columns[name] = writeFile(t, strconv.Itoa(len(columns))+".csv", b.String())
		}
		return columns[name]
	}
	for _, c := range billtest.HPXML(t) {
		args := []string{
			"--tariff", c.RateFile, "--load", column(c.LoadColumn, c.Load), "--tier-rule", "prorated", "--calendar-year", "2007",
			"--metering", strings.TrimSuffix(strings.ReplaceAll(c.Metering, "_", "-"), "-tariff"), "--feed-in-rate", number(c.FeedIn),
			"--surplus-rate", number(c.SellRate), "--grid-fee", number(c.Fee + c.FeePerKW*c.PVKW),
		}
		if c.Sellback == "retail" {
			args = append(args, "--surplus-rate", "retail")
		}
		if c.PVColumn != "" {
			args = append(args, "--generated", column(c.PVColumn, c.Generated))
		}
		b := billed(t, nil, args...)
		for what, pair := range map[string][2]float64{"fixed": {b.Fixed, c.Expected.Fixed}, "energy": {b.Energy, c.Expected.Energy}, "credit": {-b.Credit, c.Expected.Credit}} {
			if !(math.Abs(pair[0]-pair[1]) <= c.Tolerance) {
				t.Errorf("%s: %s: $ %.2f, want %.2f", c.Name, what, pair[0], pair[1])
			}
		}
	}
}

// The command reproduces every bill of SAM to the dollar.
func TestBill_SAM(t *testing.T) {
	words := strings.NewReplacer("_", "-")
	for i, c := range billtest.SAM(t) {
		file := func(name, text string) string { return writeFile(t, strconv.Itoa(i)+name, text) }
		series := func(name string, values []float64) string {
			var b strings.Builder
			b.WriteString("kWh\n")
			for _, v := range values {
				b.WriteString(strconv.FormatFloat(v, 'g', -1, 64) + "\n")
			}
			return file(name, b.String())
		}
		r := &c.Request
		args := []string{
			"--tariff", file("tariff.json", string(c.Tariff)), "--load", series("load.csv", r.Load), "--calendar-year", "2007",
			"--metering", words.Replace(strings.ToLower(string(r.Metering))), "--surplus-rate", fmt.Sprint(r.SurplusRate),
		}
		if len(r.Generated) > 0 {
			args = append(args, "--generated", series("generated.csv", r.Generated))
		}
		for flag, value := range map[string]string{"--tier-rule": string(r.Tiers), "--carry-over": string(r.Rollover), "--minimum-charge-unit": r.MinimumUnit} {
			if value != "" {
				args = append(args, flag, words.Replace(strings.ToLower(value)))
			}
		}
		if r.SurplusRetail {
			args = append(args, "--surplus-rate", "retail")
		}
		if r.TrueUpMonth != 0 {
			args = append(args, "--true-up-month", strconv.Itoa(r.TrueUpMonth))
		}
		if r.Minimum != nil {
			args = append(args, "--minimum-charge", fmt.Sprint(*r.Minimum))
		}
		if b := billed(t, nil, args...); math.Abs(b.Total-c.Want) > 1 {
			t.Errorf("%s: $ %.2f, want %.2f", c.Name, b.Total, c.Want)
		}
	}
}
