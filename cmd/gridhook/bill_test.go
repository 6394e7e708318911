package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/pricing/bill"
	"github.com/gridhook/gridhook/pricing/catalog"
)

// flatTariff costs 0.20 $/kWh and 10 $ a month, and pays 0.05 $/kWh.
const flatTariff = `{"name":"Flat","fixedchargefirstmeter":10,"fixedchargeunits":"$/month","energyratestructure":[[{"rate":0.20,"sell":0.05}]]}`

// hoursOf returns a file of hours with the same energy.
func hoursOf(t *testing.T, hours int, kwh float64) string {
	t.Helper()
	return writeFile(t, "load.csv", "hour,kwh\n"+strings.Repeat("x,"+strconv.FormatFloat(kwh, 'g', -1, 64)+"\n", hours))
}

func billed(t *testing.T, f *fake, args ...string) (b bill.Bill) {
	t.Helper()
	got := run(t, f, "", append([]string{"bill", "--json"}, args...))
	if got.code != 0 {
		t.Fatalf("%v: exit %d: %s", args, got.code, got.err)
	}
	if err := json.Unmarshal([]byte(got.out), &b); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBill(t *testing.T) {
	tariff := writeFile(t, "tariff.json", flatTariff)
	year := hoursOf(t, 8760, 1)
	for _, tt := range []struct {
		name   string
		args   []string
		total  float64
		months int
	}{
		{"a typical year", []string{"--load", year}, 120 + 0.2*8760, 12},
		{"a metered month", []string{"--load", hoursOf(t, 31*24, 1), "--start", "2026-07-01", "--step", "1h", "--timezone", "America/Denver"}, 10 + 0.2*744, 1},
		{"a metered year with clock changes", []string{"--load", year, "--start", "2026-01-01", "--zipcode", "60614"}, 120 + 0.2*8760, 12},
		{"assumed energy", []string{"--annual-kwh", "9000", "--zipcode", "60614"}, 120 + 0.2*9000, 12},
	} {
		b := billed(t, nil, append(tt.args, "--tariff", tariff)...)
		if math.Abs(b.Total-tt.total) > 1 || len(b.Months) != tt.months || math.Abs(b.Fixed+b.Energy-b.Credit-b.Total) > 1e-9 {
			t.Errorf("%s: $ %.2f in %d months, want %.2f in %d", tt.name, b.Total, len(b.Months), tt.total, tt.months)
		}
	}
}

func TestBill_Solar(t *testing.T) {
	tariff := writeFile(t, "tariff.json", flatTariff)
	args := []string{"--tariff", tariff, "--annual-kwh", "9000", "--zipcode", "85004"}
	without := billed(t, nil, args...)
	with := billed(t, nil, append(args, "--solar-kw", "6")...)
	flat := billed(t, nil, append(args, "--solar-kw", "6", "--tilt", "90", "--azimuth", "0")...)
	sent, solar := 0.0, 0.0
	for _, m := range with.Months {
		sent, solar = sent+m.SentKWh, solar+m.SolarKWh
	}
	if want := 0.2*(solar-sent) + 0.05*sent; math.Abs(with.Credit-want) > 0.01 || math.Abs(without.Total-with.Total-want) > 0.01 || solar < 9000 || solar > 11500 {
		t.Errorf("%.0f kWh of solar save $ %.2f, want %.2f", solar, with.Credit, want)
	}
	if flat.Credit >= with.Credit {
		t.Errorf("modules to the north save $ %.2f, to the south %.2f", flat.Credit, with.Credit)
	}
}

// The sun of a bill is that of the home's climate, and the bill names the station.
func TestBill_StationOfSun(t *testing.T) {
	args := []string{"--tariff", writeFile(t, "tariff.json", flatTariff), "--annual-kwh", "9000", "--solar-kw", "6", "--zipcode"}
	for zipcode, want := range map[string]string{"99501": "Anchorage", "93721": "Fresno"} {
		b := billed(t, nil, append(args, zipcode)...)
		if !strings.Contains(b.Sun, want) || !strings.Contains(b.Sun, "km away") {
			t.Errorf("%s: the sun is of %q, want %s", zipcode, b.Sun, want)
		}
	}
}

// The bill of a Green Button file takes its days and steps from the file.
func TestBill_GreenButton(t *testing.T) {
	const feed = `<feed xmlns="http://www.w3.org/2005/Atom"><entry><content><LocalTimeParameters><tzOffset>-28800</tzOffset></LocalTimeParameters></content></entry>
<entry><link rel="self" href="/ReadingType/1"/><content><ReadingType><flowDirection>1</flowDirection><uom>72</uom></ReadingType></content></entry>
<entry><link rel="up" href="/MeterReading/1/IntervalBlock"/><content><IntervalBlock>%s</IntervalBlock></content></entry></feed>`
	const reading = `<IntervalReading><timePeriod><duration>3600</duration><start>%d</start></timePeriod><value>1000</value></IntervalReading>`
	var readings strings.Builder
	for hour := range 24 {
		fmt.Fprintf(&readings, reading, 1_782_889_200+3600*hour) // from 2026-07-01 in Los Angeles
	}
	file := writeFile(t, "usage.xml", fmt.Sprintf(feed, readings.String()))
	args := []string{"--tariff", writeFile(t, "tariff.json", flatTariff), "--zipcode", "90012", "--load"}
	b := billed(t, nil, append(args, file)...)
	if len(b.Months) != 1 || math.Abs(b.Energy-0.2*24) > 1e-9 {
		t.Errorf("the bill is %+v, want a month with 24 kWh", b)
	}
	got := run(t, nil, "", append([]string{"bill"}, append(args, writeFile(t, "cut.xml", "<feed>"))...))
	if got.code == 0 || !strings.Contains(got.err, "cut.xml: the Green Button file does not decode") {
		t.Errorf("a file that is cut off: exit %d, %s", got.code, got.err)
	}
}

func TestBill_HomeMatchesServer(t *testing.T) {
	f := newFake(t)
	f.on("/v1/homes/h1/bill", ok(`{"months":[],"total":320}`))
	if b := billed(t, f, "h1", "--org", "acme", "--annual-kwh", "1000", "--tilt", "0", "--metering", "net-billing", "--catalog", "pge-ev2-a"); b.Total != 320 {
		t.Errorf("$ %.2f, want 320", b.Total)
	}
	for _, want := range []string{`"annualKwh":1000`, `"tilt":0`, `"metering":"NET_BILLING"`, `"tariff":{`} {
		if !strings.Contains(f.last().body, want) {
			t.Errorf("it requests %.300s, want ...%s...", f.last().body, want)
		}
	}
}

// A partner's key determines the organization.
func TestBill_Partner(t *testing.T) {
	f := newFake(t)
	f.on("/v1/homes/h1/bill", ok(`{"months":[],"total":320}`))
	got := run(t, nil, "", []string{"bill", "h1", "--json", "--api-url", f.URL}, "GRIDHOOK_API_KEY=ghk_1")
	if got.code != 0 || !strings.Contains(got.out, "320") || f.last().key != "ghk_1" {
		t.Errorf("exit %d: %s%s", got.code, got.out, got.err)
	}
}

func TestBill_PlanOfServer(t *testing.T) {
	f := newFake(t)
	e, _ := catalog.ByID("pge-e-elec")
	f.on("/v1/admin/plans/e/get", ok(`{"id":"e","tariff":`+string(e.URDB)+`}`))
	stored, chosen := billed(t, f, "--plan", "e", "--zipcode", "94103", "--annual-kwh", "9000"), billed(t, nil, "--catalog", "pge-e-elec", "--zipcode", "94103", "--annual-kwh", "9000")
	if stored.Total != chosen.Total || stored.Total < 1500 {
		t.Errorf("$ %.2f by the server's plan, %.2f by the catalog's", stored.Total, chosen.Total)
	}
}

func TestBill_Table(t *testing.T) {
	tariff := writeFile(t, "tariff.json", flatTariff)
	got := run(t, nil, "", []string{"bill", "--tariff", tariff, "--load", hoursOf(t, 31*24, 1), "--start", "2026-07-01", "--step", "1h", "--zipcode", "60614"})
	want := "MONTH       USED kWh  SOLAR kWh  DRAWN kWh  SENT kWh  FIXED $  ENERGY $  CREDIT $\n" +
		"2026-07-01  744       0          744        0         10.00    148.80    0.00\n\nfixed 10.00 + energy 148.80 - credit 0.00 = $ 158.80\n"
	if got.out != want {
		t.Errorf("it shows\n%s%s", got.out, got.err)
	}
	got = run(t, nil, "", []string{"bill", "--catalog", "pge-e-elec", "--zipcode", "94103", "--annual-kwh", "9000", "--solar-kw", "6"})
	if !strings.Contains(got.out, "\nENERGY is the cost of all used kWh without solar, CREDIT is what the solar saves.\n") {
		t.Errorf("with solar it shows\n%s%s", got.out, got.err)
	}
}

// TestNumbers_ByteOrderMark checks that the mark of a spreadsheet does not hide the first value.
func TestNumbers_ByteOrderMark(t *testing.T) {
	if got, err := readAs("-", strings.NewReader(byteOrderMark+"1.5\n2\n"), numbers); err != nil || !slices.Equal(got, []float64{1.5, 2}) {
		t.Errorf("it reads %v, %v", got, err)
	}
}

func TestBill_MissingInput(t *testing.T) {
	tariff := writeFile(t, "tariff.json", flatTariff)
	market := writeFile(t, "market.json", `{"name":"Hourly","market":{"node":"N","market":"REAL_TIME"},"energyratestructure":[[{"rate":0}]]}`)
	f := newFake(t)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--annual-kwh", "1", "--zipcode", "60614"}, "name a home"},
		{[]string{"--tariff", tariff}, "--zipcode"},
		{[]string{"--tariff", tariff, "--annual-kwh", "9000"}, "--zipcode"},
		{[]string{"--tariff", tariff, "--annual-kwh", "9000", "--zipcode", "00000"}, "is unknown"},
		{[]string{"--tariff", tariff, "--annual-kwh", "-1", "--zipcode", "60614"}, "above 0"},
		{[]string{"--tariff", tariff, "--load", hoursOf(t, 100, 1)}, "--step"},
		{[]string{"--tariff", tariff, "--load", writeFile(t, "bad.csv", "1\n2\nmany\n")}, `line 3: "many" is not a number`},
		{[]string{"--tariff", tariff, "--load", writeFile(t, "nan.csv", "1\nNaN\n")}, `nan.csv: line 2: "NaN" is not a finite number`},
		{[]string{"--tariff", tariff, "--load", writeFile(t, "none.csv", "kwh\n")}, "no numbers"},
		{[]string{"--tariff", tariff, "--load", hoursOf(t, 744, 1), "--step", "1h", "--solar-kw", "5", "--zipcode", "60614"}, "typical year"},
		{[]string{"--tariff", tariff, "--load", hoursOf(t, 744, 1), "--step", "1h", "--start", "July", "--timezone", "UTC"}, "--start"},
		{[]string{"--tariff", market, "--annual-kwh", "1", "--zipcode", "60614"}, "follow a market"},
		{[]string{"--catalog", "none", "--annual-kwh", "1"}, "catalog"},
		{[]string{"h1", "--annual-kwh", "1"}, "--org"},
		{[]string{"h1", "--org", "acme", "--annual-kwh", "1", "--zipcode", "60614"}, "conflict with a home"},
	} {
		if got := run(t, f, "", append([]string{"bill"}, tt.args...)); got.code == 0 || !strings.Contains(got.err, tt.want) {
			t.Errorf("%v: exit %d, %s, want ...%s...", tt.args, got.code, got.err, tt.want)
		}
	}
}
