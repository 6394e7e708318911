package eligibility_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the tests need the same zones on every machine

	"github.com/gridhook/gridhook/pricing/eligibility"
)

// tariffs reports rate plans for ComEd, PG&E and Hawaiian Electric.
var tariffs = map[int]bool{4110: true, 14328: true, 19547: true}

func checker(t testing.TB, o eligibility.Overrides) *eligibility.Checker {
	t.Helper()
	return &eligibility.Checker{HasTariffs: func(eiaID int) bool { return tariffs[eiaID] }, Overrides: o}
}

func TestCheck_WellKnownZipcodes(t *testing.T) {
	for _, want := range []struct {
		zipcode, city, zone, market string
		utility                     int
		lat, lon                    float64
		supported, tariff           bool
		program                     string
	}{
		{"60614", "Chicago", "America/Chicago", "PJM", 4110, 41.9, -87.6, true, true, "ComEd Hourly Pricing"},
		{"94110", "San Francisco", "America/Los_Angeles", "CAISO", 14328, 37.7, -122.4, true, true, "PG&E SmartRate"},
		{"77005", "Houston", "America/Chicago", "ERCOT", 8901, 29.7, -95.4, true, false, "ERCOT ERS"},
		{"10001", "New York", "America/New_York", "NYISO", 4226, 40.7, -74, true, false, "NYISO SCR"},
		{"02138", "Cambridge", "America/New_York", "ISONE", 54913, 42.4, -71.1, true, false, "ConnectedSolutions"},
		{"96813", "Honolulu", "Pacific/Honolulu", "", 19547, 21.3, -157.9, true, true, "Hawaiian Electric Bring Your Own Device"},
		{"99501", "Anchorage", "America/Anchorage", "", 3522, 61.2, -149.9, false, false, ""},
		{"90012", "Los Angeles", "America/Los_Angeles", "", 11208, 34.1, -118.2, false, false, "LADWP Power Savers"},
		{"85001", "Phoenix", "America/Phoenix", "", 803, 33.4, -112.1, false, false, "APS Cool Rewards"},
		{"78701", "Austin", "America/Chicago", "ERCOT", 1015, 30.3, -97.7, true, false, "Austin Energy Power Partner Thermostat"},
		{"98101", "Seattle", "America/Los_Angeles", "", 16868, 47.6, -122.3, false, false, ""},
		{"55401", "Minneapolis", "America/Chicago", "MISO", 13781, 45, -93.3, true, false, "MISO LMR"},
	} {
		t.Run(want.zipcode, func(t *testing.T) {
			c := checker(t, nil)
			area, ok := c.Area(want.zipcode)
			if !ok {
				t.Fatal("not known")
			}
			if area.City != want.city || area.Timezone != want.zone || area.Market != want.market {
				t.Errorf("is %s in %s, market %q", area.City, area.Timezone, area.Market)
			}
			if len(area.Utilities) == 0 || area.Utilities[0].EIAID != want.utility {
				t.Errorf("main utility %+v, want EIA %d", area.Utilities, want.utility)
			}
			if d := max(area.Lat-want.lat, want.lat-area.Lat, area.Lon-want.lon, want.lon-area.Lon); d > 0.7 {
				t.Errorf("is at %v, %v", area.Lat, area.Lon)
			}
			r, _ := c.Check(want.zipcode)
			if r.Supported != want.supported || r.TariffData != want.tariff || r.WholesaleMarket != (want.market != "") {
				t.Errorf("result %+v", r)
			}
			if want.program != "" && !slices.Contains(r.DemandResponsePrograms, want.program) {
				t.Errorf("programs %q lack %q", r.DemandResponsePrograms, want.program)
			}
			if !strings.Contains(r.Reason, want.zipcode) || !strings.Contains(r.Reason, area.Utilities[0].Name) {
				t.Errorf("the reason lacks the place and the utility: %s", r.Reason)
			}
		})
	}
}

