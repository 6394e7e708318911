package pricing_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/urdb"
)

// fullOracle prices one instant in the plainest way, with all parts of a tariff's price
// per kWh. It shares nothing with the package under test: its own document form, holidays
// and running total.
type fullOracle struct {
	versions []fullVersion
	usage    pricing.Usage
	location *time.Location
}

type fullVersion struct {
	StartDate             string           `json:"startdate,omitempty"`
	Name                  string           `json:"name"`
	EnergyRateStructure   [][]fullTier     `json:"energyratestructure"`
	EnergyWeekdaySchedule [12][]int        `json:"energyweekdayschedule"`
	EnergyWeekendSchedule [12][]int        `json:"energyweekendschedule"`
	Holidays              []string         `json:"holidays"`
	Riders                []map[string]any `json:"riders"`
	Baseline              [12]float64      `json:"baseline"`
}

type fullTier struct {
	Max  float64 `json:"max,omitempty"`
	Unit string  `json:"unit"`
	Rate float64 `json:"rate"`
	Adj  float64 `json:"adj"`
}

// randomOracle makes a tariff of two versions, the second from 1 June, and a home that
// uses it.
func randomOracle(random *rand.Rand, location *time.Location) *fullOracle {
	o := &fullOracle{location: location}
	o.versions = []fullVersion{randomVersion(random, ""), randomVersion(random, "2024-06-01")}
	o.usage = pricing.Usage{DailyKWh: random.Float64() * 80, BillingDay: random.IntN(29)}
	if random.IntN(2) == 0 {
		o.usage.BaselineDailyKWh = 5 + random.Float64()*20
	}
	if random.IntN(2) == 0 {
		o.usage.AsOf = pricing.Date{Year: 2024, Month: time.Month(1 + random.IntN(12)), Day: 1 + random.IntN(28)}
		o.usage.MonthToDateKWh = random.Float64() * 1500
	}
	return o
}

func randomVersion(random *rand.Rand, from string) fullVersion {
	v := fullVersion{StartDate: from, Name: "Random"}
	periods := 1 + random.IntN(5)
	for range periods {
		v.EnergyRateStructure = append(v.EnergyRateStructure, randomTiers(random))
	}
	columns := []int{24, 48, 96}[random.IntN(3)]
	for month := range 12 {
		v.Baseline[month] = 5 + math.Round(random.Float64()*200)/10
		for range columns {
			v.EnergyWeekdaySchedule[month] = append(v.EnergyWeekdaySchedule[month], random.IntN(periods))
			v.EnergyWeekendSchedule[month] = append(v.EnergyWeekendSchedule[month], random.IntN(periods))
		}
	}
	for range random.IntN(10) {
		day := time.Date(2024, time.January, 1+random.IntN(366), 0, 0, 0, 0, time.UTC)
		v.Holidays = append(v.Holidays, day.Format(time.DateOnly))
	}
	for range random.IntN(4) {
		rider := map[string]any{"rate": math.Round(random.Float64()*5000-1000) / 1e5}
		if random.IntN(3) == 0 {
			rider = map[string]any{"rate": math.Round(random.Float64()*800) / 100, "unit": "%"}
		}
		if random.IntN(2) == 0 {
			rider["startdate"], rider["enddate"] = "2024-03-10", "2024-11-03"
		}
		v.Riders = append(v.Riders, rider)
	}
	return v
}

func randomTiers(random *rand.Rand) []fullTier {
	var tiers []fullTier
	unit, bound := "kWh", 0.0
	scale := map[string]float64{"kWh": 400, "kWh daily": 15, "baseline": 1.3}
	switch random.IntN(3) {
	case 0:
		unit = "kWh daily"
	case 1:
		unit = "baseline"
	}
	for range random.IntN(3) {
		bound += scale[unit] * (0.5 + random.Float64())
		tiers = append(tiers, fullTier{Max: bound, Unit: unit, Rate: random.Float64() / 2, Adj: random.Float64()/20 - 0.02})
	}
	return append(tiers, fullTier{Unit: unit, Rate: random.Float64() / 2})
}

func (o *fullOracle) tariff(t *testing.T) *pricing.Tariff {
	t.Helper()
	data, err := json.Marshal(map[string]any{"items": o.versions})
	if err != nil {
		t.Fatal(err)
	}
	tariff, err := urdb.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return tariff
}

