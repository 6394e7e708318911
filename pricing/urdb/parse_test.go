package urdb_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/internal/tarifftest"
	"github.com/gridhook/gridhook/pricing/urdb"
)

func TestParse_Tariff(t *testing.T) {
	tariff := tarifftest.JacksonEMC().Parse(t)
	info := tariff.Info()
	want := pricing.TariffInfo{
		Label: "5a0b28045457a3ea2aca608e", Name: "A - Residential Service", Utility: "Jackson Electric Member Corp",
		EIAID: 9601, Source: "http://www.jacksonemc.com/sites/default/files/a-17_final.pdf",
		DGRules: "Net Metering", EffectiveFrom: pricing.Date{Year: 2017, Month: time.January, Day: 1},
		FixedCharge: pricing.Charge{Amount: 5.5, Unit: "$/month"},
	}
	if info != want {
		t.Errorf("got %+v\nwant %+v", info, want)
	}
	day := tariff.AnyDay(info.EffectiveFrom)
	summer := day.Tiers(1)
	if len(summer) != 3 || *summer[0].Max != 650 || summer[1].Price() != 0.1121 || summer[2].Max != nil || summer[2].Unit != "kWh" {
		t.Errorf("got %+v", summer)
	}
}

func TestParse_Charges(t *testing.T) {
	aps := tarifftest.APSSaverChoicePlus().With("mincharge", 200).With("minchargeunits", "$/year").Parse(t)
	if info := aps.Info(); !chargesDemand(aps) || info.MinimumCharge != (pricing.Charge{Amount: 200, Unit: "$/year"}) {
		t.Errorf("got %+v", info)
	}
	fromSAM := tarifftest.Flat(0.1).With("fixedmonthlycharge", 435).With("minmonthlycharge", 0).With("annualmincharge", 12.0).
		With("flatdemandstructure", []any{tarifftest.Tiers(0, 0)}).Parse(t)
	sam := fromSAM.Info()
	if sam.FixedCharge != (pricing.Charge{Amount: 435, Unit: "$/month"}) ||
		sam.AnnualMinimum != (pricing.Charge{Amount: 12, Unit: "$/year"}) || chargesDemand(fromSAM) {
		t.Errorf("got %+v", sam)
	}
}

func chargesDemand(tariff *pricing.Tariff) bool {
	day := tariff.AnyDay(tariff.Info().EffectiveFrom)
	return day.Demand().Charges()
}

func TestTariff_Immutable(t *testing.T) {
	tariff := tarifftest.JacksonEMC().Parse(t)
	day := tariff.AnyDay(tariff.Info().EffectiveFrom)
	copied := day.Tiers(0)
	copied[0].Rate = 9
	*copied[0].Max = 9
	if again := day.Tiers(0)[0]; again.Rate != 0.0896 || *again.Max != 650 {
		t.Errorf("writing to the result of Tiers changed the tariff: %+v", again)
	}
}