// TestCheck_CorrectedZipcodes checks zipcodes whose facts of 2011 to 2020 were wrong:
// the utility was missing, had merged or serves another town.
func TestCheck_CorrectedZipcodes(t *testing.T) {
	c := checker(t, nil)
	for _, want := range []struct {
		zipcode        string
		serves, absent int
		main           int
		program        string
		choice         string // how the reason begins to name it
	}{
		{"85001", 16572, 0, 803, "SRP Bring Your Own Thermostat", ""},
		{"44114", 3762, 13998, 3755, "", "(retail choice"},
		{"84101", 14354, 0, 14354, "Rocky Mountain Power Cool Keeper", ""},
		{"84101", 14354, 0, 14354, "Rocky Mountain Power Wattsmart Battery", ""},
		{"99501", 11824, 599, 3522, "", ""},
		{"68102", 14127, 13337, 14127, "", ""},
		{"48226", 5109, 21048, 5109, "", ""},
		{"94110", 14328, 0, 14328, "", "(limited retail choice"},
		{"77002", 8901, 16638, 8901, "", "(retail choice"},
		{"43215", 14006, 0, 14006, "", "(retail choice"},
		{"75201", 44372, 6958, 44372, "", "(retail choice"},
		{"79901", 5701, 0, 5701, "", ""}, // in Texas, outside ERCOT
		{"32501", 6452, 7801, 6452, "", ""},
		{"16801", 66101, 20387, 66101, "", "(retail choice"},
		{"78701", 1015, 0, 1015, "", ""},
		{"97201", 14354, 0, 0, "", ""},
		{"85635", 803, 0, 18280, "", ""},
		{"86555", 803, 0, 18280, "", ""},
	} {
		area, ok := c.Area(want.zipcode)
		if !ok || want.main != 0 && area.Utilities[0].EIAID != want.main {
			t.Errorf("%s: %+v", want.zipcode, area.Utilities)
			continue
		}
		sum := 0
		serves := func(id int) bool {
			return slices.ContainsFunc(area.Utilities, func(u eligibility.Utility) bool { return u.EIAID == id })
		}
		for _, u := range area.Utilities {
			sum += u.Share
		}
		if !serves(want.serves) || want.absent != 0 && serves(want.absent) || sum < 90 || sum > 101 {
			t.Errorf("%s: %+v", want.zipcode, area.Utilities)
		}
		r, _ := c.Check(want.zipcode)
		if want.program != "" && !slices.Contains(r.DemandResponsePrograms, want.program) {
			t.Errorf("%s: programs %q", want.zipcode, r.DemandResponsePrograms)
		}
		if !strings.Contains(r.Reason, want.choice) || strings.Contains(r.Reason, "retail choice") != (want.choice != "") {
			t.Errorf("%s: choice %q: %s", want.zipcode, want.choice, r.Reason)
		}
		if !strings.Contains(r.Reason, "EIA-861 of 2024") {
			t.Errorf("%s: the reason has no source and year: %s", want.zipcode, r.Reason)
		}
		if want.zipcode == "97201" && slices.Contains(r.DemandResponsePrograms, "Rocky Mountain Power Cool Keeper") {
			t.Error("a program of Utah is in Oregon")
		}
	}
}

func TestCheck_UnknownZipcodes(t *testing.T) {
	c := checker(t, nil)
	for zipcode, word := range map[string]string{
		"00901": "Puerto Rico", "96910": "Guam", "99999": "table", "0": "00000", "000": "table", "no zip": "form", "": "form",
	} {
		r, _ := c.Check(zipcode)
		if r.Supported || r.TariffData || r.WholesaleMarket || len(r.DemandResponsePrograms) != 0 {
			t.Errorf("%q: %+v", zipcode, r)
		}
		if !strings.Contains(r.Reason, word) {
			t.Errorf("%q: reason %q does not say %q", zipcode, r.Reason, word)
		}
		if place, ok := eligibility.Locate(zipcode); ok {
			t.Errorf("%q is located at %+v", zipcode, place)
		}
	}
}

func TestResult_JSON(t *testing.T) {
	r, _ := checker(t, nil).Check("00901")
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"supported":false,"wholesaleMarket":false,"tariffData":false,"demandResponsePrograms":[],"reason":"`
	if !strings.HasPrefix(string(got), want) {
		t.Errorf("got  %s\nwant %s...", got, want)
	}
}