// at returns the import price of one kWh more at an instant.
func (o *fullOracle) at(instant time.Time) float64 {
	local := instant.In(o.location)
	day := local.Format(time.DateOnly)
	v := o.versions[0]
	if day >= o.versions[1].StartDate {
		v = o.versions[1]
	}
	rows := v.EnergyWeekdaySchedule
	if wd := local.Weekday(); wd == time.Saturday || wd == time.Sunday {
		rows = v.EnergyWeekendSchedule
	}
	for _, holiday := range v.Holidays {
		if holiday == day {
			rows = v.EnergyWeekendSchedule
		}
	}
	row := rows[local.Month()-1]
	minute := local.Hour()*60 + local.Minute()
	tiers := v.EnergyRateStructure[row[minute*len(row)/(24*60)]]
	used, days := o.used(local)
	allowance := o.allowance(&v.Baseline, local)
	tier := tiers[len(tiers)-1]
	for i := len(tiers) - 2; i >= 0; i-- {
		bound := tiers[i].Max * map[string]float64{"kWh": 1, "kWh daily": days, "baseline": allowance}[tiers[i].Unit]
		if used < bound {
			tier = tiers[i]
		}
	}
	price, tax := tier.Rate+tier.Adj, 1.0
	for _, rider := range v.Riders {
		if from, ok := rider["startdate"]; ok && (day < from.(string) || day > rider["enddate"].(string)) {
			continue
		}
		if rider["unit"] == "%" {
			tax += rider["rate"].(float64) / 100
		} else {
			price += rider["rate"].(float64)
		}
	}
	return price * tax
}

// used adds the usage day by day from the first day of the billing month.
func (o *fullOracle) used(local time.Time) (kwh, days float64) {
	today := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, time.UTC)
	first := o.firstOfMonth(today)
	next := first.AddDate(0, 1, 0)
	days = next.Sub(first).Hours() / 24
	perDay := o.usage.DailyKWh
	start, from := 0.0, first
	if d := o.usage.AsOf; !d.IsZero() {
		asOf := time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC)
		switch {
		case asOf.Before(first) || !asOf.Before(next):
		case today.Before(asOf):
			perDay = o.usage.MonthToDateKWh / (asOf.Sub(first).Hours() / 24)
		default:
			start, from = o.usage.MonthToDateKWh, asOf
		}
	}
	kwh = start
	for d := from; d.Before(today); d = d.AddDate(0, 0, 1) {
		kwh += perDay
	}
	return kwh + perDay*float64(local.Hour()*60+local.Minute())/(24*60), days
}

// allowance adds the baseline allowance day by day over the billing month.
func (o *fullOracle) allowance(baseline *[12]float64, local time.Time) (kwh float64) {
	first := o.firstOfMonth(time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, time.UTC))
	for d := first; d.Before(first.AddDate(0, 1, 0)); d = d.AddDate(0, 0, 1) {
		if o.usage.BaselineDailyKWh > 0 {
			kwh += o.usage.BaselineDailyKWh
		} else {
			kwh += baseline[d.Month()-1]
		}
	}
	return kwh
}

func (o *fullOracle) firstOfMonth(day time.Time) time.Time {
	for day.Day() != max(o.usage.BillingDay, 1) {
		day = day.AddDate(0, 0, -1)
	}
	return day
}

// The test prices whole years in four US zones, with both clock changes, a leap day, the
// end of the year and a change of rates.
func TestPrice_FullOracleYears(t *testing.T) {
	w := window("2023-12-25T00:00:00Z", "2025-01-08T00:00:00Z")
	for seed, name := range []string{"America/Los_Angeles", "America/Denver", "America/Phoenix", "America/New_York"} {
		for round := range 4 {
			t.Run(fmt.Sprintf("%s %d", name, round), func(t *testing.T) {
				t.Parallel()
				random := rand.New(rand.NewPCG(uint64(seed), uint64(round)))
				o := randomOracle(random, zone(t, name))
				c := price(t, pricing.Input{Tariff: o.tariff(t), Location: o.location, Usage: o.usage}, w)
				for i, got := range c.Import {
					if want := o.at(w.At(i)); math.Abs(got-want) > 1e-6 {
						t.Fatalf("%v: %v, the oracle has %v", w.At(i).In(o.location), got, want)
					}
				}
			})
		}
	}
}
