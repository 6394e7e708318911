package pricing_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/pricing/urdb"
)

// oracle prices one instant in the plainest way, from the raw document and the standard
// library's local time, without the package under test.
type oracle struct {
	EnergyRateStructure [][]struct {
		Rate, Adj, Sell float64
	}
	EnergyWeekdaySchedule [][]float64
	EnergyWeekendSchedule [][]float64
	Riders                []struct{ Rate float64 }
}

func newOracle(t testing.TB, data []byte) oracle {
	t.Helper()
	var wrapped struct{ Items []json.RawMessage }
	if json.Unmarshal(data, &wrapped) == nil && len(wrapped.Items) == 1 {
		data = wrapped.Items[0]
	}
	var o oracle
	if err := json.Unmarshal(data, &o); err != nil {
		t.Fatalf("oracle: %v", err)
	}
	return o
}

func (o oracle) at(instant time.Time, location *time.Location) (imports, sells float64) {
	local := instant.In(location)
	rows := o.EnergyWeekdaySchedule
	if day := local.Weekday(); (day == time.Saturday || day == time.Sunday) && o.EnergyWeekendSchedule != nil {
		rows = o.EnergyWeekendSchedule
	}
	row := rows[local.Month()-1]
	minute := local.Hour()*60 + local.Minute()
	tier := o.EnergyRateStructure[int(row[minute*len(row)/(24*60)])][0]
	imports = tier.Rate + tier.Adj
	for _, rider := range o.Riders {
		imports += rider.Rate
	}
	return imports, tier.Sell
}

// check compares every interval of a priced window with the oracle.
func (o oracle) check(t *testing.T, tariff *pricing.Tariff, location *time.Location, w pricing.Window) {
	t.Helper()
	c := price(t, pricing.Input{Tariff: tariff, Location: location}, w)
	if want := int(w.End.Sub(w.Start) / (15 * time.Minute)); c.Len() != want {
		t.Fatalf("%v: %d intervals, want %d", location, c.Len(), want)
	}
	start := w.Start
	for i := range c.Len() {
		imports, sells := o.at(start, location)
		exports := sells
		if c.ExportCompensation.Type == pricing.NetMetering {
			exports = imports
		}
		if !sameRate(c.Import[i], imports) || !sameRate(c.Price[i], imports) || !sameRate(c.Export[i], exports) || c.Confidence[i] != 1 {
			t.Fatalf("%v, %v (%v): import %v, price %v, export %v, confidence %v; the oracle has import %v, export %v",
				location, start, start.In(location), c.Import[i], c.Price[i], c.Export[i], c.Confidence[i], imports, exports)
		}
		start = start.Add(15 * time.Minute)
	}
}

// sameRate reports whether got is want to six decimals.
func sameRate(got, want float64) bool {
	return math.Abs(got-want) <= 0.5e-6+1e-12
}

// oracleZones have a clock change in each hemisphere, none at all, one at midnight, one
// of half an hour, and an odd offset.
var oracleZones = []string{
	"America/Los_Angeles", "America/New_York", "America/Phoenix", "America/Havana", "Australia/Lord_Howe", "Asia/Kathmandu",
}

func TestPrice_OracleYears(t *testing.T) {
	leapYear := window("2023-12-20T00:00:00Z", "2025-01-10T00:00:00Z")
	for _, plan := range catalog.Plans() {
		t.Run(plan.ID, func(t *testing.T) {
			t.Parallel()
			data := withoutDates(t, plan.URDB) // the clock is under test here
			tariff, err := urdb.Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			o := newOracle(t, data)
			for _, name := range oracleZones {
				o.check(t, tariff, zone(t, name), leapYear)
			}
		})
	}
}

// withoutDates returns the newest version of a plan, always in force and without holidays,
// export values and doubts.
func withoutDates(t *testing.T, plan []byte) []byte {
	t.Helper()
	var rate map[string]any
	if err := json.Unmarshal(plan, &rate); err != nil {
		t.Fatal(err)
	}
	if items, ok := rate["items"].([]any); ok {
		rate = items[len(items)-1].(map[string]any)
	}
	rate["holidays"] = []any{}
	for _, key := range []string{"startdate", "exportvalues", "sourcedate", "confidence"} {
		delete(rate, key)
	}
	data, err := json.Marshal(rate)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestPrice_OracleFinerSchedules(t *testing.T) {
	half := apsSaverChoicePlus().
		With("energyweekdayschedule", year("0x31 1x9 0x8", "0x30 2x11 0x7")).
		With("energyweekendschedule", year("0x95 1x1", "2x1 0x95")).With("holidays", false)
	data := half.JSON(t)
	for _, name := range oracleZones {
		newOracle(t, data).check(t, half.Parse(t), zone(t, name), window("2026-01-01T00:00:00Z", "2027-01-02T00:00:00Z"))
	}
}