// Each of these documents has the same prices as the plain document.
func TestParse_Tolerated(t *testing.T) {
	plain := tarifftest.APSSaverChoicePlus()
	w := tarifftest.Window("2026-06-26T00:00:00Z", "2026-07-06T00:00:00Z")
	want := importPrices(t, plain.Parse(t), w)
	text := string(plain.JSON(t))
	for name, data := range map[string]string{
		"items":            `{"items":[` + text + `]}`,
		"null items":       strings.Replace(text, `{`, `{"items":null,`, 1),
		"byte order mark":  "\ufeff" + text + "\r\n",
		"unknown fields":   strings.Replace(text, `{`, `{"revisions":[1,2],"approved":true,"peakkwcapacitymin":{"a":[]},`, 1),
		"half hours":       string(plain.With("energyweekdayschedule", tarifftest.Year("0x30 1x10 0x8", "0x30 2x10 0x8")).JSON(t)),
		"quarter hours":    string(plain.With("energyweekdayschedule", tarifftest.Year("0x60 1x20 0x16", "0x60 2x20 0x16")).JSON(t)),
		"float indexes":    strings.NewReplacer(`[0,`, `[0.0,`, `,1,`, `,1e0,`, `,2,`, `,"2.0",`).Replace(text),
		"numbers as text":  strings.NewReplacer(`0.018506`, `"0.018506"`, `0.07798`, `" 0.07798 "`, `:803`, `:"803"`).Replace(text),
		"empty optionals":  strings.NewReplacer(`"eiaid":803`, `"eiaid":""`, `"label":`, `"enddate":null,"startdate":"","label":`).Replace(text),
		"huge maximum":     strings.ReplaceAll(text, `"adj"`, `"max":9.999999680285692e+37,"adj"`),
		"infinite maximum": strings.ReplaceAll(text, `"adj"`, `"max":1e999,"adj"`),
		"kWh daily":        strings.ReplaceAll(text, `"unit":"kWh"`, `"unit":" KWH Daily","max":12`),
		"no unit":          strings.ReplaceAll(text, `,"unit":"kWh"`, ``),
		"rate within adj":  strings.ReplaceAll(text, `"adj":0.018506,"rate":0.07798`, `"adj":0.096486`),
	} {
		t.Run(name, func(t *testing.T) {
			if data == text {
				t.Fatal("the document is the plain one")
			}
			tariff, err := urdb.Parse([]byte(data))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(importPrices(t, tariff, w), want) {
				t.Error("the prices differ from the plain document's")
			}
		})
	}
}

func TestParse_Dates(t *testing.T) {
	for _, tt := range []struct {
		value any
		want  string
	}{
		{1738393200, "2025-02-01"},   // midnight in Denver, winter
		{1727762400, "2024-10-01"},   // midnight in Denver, summer
		{1335880800, "2012-05-01"},   // 8:00 in Denver
		{1738393200.0, "2025-02-01"}, // float
		{"1738393200", "2025-02-01"}, // text
		{1780272000, "2026-06-01"},   // midnight in UTC
		{"2017-01-01 00:00:00", "2017-01-01"},
		{"2017-01-01", "2017-01-01"},
		{"2017-01-01T06:00:00Z", "2017-01-01"},
		{nil, ""},
		{"", ""},
	} {
		info := tarifftest.Flat(0.1).With("startdate", tt.value).With("enddate", tt.value).Parse(t).Info()
		if info.EffectiveFrom.String() != tt.want || info.EffectiveTo.String() != tt.want {
			t.Errorf("%v: got %v and %v, want %s", tt.value, info.EffectiveFrom, info.EffectiveTo, tt.want)
		}
	}
}

// Each instant of midnight in Denver over the whole winter gives the right day.
func TestParse_DatesInDenver(t *testing.T) {
	denver := tarifftest.Zone(t, "America/Denver")
	for n := range 800 {
		midnight := time.Date(2024, time.January, 1+n, 0, 0, 0, 0, denver)
		if got := tarifftest.Flat(0.1).With("startdate", midnight.Unix()).Parse(t).Info().EffectiveFrom; got.String() != midnight.Format(time.DateOnly) {
			t.Fatalf("%v became %v", midnight, got)
		}
	}
}

func TestParse_NoWeekendSchedule(t *testing.T) {
	tariff := tarifftest.APSSaverChoicePlus().With("energyweekendschedule", nil).Parse(t)
	utc := pricing.Input{Tariff: tariff, Location: time.UTC}
	friday := tarifftest.Price(t, utc, tarifftest.Window("2026-07-03T00:00:00Z", "2026-07-04T00:00:00Z"))
	saturday := tarifftest.Price(t, utc, tarifftest.Window("2026-07-04T00:00:00Z", "2026-07-05T00:00:00Z"))
	if !slices.Equal(friday.Import, saturday.Import) {
		t.Error("without a weekend schedule a Saturday is not priced as a Friday")
	}
}

