package feed_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing/feed"
	"github.com/gridhook/gridhook/pricing/market"
)

// testdata returns a file of the shared test data, or skips.
func testdata(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("GRIDHOOK_TESTDATA")
	if dir == "" {
		t.Skip("GRIDHOOK_TESTDATA is not set: no samples of the source")
	}
	data, err := os.ReadFile(filepath.Join(dir, "data", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func day(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// readMIDAS reads a document about a RIN.
func readMIDAS(rin, unit string, from time.Time, days int, body string) (feed.Data, error) {
	adapter, _ := feed.ByName("midas")
	q := &feed.Query{Parameters: map[string]string{"rin": rin, "unit": unit}, From: from, To: from.AddDate(0, 0, days)}
	return adapter.Read(q, response("http://source/api/valuedata", body))
}

// The official samples, in JSON and XML, have 72 hours of a winter week in March 2023.
func TestMIDAS_Samples(t *testing.T) {
	for _, tt := range []struct {
		file, rin    string
		from         time.Time
		hours        int
		first, fifth float64
	}{
		{"MIDAS_Test_TOU.json", "USCA-TSTS-TTOU-0000", day(2023, 3, 1), 72, 0.1006, 0.1006},
		{"MIDAS_Test_TOU.xml", "USCA-TSTS-TTOU-0000", day(2023, 3, 1), 72, 0.1006, 0.1006},
		{"MIDAS_Test_Demand.json", "USCA-TSTS-DTOU-TEST", day(2023, 3, 1), 72, 0.1006, 0.1006},
		{"MIDAS_Test_Demand.xml", "USCA-TSTS-DTOU-TEST", day(2023, 3, 1), 72, 0.1006, 0.1006},
		{"apis/value-data/examples/tou-rate-response-sample.json", "USCA-TSTS-TTOU-TEST", day(2023, 5, 1), 4, 0.1006, 0.1388},
	} {
		data, err := readMIDAS(tt.rin, "", tt.from, 4, testdata(t, "midas/"+tt.file))
		if err != nil {
			t.Fatal(tt.file, err)
		}
		p := data.Prices[0]
		if p.Node != tt.rin || p.Step != time.Hour || len(p.Points) != tt.hours || p.Points[0].Price != tt.first || p.Points[2].Price != tt.fifth {
			t.Errorf("%s: %s, %v, %d hours, %v", tt.file, p.Node, p.Step, len(p.Points), p.Points[:3])
		}
	}
	if _, err := readMIDAS("USCA-TSTS-TTOU-0000", "", day(2023, 3, 1), 4, testdata(t, "midas/apis/value-data/examples/rin-list-sample.json")); !errors.Is(err, feed.ErrResponse) {
		t.Errorf("a list of RINs: %v", err)
	}
}

// values returns a document with one value of an hour for each line of hour, value, unit.
func values(rin string, lines ...string) string {
	var list []string
	for _, line := range lines {
		f := strings.SplitN(line, " ", 3)
		list = append(list, fmt.Sprintf(`{"ValueName": "Test", "DateStart": "2026-07-01", "DateEnd": "2026-07-01", "TimeStart": "%s:00:00", "TimeEnd": "%s:59:59", "value": %s, "Unit": %q}`, f[0], f[0], f[1], f[2]))
	}
	return fmt.Sprintf(`{"RateID": %q, "ValueInformation": [%s]}`, rin, strings.Join(list, ","))
}

func TestMIDAS_Units(t *testing.T) {
	const rin = "USCA-PGPG-ETOU-0000"
	both := values(rin, "07 0.3 $/kWh", "07 12 $/kW", "07 0.05 export $/kWh", "08 0.31 $/kWh", "08 0.06 export $/kWh", "08 0.32 $/kWh")
	for _, tt := range []struct {
		unit, body string
		want       []float64
		err        string
	}{
		{"", both, []float64{0.3, 0.32}, ""},
		{"export $/kWh", both, []float64{0.05, 0.06}, ""},
		{"", values(rin, "07 0.3 $/kWh", "09 0.4 $/kWh"), []float64{0.3, 0.4}, ""},
		{"", values(rin, "07 12 $/kW"), nil, "has 1 values, none in $/kWh"},
		{"", values(rin, "07 30 cents/kWh"), nil, `value 1: unit "cents/kWh" is not $/kWh`},
		{"", values(rin, "07 300 g/kWh CO2"), nil, `unit "g/kWh CO2" is not $/kWh`},
		{"", values(rin, "07 51 $/kWh"), nil, "is beyond 50"},
		{"", strings.ReplaceAll(values(rin, "07 1 $/kWh"), "07:59:59", "06:00:00"), nil, "before it starts"},
		{"", strings.ReplaceAll(values(rin, "07 1 $/kWh"), "07:59:59", "07:13:00"), nil, "only full 5 minutes"},
		{"", strings.ReplaceAll(values(rin, "07 1 $/kWh"), "07:00:00", "7 am"), nil, "is not a time"},
		{"", values("USCA-OTHR-ETOU-0000", "07 1 $/kWh"), nil, "has no rate " + rin},
	} {
		data, err := readMIDAS(rin, tt.unit, day(2026, 7, 1), 1, tt.body)
		if tt.err != "" {
			if !errors.Is(err, feed.ErrResponse) || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %v, want %s", err, tt.err)
			}
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		node := map[string]string{"": rin, "export $/kWh": rin + "-export"}[tt.unit]
		if got := data.Prices[0].Node; got != node {
			t.Errorf("%s: got node %s, want %s", tt.unit, got, node)
		}
		for i, p := range data.Prices[0].Points {
			if p.Price != tt.want[i] {
				t.Errorf("%s: got %v, want %v", tt.unit, data.Prices[0].Points, tt.want)
			}
		}
	}
}

func TestMIDAS_FlexAlert(t *testing.T) {
	const rin = "USCA-FLEX-ALRT-0000"
	at := func(hour int) time.Time { return day(2026, 7, 1).Add(time.Duration(hour) * time.Hour) }
	body := values(rin, "12 0 Event", "16 1 Event", "17 1 Event", "18 1 Event", "19 0 Event", "21 1 Event", "22 1 Event", "22 0 Event")
	data, err := readMIDAS(rin, "", day(2026, 7, 1), 1, body)
	if err != nil || !data.Alerted || len(data.Alerts) != 2 || len(data.Prices) != 0 {
		t.Fatalf("%+v, %v", data, err)
	}
	for i, want := range []feed.Alert{{Name: "Test", From: at(16), To: at(19)}, {Name: "Test", From: at(21), To: at(22)}} {
		if data.Alerts[i] != want {
			t.Errorf("got %v, want %v", data.Alerts[i], want)
		}
	}
	if data, err = readMIDAS(rin, "", day(2026, 7, 1), 1, values(rin, "12 0 Event")); err != nil || !data.Alerted || len(data.Alerts) != 0 {
		t.Errorf("no alert: %+v, %v", data, err)
	}
	if data, err = readMIDAS(rin, "", day(2026, 7, 5), 1, body); err != nil || !data.Alerted || len(data.Alerts) != 0 {
		t.Errorf("alerts of the past: %+v, %v", data, err)
	}
	for _, refused := range []string{values(rin, "12 2 Event"), values(rin)} {
		if data, err = readMIDAS(rin, "", day(2026, 7, 1), 1, refused); !errors.Is(err, feed.ErrResponse) {
			t.Errorf("%s: %+v, %v", refused, data, err)
		}
	}
	sample := testdata(t, "midas/apis/value-data/examples/flex-alert-response-sample.json")
	if data, err = readMIDAS("USCA-FLEX-FXRT-0000", "", day(2026, 3, 19), 1, sample); err != nil || !data.Alerted || len(data.Alerts) != 0 {
		t.Errorf("sample: %+v, %v", data, err)
	}
}

func TestMIDAS_Requests(t *testing.T) {
	adapter, _ := feed.ByName("midas")
	for days, want := range map[int]string{
		3:  "http://source/api/valuedata?ID=USCA-PGPG-ETOU-0000&QueryType=realtime",
		30: "http://source/api/valuedata?ID=USCA-PGPG-ETOU-0000&QueryType=alldata",
	} {
		requests, err := adapter.Requests(&feed.Query{URL: "http://source", Parameters: map[string]string{"rin": "USCA-PGPG-ETOU-0000"},
			From: day(2026, 7, 1), To: day(2026, 7, 1).AddDate(0, 0, days)})
		if err != nil || len(requests) != 1 || requests[0].URL != want {
			t.Errorf("%d days: %v, %v", days, requests, err)
		}
	}
	_, err := adapter.Requests(&feed.Query{Parameters: map[string]string{"rin": "USCA-SGIP-MOER-SMUD", "region": "SMUD"}})
	if err == nil || !strings.Contains(err.Error(), `region: "SMUD" is not a grid region`) {
		t.Error(err)
	}
}

// TestMIDAS_Emissions reads five minutes of emissions in g/kWh as kg/kWh of a grid region.
func TestMIDAS_Emissions(t *testing.T) {
	const rin = "USCA-SGIP-MOER-PGE"
	body := fmt.Sprintf(`{"RateID": %q, "ValueInformation": [
		{"DateStart": "2026-07-01", "DateEnd": "2026-07-01", "TimeStart": "07:00:00", "TimeEnd": "07:04:59", "value": 333.5, "Unit": "g/kWh CO2"},
		{"DateStart": "2026-07-01", "DateEnd": "2026-07-01", "TimeStart": "07:05:00", "TimeEnd": "07:09:59", "value": 0, "Unit": "g/kWh CO2"}]}`, rin)
	data, err := readMIDAS(rin, "", day(2026, 7, 1), 1, body)
	if err != nil || len(data.Prices) != 1 {
		t.Fatal(data, err)
	}
	p := data.Prices[0]
	if p.Node != "CA" || p.Kind != market.Emissions || p.Step != 5*time.Minute || len(p.Points) != 2 || p.Points[0].Price != 0.3335 || p.Points[1].Price != 0 {
		t.Errorf("got %+v", p)
	}
	for _, tt := range []struct{ body, err string }{
		{strings.ReplaceAll(body, "g/kWh CO2", "kg/kWh CO2"), `unit "kg/kWh CO2" is not g/kWh CO2`},
		{strings.ReplaceAll(body, "333.5", "-1"), "are below 0"},
		{strings.ReplaceAll(body, "333.5", "333500"), "is beyond 50"},
	} {
		if _, err := readMIDAS(rin, "", day(2026, 7, 1), 1, tt.body); !errors.Is(err, feed.ErrResponse) || !strings.Contains(err.Error(), tt.err) {
			t.Errorf("got %v, want %s", err, tt.err)
		}
	}
}