func TestArea_Prefix(t *testing.T) {
	c := checker(t, nil)
	area, ok := c.Area("606")
	if !ok || area.State != "IL" || area.Timezone != "America/Chicago" || area.Utilities[0].EIAID != 4110 || area.City != "" {
		t.Errorf("606 is %+v", area)
	}
	if r, _ := c.Check("606"); !r.Supported || !strings.Contains(r.Reason, "prefix") {
		t.Errorf("606: %+v", r)
	}
}

// TestArea_EveryZipcode checks that every time zone loads and every coordinate is in
// its country. Otherwise a home with that zipcode would be refused or misplaced.
func TestArea_EveryZipcode(t *testing.T) {
	c := checker(t, nil)
	zones, seen, unserved := map[string]bool{}, 0, 0
	for code := range 100_000 {
		area, ok := c.Area(fiveDigits(code))
		if !ok {
			continue
		}
		seen++
		if !zones[area.Timezone] {
			if _, err := time.LoadLocation(area.Timezone); err != nil || area.Timezone == "" {
				t.Errorf("%s: time zone %q: %v", area.Code, area.Timezone, err)
			}
			zones[area.Timezone] = true
		}
		if area.Lat < 18 || area.Lat > 72 || area.Lon > -66 || area.Lon < -180 {
			t.Errorf("%s is at %v, %v", area.Code, area.Lat, area.Lon)
		}
		if len(area.State) != 2 || area.City == "" {
			t.Errorf("%s is in %q, %q", area.Code, area.City, area.State)
		}
		if len(area.Utilities) == 0 {
			unserved++
		}
	}
	if seen < 42_000 || unserved*100 > seen {
		t.Errorf("%d zipcodes, %d without a utility", seen, unserved)
	}
}

func fiveDigits(code int) string {
	digits := [5]byte{}
	for i := range digits {
		digits[4-i] = byte('0' + code%10)
		code /= 10
	}
	return string(digits[:])
}

func BenchmarkCheck(b *testing.B) {
	c := checker(b, nil)
	c.Check("60614") // unpacks the facts
	b.ReportAllocs()
	for b.Loop() {
		c.Check("60614")
	}
}

// The reason has the figures of Form EIA-861 of 2018 for the main utility.
func TestCheck_Reason(t *testing.T) {
	for zipcode, want := range map[string][]string{
		"606":   {"606 is a prefix of 90 zipcodes in IL (America/Chicago). Served by Commonwealth Edison Co (EIA 4110), by the OpenEI/NREL look-up of zipcodes of 2011 and 2020;"},
		"60614": {"60614 is Chicago, Cook, IL (America/Chicago).", "In the wholesale market of PJM", "2018: real-time pricing, critical peak rebate; 86000 customers in demand response; 1651 homes with net-metered solar. Program names"},
		"94110": {
			"94110 is San Francisco, CA (America/Los_Angeles). Served by Pacific Gas & Electric Co. (EIA 14328, about 98 %), City & County of San Francisco (EIA 16612, about 2 %), by the",
			"2011 and 2020 and the county's territories of Form EIA-861 of 2018; names", "No residential rate plan of these utilities is at hand",
		},
		"68102": {"Omaha Public Power District (EIA 14127), by", "reported for 2018: 46501 customers in demand response; 78 homes"},
		"80903": {"In no organized wholesale market that is known"},
		"00601": {"00601 belongs to Puerto Rico, which has no known utilities or markets"},
	} {
		r, _ := new(eligibility.Checker).Check(zipcode)
		for _, words := range want {
			if !strings.Contains(r.Reason, words) {
				t.Errorf("%s: %q lacks %q", zipcode, r.Reason, words)
			}
		}
	}
	if r, _ := new(eligibility.Checker).Check("68102"); !slices.Equal(r.DemandResponsePrograms, []string{"Omaha Public Power District residential demand response"}) {
		t.Errorf("the programs of a utility without a named program: %q", r.DemandResponsePrograms)
	}
}