func TestParse_Problems(t *testing.T) {
	aps := tarifftest.APSSaverChoicePlus()
	tier := func(fields string) string {
		return `{"energyratestructure":[[{"rate":0.1}],[` + fields + `]],"energyweekdayschedule":` + schedule(t, "0x12 1x12") + `}`
	}
	for _, tt := range []struct {
		name, data string
		want       []string // "path: start of the message"
	}{
		{"empty", " \n", []string{": the document is empty"}},
		{"not JSON", `{"a":NaN}`, []string{": not JSON: invalid character 'N'"}},
		{"cut off", `{"items":[{`, []string{": not JSON: unexpected EOF"}},
		{"more than one value", `{} {}`, []string{": not JSON: more follows"}},
		{"too large", strings.Repeat(" ", urdb.MaxTariffBytes+1), []string{": the document has 4194305 bytes"}},
		{"empty array", `[]`, []string{": must hold 1 to 200 versions of a tariff; it holds 0"}},
		{"no items", `{"items":[]}`, []string{"items: must hold 1 to 200 versions of a tariff; it holds 0"}},
		{"two plans", `[{"name":"A","energyratestructure":[[{"rate":1}]]},{"name":"B","startdate":"2026-01-01","energyratestructure":[[{"rate":2}]]}]`, []string{`[1].name: "B" of "" is another plan than "A" of ""`}},
		{"two versions of no date", `{"items":[{"energyratestructure":[[{"rate":1}]]},{"energyratestructure":[[{"rate":2}]]}]}`, []string{"items: two versions start on no date"}},
		{"no baseline", `{"energyratestructure":[[{"rate":1,"unit":"baseline","max":1},{"rate":2}]]}`, []string{"baseline: is missing: a tier is bounded by the baseline allowance"}},
		{"baseline of a week", string(tarifftest.Flat(1).With("baseline", []any{1, 2, 3, 4, 5, 6, 7}).JSON(t)), []string{"baseline: must be one number or twelve, one a month; it has 7"}},
		{"baseline below nothing", string(tarifftest.Flat(1).With("baseline", -1).JSON(t)), []string{"baseline: -1 is not within 0 and 10000"}},
		{"confidence beyond one", string(tarifftest.Flat(1).With("confidence", 1.5).JSON(t)), []string{"confidence: 1.5 is not within 0 and 1"}},
		{"holidays", string(tarifftest.Flat(1).With("holidays", []any{"2026-07-03", "Boxing Day", 4}).JSON(t)), []string{
			`holidays[1]: "Boxing Day" is neither a date such as 2026-07-03 nor a US federal holiday`,
			"holidays[2]: must be a date or the name of a holiday, not a number"}},
		{"holidays of an object", string(tarifftest.Flat(1).With("holidays", map[string]any{}).JSON(t)), []string{"holidays: must be a list of dates and names, not an object"}},
		{"riders together", string(tarifftest.Flat(1).With("riders", []any{map[string]any{"rate": 60}, map[string]any{"rate": -60}}).JSON(t)), []string{
			"riders: together they are 120 $/kWh, beyond 100"}},
		{"taxes together", string(tarifftest.Flat(1).With("riders", []any{map[string]any{"rate": 60, "unit": "%"}, map[string]any{"rate": 60, "unit": "%"}}).JSON(t)), []string{
			"riders: together the taxes are 120 %, beyond 100"}},
		{"holidays observed", string(tarifftest.Flat(1).With("holidaysobserved", "tuesday").JSON(t)), []string{`holidaysobserved: "tuesday" is not known`}},
		{"holidays as weekend", string(tarifftest.Flat(1).With("holidays_as_weekend", "yes").JSON(t)), []string{"holidays_as_weekend: must be true or false, not text"}},
		{"riders", string(tarifftest.Flat(1).With("riders", []any{
			map[string]any{"name": "no rate"}, map[string]any{"rate": 101}, map[string]any{"rate": 5, "unit": "cents"}, 7,
			map[string]any{"rate": 500, "unit": "%"}, map[string]any{"rate": 0, "credited": "no"},
			map[string]any{"rate": 0, "startdate": "2026-02-01", "enddate": "2026-01-01"}}).JSON(t)), []string{
			"riders[0].rate: is missing", "riders[1].rate: 101 $/kWh is beyond 100", `riders[2].unit: "cents" is not a unit of a rider`,
			"riders[3]: must be an object, not a number", "riders[4].rate: 500 is not within -100 and 100",
			"riders[5].credited: must be true or false, not text", "riders[6].enddate: 2026-01-01 is before the start date 2026-02-01"}},
		{"items of text", `{"items":["a"]}`, []string{"items[0]: must be a JSON object, not text"}},
		{"nothing", `{}`, []string{"energyratestructure: there is no price per kWh"}},
		{"no periods", `{"energyratestructure":[]}`, []string{"energyratestructure: there is no price per kWh"}},
		{"demand only", `{"flatdemandstructure":[[{"rate":13.5}]]}`, []string{"energyratestructure: there is no price per kWh: a plan of demand charges alone"}},
		{"real time", `{"realtimepricing":[0.04,0.05]}`, []string{"energyratestructure: there is no price per kWh by period: a list of real-time prices"}},
		{"no schedule", `{"energyratestructure":[[{"rate":1}],[{"rate":2}]]}`, []string{"energyweekdayschedule: is missing"}},
		{"eleven months", string(aps.With("energyweekdayschedule", tarifftest.Year("0x24", "0x24")[:11]).JSON(t)), []string{"energyweekdayschedule: must have 12 rows, one a month; it has 11"}},
		{"23 columns", string(aps.With("energyweekendschedule", tarifftest.Year("0x24", "0x23")).JSON(t)), []string{
			"energyweekendschedule[5]: must have 24, 48 or 96 columns; it has 23", "energyweekendschedule[6]: must", "energyweekendschedule[7]: must", "energyweekendschedule[8]: must"}},
		{"unit of demand", tier(`{"rate":0.049,"unit":"kWh/kW"}`), []string{`energyratestructure[1][0].unit: "kWh/kW" steps with the kWh used per kW of demand`}},
		{"unknown unit", tier(`{"rate":0.049,"unit":"MWh"}`), []string{`energyratestructure[1][0].unit: "MWh" is not a unit`}},
		{"no tier", tier(``), []string{"energyratestructure[1]: has no tier"}},
		{"no rate", tier(`{"max":3}`), []string{"energyratestructure[1][0]: has neither rate nor adj"}},
		{"rate of NaN", tier(`{"rate":"NaN"}`), []string{"energyratestructure[1][0].rate: must be a finite number"}},
		{"infinite rate", tier(`{"rate":1e999}`), []string{"energyratestructure[1][0].rate: must be a finite number"}},
		{"rate in cents", tier(`{"rate":100.5}`), []string{"energyratestructure[1][0].rate: 100.5 $/kWh is beyond 100"}},
		{"sum beyond", tier(`{"rate":60,"adj":60}`), []string{"energyratestructure[1][0]: rate and adj together are 120 $/kWh"}},
		{"sell beyond", tier(`{"rate":0,"sell":-101}`), []string{"energyratestructure[1][0].sell: -101 $/kWh is beyond 100"}},
		{"rate of text", tier(`{"rate":"cheap"}`), []string{`energyratestructure[1][0].rate: must be a number, not "cheap"`}},
		{"rate of boolean", tier(`{"rate":true}`), []string{"energyratestructure[1][0].rate: must be a number, not a boolean"}},
		{"maximum of zero", tier(`{"rate":1,"max":0}`), []string{"energyratestructure[1][0].max: must be more than 0"}},
		{"maximum of NaN", tier(`{"rate":1,"max":"nan"}`), []string{"energyratestructure[1][0].max: must be more than 0"}},
		{"date", string(tarifftest.Flat(1).With("startdate", "next May").JSON(t)), []string{"startdate: must be Unix seconds or a date"}},
		{"milliseconds", string(tarifftest.Flat(1).With("startdate", 1738393200000).JSON(t)), []string{"startdate: must be Unix seconds or a date"}},
		{"ends before it starts", string(tarifftest.Flat(1).With("startdate", "2026-02-01").With("enddate", "2026-01-31").JSON(t)), []string{"enddate: 2026-01-31 is before the start date 2026-02-01"}},
		{"long name", string(tarifftest.Flat(1).With("name", strings.Repeat("n", 513)).JSON(t)), []string{"name: has 513 bytes"}},
		{"fractional EIA id", string(tarifftest.Flat(1).With("eiaid", 7.5).JSON(t)), []string{"eiaid: must be a whole number"}},
		{"paths within items, all at once", `{"items":[{"eiaid":[],"fixedchargefirstmeter":"x","energyratestructure":[[{"rate":1}],7]}]}`, []string{
			"items[0].eiaid: must be a number, not an array", "items[0].fixedchargefirstmeter: must be a number",
			"items[0].energyratestructure[1]: must be an array of tiers", "items[0].energyweekdayschedule: is missing"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantProblems(t, []byte(tt.data), tt.want)
		})
	}
}

