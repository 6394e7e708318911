package feed_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing/feed"
	"github.com/gridhook/gridhook/pricing/feed/feedtest"
	"github.com/gridhook/gridhook/pricing/market"
)

// Every adapter reads the prices of a normal day, of a day of 23 hours, of a day of 25
// hours, and of several days.
func TestAdapter_Days(t *testing.T) {
	for name, s := range sources() {
		for _, day := range []struct {
			from string
			days int
		}{{"2026-07-01", 1}, {"2026-03-08", 1}, {"2026-11-01", 1}, {"2026-12-01", 1}, {"2026-03-08", 2}, {"2026-07-01", 2}} {
			if s.Adapter == "csv" && day.days > 1 {
				continue // its stand-in has separate days
			}
			t.Run(fmt.Sprint(name, " ", day), func(t *testing.T) {
				data, err := fetch(t, s, day.from, day.days)
				if err != nil {
					t.Fatal(err)
				}
				checkPrices(t, new(feedtest.Market), data.Prices, s, s.Query("", day.from, day.days))
				for _, p := range data.Prices {
					if (p.Kind == market.RealTime) != (s.Adapter == "comed" || strings.Contains(name, "real-time")) {
						t.Errorf("the prices are of the market %s", p.Kind)
					}
				}
			})
		}
	}
}

// Half a day that is missing stays missing, and no other price changes.
func TestAdapter_HalfADay(t *testing.T) {
	m := &feedtest.Market{Unpublished: func(at time.Time) bool { return at.Hour() >= 8 && at.Hour() < 20 }}
	for name, s := range m.Sources() {
		data, err := fetch(t, s, "2026-07-01", 1)
		if err != nil {
			t.Error(name, err)
			continue
		}
		checkPrices(t, m, data.Prices, s, s.Query("", "2026-07-01", 1))
	}
}

// Of two prices of an interval the later in the response counts, also on a day of 23 hours.
func TestAdapter_CorrectedPrices(t *testing.T) {
	m := new(feedtest.Market)
	for name, s := range m.Sources() {
		if s.Adapter == "miso" {
			continue // its file has one column for each hour: a correction is a new file
		}
		for _, day := range []string{"2026-07-01", "2026-03-08"} {
			m.Corrects = true
			data, err := fetch(t, s, day, 1)
			m.Corrects = false
			if err != nil {
				t.Error(name, day, err)
				continue
			}
			checkPrices(t, m, data.Prices, s, s.Query("", day, 1))
		}
	}
}

// checkPrices expects each interval of a query with its published price.
func checkPrices(t *testing.T, m *feedtest.Market, prices []feed.Prices, s feedtest.Source, q *feed.Query) {
	t.Helper()
	got, step := map[time.Time]float64{}, s.Step
	if s.Adapter == "csv" {
		step = 0 // its source has no stepMinutes
	}
	for _, p := range prices {
		if p.Step != step || p.Node == "" || p.Kind == "" {
			t.Errorf("node %q, market %q, step %v", p.Node, p.Kind, p.Step)
		}
		for _, point := range p.Points {
			got[point.Start] = point.Price
		}
	}
	want := 0
	m.Instants(s.Published(q), q.To, s.Step, func(at time.Time) {
		want++
		if price, ok := got[at]; !ok || math.Abs(price-m.Price(at)) > 1e-9 {
			t.Errorf("%v: %v, %v, want %v", at, price, ok, m.Price(at))
		}
	})
	if len(got) != want {
		t.Errorf("%d intervals, want %d", len(got), want)
	}
}

// A span of months takes several requests: pages, or parts of an operator's limit.
func TestAdapter_LongSpan(t *testing.T) {
	for _, name := range []string{"caiso", "pjm", "gridx"} {
		s := sources()[name]
		data, err := fetch(t, s, "2026-03-01", 60)
		if err != nil {
			t.Fatal(name, err)
		}
		if len(data.Prices) < 2 {
			t.Errorf("%s: %d responses", name, len(data.Prices))
		}
		checkPrices(t, new(feedtest.Market), data.Prices, s, s.Query("", "2026-03-01", 60))
	}
}