func TestParse_ScheduleEntries(t *testing.T) {
	rows := tarifftest.Year("0x15 1x5 0x4", "0x15 2x5 0x4")
	rows[3].([]any)[17] = 7
	rows[0].([]any)[0] = -1
	rows[11].([]any)[23] = 0.5
	rows[4].([]any)[1] = "x"
	rows[5].([]any)[2] = nil
	wantProblems(t, tarifftest.APSSaverChoicePlus().With("energyweekdayschedule", rows).JSON(t), []string{
		"energyweekdayschedule[0][0]: there is no period -1: energyratestructure has 3, counted from 0",
		"energyweekdayschedule[3][17]: there is no period 7: energyratestructure has 3, counted from 0",
		`energyweekdayschedule[4][1]: must be a number, not "x"`,
		"energyweekdayschedule[5][2]: has no period",
		"energyweekdayschedule[11][23]: must be a whole number, not 0.5",
	})
}

// A document with very many errors gives a limited list.
func TestParse_ProblemLimit(t *testing.T) {
	data := tarifftest.APSSaverChoicePlus().With("energyweekdayschedule", tarifftest.Year("9x96", "9x96")).JSON(t)
	_, err := urdb.Parse(data)
	var problems *urdb.Error
	if !errors.As(err, &problems) || len(problems.Fields) != 1000 {
		t.Fatalf("got %v", err)
	}
	if !strings.HasSuffix(err.Error(), "and 995 more") {
		t.Errorf("got %v", err)
	}
}