// A page of HTML, an error document or nothing with status 200 is never read as data.
func TestAdapter_NoData(t *testing.T) {
	for _, body := range []string{
		"", "\n", "<!DOCTYPE html><html><body>Service unavailable, LMP Node, price</body></html>",
		`{"message": "internal error", "code": 500}`, `"error"`, "null", "{", "PK\x03\x04", `<?xml version="1.0"?><Error><Code>500</Code></Error>`,
	} {
		for name, s := range sources() {
			s.Serve = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
			if data, err := fetch(t, s, "2026-07-01", 1); err == nil {
				t.Errorf("%s: %q is %+v", name, body, data)
			} else if !errors.Is(err, feed.ErrResponse) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// A response with too many values or rows is refused before they take memory.
func TestAdapter_TooManyValues(t *testing.T) {
	const values, rows = "has more than 2000000 values", "has more than 300000 rows"
	for _, tt := range []struct{ source, body, want string }{
		{"csv", "Zone,Local Time,Price\n" + strings.Repeat("A,,1\n", 300_000), rows},
		{"csv", "Zone,Local Time,Price\n" + strings.Repeat(",", 2_000_000), values},
		{"json", "[" + strings.Repeat("0,", 2_000_001) + "0]", values},
		{"json", "[0,0]", "has no object at row 1"},
		{"json", "[" + strings.Repeat("{},", 300_000) + "{}]", rows},
		{"ercot", `{"fields":[{"name":"a"}],"data":[` + strings.Repeat("[1],", 300_000) + "[1]]}", rows},
		{"caiso", string(feedtest.Zipped("a.xml", strings.Repeat("<a>", 2_000_001))), values},
		{"midas", "<DemandData>" + strings.Repeat("<RateInformation/>", 2_000_000) + "</DemandData>", values},
		{"midas", "<DemandData " + strings.Repeat(`a="" `, 2_000_000) + "></DemandData>", values},
	} {
		s := sources()[tt.source]
		if tt.source == "json" {
			s.Parameters["list"] = ""
		}
		_, err := readOne(s, "", tt.body)
		if !errors.Is(err, feed.ErrResponse) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s, %.60s: %.300v, want %s", tt.source, tt.body, err, tt.want)
		}
	}
}

// Times without an offset are in the source's time zone, also in the default columns.
func TestCSV_LocalTimes(t *testing.T) {
	for _, tt := range []struct{ column, time, want string }{
		{"start", "2026-07-01 05:00", "2026-07-01T09:00Z"},
		{"timestamp", "07/01/2026 05:00", "2026-07-01T09:00Z"},
		{"start", "2026-07-01T05:00Z", "2026-07-01T05:00Z"},
		{"utc_start", "2026-07-01 05:00", "2026-07-01T05:00Z"},
		{"datetime_beginning_utc", "2026-07-01T05:00:00", "2026-07-01T05:00Z"},
		{"INTERVALSTARTTIME_GMT", "2026-07-01T05:00", "2026-07-01T05:00Z"},
	} {
		s := sources()["csv"] // of New York
		s.Parameters = map[string]string{"node": "A"}
		data, err := readOne(s, "", tt.column+",price_usd_mwh\n"+tt.time+",10\n")
		expect(t, tt.column, data, err, map[string]float64{tt.want: 0.01})
	}
}

// The step of a file is not guessed: the stored series may have a shorter one.
func TestCSV_Step(t *testing.T) {
	for minutes, want := range map[string]time.Duration{"": 0, "15": 15 * time.Minute} {
		s := sources()["csv"]
		s.Parameters = map[string]string{"node": "A", "stepMinutes": minutes}
		data, err := readOne(s, "", "start,price_usd_mwh\n2026-07-01T05:00Z,10\n")
		if err != nil || data.Prices[0].Step != want {
			t.Errorf("stepMinutes %q: %+v, %v", minutes, data.Prices, err)
		}
	}
}

// Parameters that mean nothing without each other are refused.
func TestCSV_Fields(t *testing.T) {
	adapter, _ := feed.ByName("csv")
	for _, tt := range []struct{ time, price, unit, node, market, want string }{
		{"", "", "", "A", "", ""},
		{"t", "p", "$/kWh", "A", "", ""},
		{"t", "", "", "A", "", "timeField: priceField is required"},
		{"", "p", "$/kWh", "A", "", "priceField: timeField and unit are required"},
		{"t", "p", "", "A", "", "priceField: timeField and unit are required"},
		{"t", "p", "g/kWh", "CA", "EMISSIONS", ""},
		{"t", "p", "g/kWh", "CA", "", "unit: g/kWh"},
		{"t", "p", "$/kWh", "CA", "EMISSIONS", "unit: g/kWh"},
		{"", "", "", "CA", "EMISSIONS", "unit: g/kWh"},
		{"t", "p", "g/kWh", "A", "EMISSIONS", `node: "A" is not a grid region`},
	} {
		q := sources()["csv"].Query("http://source", "2026-07-01", 1)
		q.Parameters = map[string]string{"node": tt.node, "market": tt.market, "timeField": tt.time, "priceField": tt.price, "unit": tt.unit}
		if _, err := adapter.Requests(q); (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

// The address of a source may have a slash at the end and a query of its own. A file's
// address is used as it is.
func TestAdapter_Address(t *testing.T) {
	for name, s := range sources() {
		if s.Adapter == "ercot" {
			continue // its first request has the address of the token service
		}
		adapter, _ := feed.ByName(s.Adapter)
		s.Secret = "token"
		first := func(address string) string {
			t.Helper()
			requests, err := adapter.Requests(s.Query(address, "2026-07-01", 1))
			if err != nil {
				t.Fatal(name, err)
			}
			return requests[0].URL
		}
		plain := first("http://source/api")
		if s.Adapter == "csv" || s.Adapter == "json" {
			if got := first("http://source/api/?k=1"); got != "http://source/api/?k=1" {
				t.Errorf("%s: %s", name, got)
			}
			continue
		}
		if got := first("http://source/api/"); got != plain {
			t.Errorf("%s: %s, want %s", name, got, plain)
		}
		path, query, _ := strings.Cut(plain, "?")
		want := strings.TrimSuffix(path+"?k=1&"+query, "&")
		if got := first("http://source/api?k=1"); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// The columns node and market of a file select rows. They never name another series.
func TestCSV_OtherSeries(t *testing.T) {
	const header = "start,price_usd_mwh,node,market\n"
	for _, tt := range []struct {
		name, body, nodeField, err string
		want                       map[string]float64
	}{
		{"other nodes", header + "2026-07-01T05:00Z,10,A,\n2026-07-01T05:00Z,20,B,\n", "", "", map[string]float64{"2026-07-01T05:00Z": 0.01}},
		{"other markets", header + "2026-07-01T05:00Z,10,A,DAM\n2026-07-01T05:00Z,20,A,RTM\n", "", "", map[string]float64{"2026-07-01T05:00Z": 0.01}},
		{"no columns", "start,price_usd_mwh\n2026-07-01T05:00Z,10\n", "", "", map[string]float64{"2026-07-01T05:00Z": 0.01}},
		{"a field of the node", "start,price_usd_mwh,node,zone\n2026-07-01T05:00Z,10,7,a\n2026-07-01T05:00Z,20,8,B\n", "zone", "", map[string]float64{"2026-07-01T05:00Z": 0.01}},
		{"another node only", header + "2026-07-01T05:00Z,20,B,\n", "", "has no DAY_AHEAD prices of A; it has DAY_AHEAD prices of B", nil},
		{"another market only", header + "2026-07-01T05:00Z,20,A,RTM\n", "", "it has REAL_TIME prices of A", nil},
	} {
		s := sources()["csv"]
		s.Parameters = map[string]string{"node": "A", "nodeField": tt.nodeField}
		data, err := readOne(s, "", tt.body)
		if tt.err != "" {
			if !errors.Is(err, feed.ErrResponse) || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		expect(t, tt.name, data, err, tt.want)
		for _, p := range data.Prices {
			if p.Node != "A" || p.Kind != market.DayAhead {
				t.Errorf("%s: prices of %s %s", tt.name, p.Node, p.Kind)
			}
		}
	}
}

// A field with a long path is refused, because each field stores its path.
func TestJSON_Depth(t *testing.T) {
	nested := func(levels int, name string) string {
		return "[" + strings.Repeat(`{"a":1,"`+name+`":`, levels) + "1" + strings.Repeat("}", levels) + "]"
	}
	for _, tt := range []struct {
		name, body string
		refused    bool
	}{
		{"16 levels", nested(16, "b"), false},
		{"17 levels", nested(17, "b"), true},
		{"a path of 512 bytes", nested(1, strings.Repeat("b", 512)), false},
		{"a path of 513 bytes", nested(1, strings.Repeat("b", 513)), true},
		{"names that add up", nested(9, strings.Repeat("b", 60)), true},
	} {
		s := sources()["json"]
		s.Parameters = map[string]string{"node": "A", "timeField": "t", "priceField": "p", "unit": "$/kWh"}
		_, err := readOne(s, "", tt.body)
		if refused := err != nil && strings.Contains(err.Error(), "at most 16 levels"); refused != tt.refused {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// An operator's file of the wrong day, node or without the asked values is refused.
func TestAdapter_OtherNode(t *testing.T) {
	for name, s := range sources() {
		parameter := map[string]string{"gridx": "circuit", "midas": "rin", "openadr3": "program"}[s.Adapter]
		if parameter == "" {
			parameter = "node"
		}
		if s.Adapter == "comed" || s.Adapter == "json" {
			continue // their responses have no node
		}
		serve, asked := s.Serve, s.Parameters[parameter]
		s.Parameters = map[string]string{}
		for key, value := range sources()[name].Parameters {
			s.Parameters[key] = value
		}
		s.Parameters[parameter] = "OTHER"
		s.Serve = func(w http.ResponseWriter, r *http.Request) {
			r.URL.RawQuery = strings.ReplaceAll(r.URL.RawQuery, "OTHER", strings.ReplaceAll(asked, " ", "+"))
			r.URL.Path = strings.ReplaceAll(r.URL.Path, "OTHER", asked)
			serve(w, r)
		}
		if data, err := fetch(t, s, "2026-07-01", 1); !errors.Is(err, feed.ErrResponse) {
			t.Errorf("%s: %d prices, %v", name, len(data.Prices), err)
		}
	}
}

func TestAdapter_OtherDay(t *testing.T) {
	for name, s := range sources() {
		adapter, _ := feed.ByName(s.Adapter)
		old := s.Query("http://source", "2026-07-01", 1)
		serve := s.Serve
		var bodies [][]byte
		s.Serve = func(w http.ResponseWriter, r *http.Request) {
			copied := &copyWriter{ResponseWriter: w}
			serve(copied, r)
			bodies = append(bodies, copied.body)
		}
		if _, err := fetch(t, s, "2026-07-01", 1); err != nil {
			t.Fatal(name, err)
		}
		old.From, old.To = old.From.AddDate(0, 0, 60), old.To.AddDate(0, 0, 60)
		if s.Adapter == "openadr3" || s.Adapter == "json" || s.Adapter == "csv" || s.Adapter == "midas" {
			continue // their responses have many days
		}
		request, _ := adapter.Requests(old)
		asked := &request[len(request)-1]
		asked.Read = nil // after a token
		data, err := adapter.Read(old, &feed.Response{Request: asked, Body: bodies[len(bodies)-1]})
		if !errors.Is(err, feed.ErrResponse) {
			t.Errorf("%s: %+v, %v", name, data, err)
		}
	}
}

type copyWriter struct {
	http.ResponseWriter
	body []byte
}

func (w *copyWriter) Write(b []byte) (int, error) {
	w.body = append(w.body, b...)
	return w.ResponseWriter.Write(b)
}

func TestAdapter_Optional(t *testing.T) {
	for _, name := range []string{"nyiso", "isone", "isone real-time", "miso", "miso real-time", "spp"} {
		s := sources()[name]
		serve := s.Serve
		s.Serve = func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.String(), "20260702") { // not yet published
				http.NotFound(w, r)
				return
			}
			serve(w, r)
		}
		data, err := fetch(t, s, "2026-07-01", 2)
		if err != nil || len(data.Prices) == 0 {
			t.Errorf("%s: %d prices, %v", name, len(data.Prices), err)
		}
	}
}

func TestAdapters_Complete(t *testing.T) {
	var names []string
	for _, a := range feed.Adapters() {
		names = append(names, a.Name)
		if a.Title == "" || a.Every <= 0 || a.Requests == nil || a.Read == nil {
			t.Errorf("%s lacks a field", a.Name)
		}
		if _, err := time.LoadLocation(a.Timezone); err != nil || a.Timezone == "" {
			t.Errorf("%s: time zone %q", a.Name, a.Timezone)
		}
		for _, p := range a.Parameters {
			if p.Name == "" || p.Doc == "" {
				t.Errorf("%s: %+v", a.Name, p)
			}
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("%v are not sorted", names)
	}
	if _, ok := feed.ByName("nobody"); ok {
		t.Error("an adapter has no name")
	}
}

// readCSV reads a file of the generic adapter.
func readCSV(unit, rows string) (feed.Data, error) {
	adapter, _ := feed.ByName("csv")
	kind := ""
	if slices.Contains(market.MassUnits, unit) {
		kind = string(market.Emissions)
	}
	q := &feed.Query{
		Parameters: map[string]string{"node": "A", "market": kind, "timeField": "utc", "priceField": "p", "unit": unit},
		From:       time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 7, 2, 0, 0, 0, 0, time.UTC),
	}
	return adapter.Read(q, response("http://source/prices.csv", "utc,p\n"+rows))
}

func TestCSV_Rows(t *testing.T) {
	at := func(hour int) time.Time { return time.Date(2026, 7, 1, hour, 0, 0, 0, time.UTC) }
	for _, tt := range []struct {
		name, unit, rows string
		want             []market.Point
	}{
		{"a corrected hour", "$/kWh", "2026-07-01T00:00,0.1\n2026-07-01T01:00,0.2\n2026-07-01T00:00,0.3\n", []market.Point{{Start: at(0), Price: 0.3}, {Start: at(1), Price: 0.2}}},
		{"half a day is missing", "$/MWh", "2026-07-01T00:00,-10\n2026-07-01T13:00,20\n2026-07-01T14:00,30\n",
			[]market.Point{{Start: at(0), Price: -0.01}, {Start: at(13), Price: 0.02}, {Start: at(14), Price: 0.03}}},
		{"other days are left out", "cents/kWh", "2026-06-30T23:00,1\n2026-07-01T00:00,2\n2026-07-02T00:00,3\n", []market.Point{{Start: at(0), Price: 0.02}}},
		{"emissions in grams", "g/kWh", "2026-07-01T00:00,250\n", []market.Point{{Start: at(0), Price: 0.25}}},
		{"emissions in pounds", "lb/MWh", "2026-07-01T00:00,1000\n", []market.Point{{Start: at(0), Price: 0.45359237}}},
		{"Unix seconds", "$/kWh", fmt.Sprintf("%d,0.5\n%d,0.6\n", at(3).Unix(), at(4).UnixMilli()), []market.Point{{Start: at(3), Price: 0.5}, {Start: at(4), Price: 0.6}}},
		{"none yet", "$/kWh", "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data, err := readCSV(tt.unit, tt.rows)
			if err != nil {
				t.Fatal(err)
			}
			var got []market.Point
			for _, p := range data.Prices {
				got = append(got, p.Points...)
			}
			if !slices.EqualFunc(got, tt.want, func(a, b market.Point) bool { return a.Start.Equal(b.Start) && math.Abs(a.Price-b.Price) < 1e-12 }) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestCSV_Refused(t *testing.T) {
	for rows, want := range map[string]string{
		"2026-07-01T00:00,NaN\n":                           `"NaN" is not a number`,
		"2026-07-01T00:00,cheap\n":                         `"cheap" is not a number`,
		"2026-07-01T00:00,51\n":                            "is beyond 50",
		"2026-07-01T00:00,1e400\n":                         "is not a number",
		"2026-07-01T00:00,1\n2026-07-01T00:00,1,2\n":       "line 3",
		"2026-07-01T00:07,1\n":                             "2026-07-01T00:07:00Z",
		"noon,1\n":                                         `"noon" is not a time`,
		"2026-08-01T00:00,1\n":                             "none from 2026-07-01T00:00:00Z",
		"2026-07-01T00:00,1\n2026-07-01T00:00,\n":          `"" is not a number`,
		"2026-07-01T00:00,1\n0001-01-01T00:00,1\n":         "steps",
		strings.Repeat("<html>", 3) + ",x\n":               "is not a",
		"2026-07-01T00:00,1\n\"2026-07-01T01:00,2\n":       "line 3",
		"2026-07-01T00:00,1\n2026-07-01T00:00,-50.00001\n": "is beyond 50",
	} {
		data, err := readCSV("$/kWh", rows)
		if !errors.Is(err, feed.ErrResponse) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v", rows, data, err)
		}
	}
}