func TestParse_ProblemsOfMarketAndExports(t *testing.T) {
	wantProblems(t, tarifftest.Flat(1).With("market", map[string]any{"market": "BAZAAR", "loss": 3, "adder": 101}).JSON(t), []string{
		`market.market: "BAZAAR" is not a market`, "market.node: is missing", "market.loss: 3 is not within 0.5 and 2", "market.adder: 101 $/kWh is beyond 100"})
	wantProblems(t, tarifftest.Flat(1).With("market", "HUB").JSON(t), []string{"market: must be an object with node and market, not text"})
	wantProblems(t, tarifftest.Flat(1).With("exportvalues", "PG&E NBT99").JSON(t), []string{`exportvalues: "PG&E NBT99" is not known; these are: PG&E NBT00, `})
}

// importPrices returns the prices of a tariff in Phoenix, to compare.
func importPrices(t *testing.T, tariff *pricing.Tariff, w pricing.Window) []float64 {
	t.Helper()
	return tarifftest.Price(t, pricing.Input{Tariff: tariff, Location: tarifftest.Zone(t, "America/Phoenix")}, w).Import
}

func schedule(t *testing.T, row string) string {
	t.Helper()
	data, err := json.Marshal(tarifftest.Year(row, row))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func wantProblems(t *testing.T, data []byte, want []string) {
	t.Helper()
	tariff, err := urdb.Parse(data)
	var problems *urdb.Error
	if !errors.As(err, &problems) || tariff != nil {
		t.Fatalf("got %v, %v; want a *TariffError", tariff, err)
	}
	ok := len(problems.Fields) == len(want)
	var got []string
	for i, p := range problems.Fields {
		got = append(got, fmt.Sprintf("%s: %s", p.Field, p.Message))
		ok = ok && strings.HasPrefix(got[i], want[i])
	}
	if !ok {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}
