package feed_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the tests need the same zones on every machine

	"github.com/gridhook/gridhook/pricing/feed"
)

func zone(name string) *time.Location {
	location, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return location
}

// source is a source of the tests with its stand-in.
type source struct {
	adapter    string
	parameters map[string]string
	secret     string
	zone       string
	step       time.Duration
	serve      http.HandlerFunc
}

// query returns the query of days in the source's time zone.
func (s source) query(address, from string, days int) *feed.Query {
	day, err := time.ParseInLocation(time.DateOnly, from, zone(s.zone))
	if err != nil {
		panic(err)
	}
	parameters := map[string]string{}
	for name, value := range s.parameters {
		parameters[name] = strings.ReplaceAll(value, "SERVER", address)
	}
	return &feed.Query{
		URL: address, Parameters: parameters, Secret: s.secret, Location: zone(s.zone),
		From: day, To: day.AddDate(0, 0, days),
	}
}

// fetch runs a fetch to its end, as a worker does.
func (s source) fetch(t *testing.T, from string, days int) (feed.Data, error) {
	t.Helper()
	server := httptest.NewServer(s.serve)
	defer server.Close()
	adapter, ok := feed.ByName(s.adapter)
	if !ok {
		t.Fatalf("no adapter %s", s.adapter)
	}
	q := s.query(server.URL, from, days)
	requests, err := adapter.Requests(q)
	if err != nil {
		return feed.Data{}, err
	}
	var all feed.Data
	for n := 0; len(requests) > 0; n++ {
		if n == 100 {
			t.Fatal("100 requests are not enough")
		}
		r := requests[0]
		requests = requests[1:]
		response, ok := send(t, r)
		if !ok {
			continue
		}
		data, err := adapter.Read(q, response)
		if err != nil {
			return feed.Data{}, err
		}
		all.Prices = append(all.Prices, data.Prices...)
		all.Alerts = append(all.Alerts, data.Alerts...)
		all.Alerted = all.Alerted || data.Alerted
		if data.Tariff != nil {
			all.Tariff = data.Tariff
		}
		requests = append(requests, data.Next...)
	}
	return all, nil
}

// send makes a request. It is false if the response is an allowed 404.
func send(t *testing.T, r feed.Request) (*feed.Response, bool) {
	t.Helper()
	method := http.MethodGet
	if r.Body != nil {
		method = http.MethodPost
	}
	request, err := http.NewRequest(method, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range r.Header {
		request.Header[name] = values
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode == http.StatusNotFound && r.Optional {
		return nil, false
	}
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s", r.URL, response.StatusCode, body)
	}
	return &feed.Response{Request: &r, Header: response.Header, Body: body}, true
}

// worth is the published price of an interval, $/kWh. It differs from hour to hour.
func worth(at time.Time) float64 {
	price := float64(at.Unix()/300%1000) / 10000
	if wrong {
		price++
	}
	return price
}

// mwh is a price in $/MWh as operators publish it.
func mwh(at time.Time) string { return fmt.Sprintf("%.1f", worth(at)*1000) }

// stored are the days from which the stand-ins without a query for days have prices.
var stored = []time.Time{
	time.Date(2026, 3, 8, 0, 0, 0, 0, time.UTC), time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC),
	time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC),
}

// These variables change what every stand-in publishes. unpublished leaves out intervals.
// corrects repeats each interval, and the first time with a wrong price.
var (
	unpublished     func(at time.Time) bool
	corrects, wrong bool
)

// instants calls a function for each published interval between two times.
func instants(from, to time.Time, step time.Duration, f func(at time.Time)) {
	for at := from.UTC(); at.Before(to); at = at.Add(step) {
		if unpublished != nil && unpublished(at) {
			continue
		}
		if wrong = corrects; wrong {
			f(at)
			wrong = false
		}
		f(at)
	}
}

func parse(layout, s string, location *time.Location) time.Time {
	t, err := time.ParseInLocation(layout, s, location)
	if err != nil {
		panic(err)
	}
	return t
}

func zipped(name, content string) []byte {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	member, _ := archive.Create(name)
	_, _ = io.WriteString(member, content)
	_ = archive.Close()
	return out.Bytes()
}

func writeJSON(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }

// sources are all adapters of prices with stand-ins that behave as the operators document.
func sources() map[string]source {
	return map[string]source{
		"caiso": {"caiso", map[string]string{"node": "TH_NP15_GEN-APND"}, "", "America/Los_Angeles", time.Hour, serveCAISO(time.Hour, "MW")},
		"caiso 5 minutes": {"caiso", map[string]string{"node": "TH_NP15_GEN-APND", "report": "PRC_INTVL_LMP"}, "", "America/Los_Angeles", 5 * time.Minute,
			serveCAISO(5*time.Minute, "VALUE")},
		"pjm":                       {"pjm", map[string]string{"node": "33092371"}, "key", "America/New_York", time.Hour, servePJM},
		"pjm real-time":             {"pjm", map[string]string{"node": "33092371", "market": "REAL_TIME"}, "key", "America/Chicago", time.Hour, servePJM},
		"comed":                     {"comed", map[string]string{"node": "COMED"}, "", "America/Chicago", 5 * time.Minute, serveComEd},
		"nyiso":                     {"nyiso", map[string]string{"node": "N.Y.C."}, "", "America/New_York", time.Hour, serveNYISO},
		"nyiso elsewhere":           {"nyiso", map[string]string{"node": "N.Y.C."}, "", "America/Los_Angeles", time.Hour, serveNYISO},
		"nyiso real-time elsewhere": {"nyiso", map[string]string{"node": "N.Y.C.", "market": "REAL_TIME"}, "", "UTC", 5 * time.Minute, serveNYISO},
		"ercot elsewhere":           {"ercot", map[string]string{"node": "LZ_HOUSTON", "tokenUrl": "SERVER/token"}, "user:w:ord:key", "America/New_York", time.Hour, serveERCOT},
		"nyiso real-time":           {"nyiso", map[string]string{"node": "N.Y.C.", "market": "REAL_TIME"}, "", "America/New_York", 5 * time.Minute, serveNYISO},
		"isone":                     {"isone", map[string]string{"node": "4000"}, "user:word", "America/New_York", time.Hour, serveISONE},
		"miso":                      {"miso", map[string]string{"node": "MINN.HUB"}, "", "America/Chicago", time.Hour, serveMISO},
		"spp":                       {"spp", map[string]string{"node": "SPPNORTH_HUB"}, "", "America/Chicago", time.Hour, serveSPP},
		"ercot":                     {"ercot", map[string]string{"node": "LZ_HOUSTON", "tokenUrl": "SERVER/token"}, "user:w:ord:key", "America/Chicago", time.Hour, serveERCOT},
		"ercot real-time": {"ercot", map[string]string{"node": "LZ_HOUSTON", "market": "REAL_TIME", "tokenUrl": "SERVER/token"}, "user:w:ord:key", "America/Chicago", 15 * time.Minute,
			serveERCOT},
		"gridx":    {"gridx", map[string]string{"utility": "PGE", "rate": "EELEC", "circuit": "013532223"}, "", "America/Los_Angeles", time.Hour, serveGridX},
		"midas":    {"midas", map[string]string{"rin": "USCA-TSTS-TTOU-TEST"}, "", "America/Los_Angeles", time.Hour, serveMIDAS},
		"openadr3": {"openadr3", map[string]string{"program": "EELEC-013532223"}, "id:secret", "America/Los_Angeles", 30 * time.Minute, serveOpenADR},
		"csv": {"csv", map[string]string{"node": "A", "nodeField": "Zone", "timeField": "Local Time", "priceField": "Price", "unit": "cents/kWh"}, "", "America/New_York", time.Hour,
			serveCSV},
		"json": {"json", map[string]string{"node": "A", "list": "data.prices", "timeField": "time.utc", "priceField": "value", "unit": "$/kWh", "stepMinutes": "15"}, "token", "America/New_York",
			15 * time.Minute, serveList},
	}
}

func serveCAISO(step time.Duration, column string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		from, to := parse("20060102T15:04-0700", q.Get("startdatetime"), time.UTC), parse("20060102T15:04-0700", q.Get("enddatetime"), time.UTC)
		if to.Sub(from) > 31*24*time.Hour || q.Get("resultformat") != "6" {
			_, _ = w.Write(zipped("INVALID_REQUEST.xml", `<m:OASISReport xmlns:m="x"><m:ERROR><m:ERR_CODE>1004</m:ERR_CODE><m:ERR_DESC>Exceeded date range</m:ERR_DESC></m:ERROR></m:OASISReport>`))
			return
		}
		out := "INTERVALSTARTTIME_GMT,INTERVALENDTIME_GMT,OPR_DT,OPR_HR,NODE_ID,NODE,MARKET_RUN_ID,LMP_TYPE," + column + "\n"
		instants(from, to, step, func(at time.Time) {
			for kind, price := range map[string]string{"LMP": mwh(at), "MCC": "-1"} {
				out += fmt.Sprintf("%s,%s,,,X,%s,%s,%s,%s\n", at.Format("2006-01-02T15:04:05-00:00"), at.Add(step).Format("2006-01-02T15:04:05-00:00"),
					q.Get("node"), q.Get("market_run_id"), kind, price)
			}
		})
		_, _ = w.Write(zipped("20260701_PRC_LMP.csv", out))
	}
}

func servePJM(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if r.Header.Get("Ocp-Apim-Subscription-Key") != "key" {
		http.Error(w, "no key", http.StatusUnauthorized)
		return
	}
	price := "total_lmp_da"
	if strings.Contains(r.URL.Path, "rt_hrl_lmps") {
		price = "total_lmp_rt"
	}
	ept := zone("America/New_York")
	from, to, _ := strings.Cut(q.Get("datetime_beginning_ept"), "to")
	var items []any
	// The filter is inclusive at both ends.
	instants(parse("01/02/2006 15:04", from, ept), parse("01/02/2006 15:04", to, ept).Add(time.Minute), time.Hour, func(at time.Time) {
		items = append(items, map[string]any{"datetime_beginning_utc": at.Format("2006-01-02T15:04:05"),
			"datetime_beginning_ept": at.In(ept).Format("2006-01-02T15:04:05"), "pnode_id": json.Number(q.Get("pnode_id")),
			"pnode_name": "COMED", price: json.Number(mwh(at)), "row_is_current": true})
	})
	start, _ := strconv.Atoi(q.Get("startRow"))
	count, _ := strconv.Atoi(q.Get("rowCount"))
	page := items[min(start-1, len(items)):min(start-1+count, len(items))]
	writeJSON(w, map[string]any{"links": []any{}, "items": page, "searchSpecification": map[string]any{}, "totalRows": len(items)})
}

func serveComEd(w http.ResponseWriter, r *http.Request) {
	q, local := r.URL.Query(), zone("America/Chicago")
	items := []map[string]string{}
	instants(parse("200601021504", q.Get("datestart"), local), parse("200601021504", q.Get("dateend"), local), 5*time.Minute, func(at time.Time) {
		items = append(items, map[string]string{"millisUTC": strconv.FormatInt(at.UnixMilli(), 10), "price": fmt.Sprintf("%.2f", worth(at)*100)})
	})
	writeJSON(w, items)
}

// fileDay returns the local day of a daily file and the day after.
func fileDay(digits string, location *time.Location) (from, to time.Time) {
	from = parse("20060102", digits, location)
	return from, from.AddDate(0, 0, 1)
}

func serveNYISO(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	local := zone("America/New_York")
	from, to := fileDay(name[:8], local)
	out := `"Time Stamp","Name","PTID","LBMP ($/MWHr)","Marginal Cost Losses ($/MWHr)","Marginal Cost Congestion ($/MWHr)"` + "\n"
	step, layout, shift := time.Hour, "01/02/2006 15:04", time.Duration(0)
	if strings.HasSuffix(name, "realtime_zone.csv") {
		step, layout, shift = 5*time.Minute, "01/02/2006 15:04:05", 5*time.Minute
	}
	instants(from, to, step, func(at time.Time) {
		for _, zone := range []string{"CAPITL", "N.Y.C."} {
			out += fmt.Sprintf("%q,%q,61757,%s,1,0\n", at.Add(shift).In(local).Format(layout), zone, mwh(at))
		}
	})
	_, _ = io.WriteString(w, out)
}

func serveISONE(w http.ResponseWriter, r *http.Request) {
	if user, word, _ := r.BasicAuth(); user != "user" || word != "word" || r.Header.Get("Accept") != "application/json" {
		http.Error(w, "no user", http.StatusUnauthorized)
		return
	}
	parts := strings.Split(r.URL.Path, "/") // /hourlylmp/da/final/day/20260701/location/4000
	local := zone("America/New_York")
	from, to := fileDay(parts[5], local)
	var hours []any
	instants(from, to, time.Hour, func(at time.Time) {
		hours = append(hours, map[string]any{"BeginDate": at.In(local).Format("2006-01-02T15:04:05.000-07:00"),
			"Location": map[string]string{"@LocId": parts[7], "@LocType": "HUB", "$": ".H.INTERNAL_HUB"},
			"LmpTotal": json.Number(mwh(at)), "EnergyComponent": 1})
	})
	writeJSON(w, map[string]any{"HourlyLmps": map[string]any{"HourlyLmp": hours}})
}

func serveMISO(w http.ResponseWriter, r *http.Request) {
	est := time.FixedZone("EST", -5*60*60)
	from, to := fileDay(r.URL.Path[1:9], est)
	out := "Day Ahead Market ExPost LMPs\r\n" + from.Format("01/02/2006") + "\r\n\r\n,,,All Hours-Ending are Eastern Standard Time (EST)\r\nNode,Type,Value"
	lines := map[string]string{"LMP": "", "MCC": "", "MLC": ""}
	instants(from, to, time.Hour, func(at time.Time) {
		out += fmt.Sprintf(",HE %d", at.Sub(from)/time.Hour+1)
		lines["LMP"] += "," + mwh(at)
		lines["MCC"] += ",0"
		lines["MLC"] += ",0"
	})
	out += "\r\n"
	for _, node := range []string{"AECI", "MINN.HUB"} {
		for value, prices := range lines {
			out += node + ",Hub," + value + prices + "\r\n"
		}
	}
	_, _ = io.WriteString(w, out)
}

func serveSPP(w http.ResponseWriter, r *http.Request) {
	file := r.URL.Query().Get("path") // /2026/07/By_Day/DA-LMP-SL-202607010100.csv
	local := zone("America/Chicago")
	from, to := fileDay(file[len(file)-16:len(file)-8], local)
	if file != from.Format("/2006/01/By_Day/DA-LMP-SL-20060102")+"0100.csv" {
		http.NotFound(w, r)
		return
	}
	out := "Interval,GMTIntervalEnd,Settlement Location,Pnode,LMP,MLC,MCC,MEC,BAA\n"
	instants(from, to, time.Hour, func(at time.Time) {
		for _, node := range []string{"AECC_CSWS", "SPPNORTH_HUB"} {
			end := at.Add(time.Hour)
			out += fmt.Sprintf("%s,%s,%s,P,%s,0,0,0,SPP\n", end.In(local).Format("01/02/2006 15:04:05"), end.Format("01/02/2006 15:04:05"), node, mwh(at))
		}
	})
	_, _ = io.WriteString(w, out)
}

// serveERCOT has pages of seven rows.
func serveERCOT(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		_ = r.ParseForm()
		if r.Form.Get("username") != "user" || r.Form.Get("password") != "w:ord" {
			http.Error(w, "no user", http.StatusUnauthorized)
			return
		}
		writeJSON(w, map[string]any{"access_token": "other", "id_token": "id", "token_type": "Bearer"})
		return
	}
	if r.Header.Get("Authorization") != "Bearer id" || r.Header.Get("Ocp-Apim-Subscription-Key") != "key" {
		http.Error(w, "no key", http.StatusUnauthorized)
		return
	}
	q, local := r.URL.Query(), zone("America/Chicago")
	from, to := parse(time.DateOnly, q.Get("deliveryDateFrom"), local), parse(time.DateOnly, q.Get("deliveryDateTo"), local).AddDate(0, 0, 1)
	fields := []string{"deliveryDate", "hourEnding", "settlementPoint", "settlementPointPrice", "DSTFlag"}
	realTime := strings.HasPrefix(r.URL.Path, "/np6-905-cd/")
	step := time.Hour
	if realTime {
		step = 15 * time.Minute
		fields = []string{"deliveryDate", "deliveryHour", "deliveryInterval", "settlementPoint", "settlementPointType", "settlementPointPrice", "DSTFlag"}
	}
	var rows [][]any
	instants(from, to, step, func(at time.Time) {
		clock := at.In(local)
		repeated := clock.Add(-time.Hour).Hour() == clock.Hour()
		point, price := q.Get("settlementPoint"), json.Number(mwh(at))
		if realTime {
			rows = append(rows,
				[]any{clock.Format(time.DateOnly), clock.Hour() + 1, clock.Minute()/15 + 1, point, "LZ", price, repeated},
				[]any{clock.Format(time.DateOnly), clock.Hour() + 1, clock.Minute()/15 + 1, point, "LZEW", json.Number("-5"), repeated})
			return
		}
		rows = append(rows, []any{clock.Format(time.DateOnly), fmt.Sprintf("%02d:00", clock.Hour()+1), point, price, repeated})
	})
	page, _ := strconv.Atoi(q.Get("page"))
	const size = 7
	named := make([]map[string]string, len(fields))
	for i, name := range fields {
		named[i] = map[string]string{"name": name}
	}
	writeJSON(w, map[string]any{"_meta": map[string]int{"totalPages": (len(rows) + size - 1) / size, "currentPage": page},
		"fields": named, "data": rows[min((page-1)*size, len(rows)):min(page*size, len(rows))]})
}

func serveGridX(w http.ResponseWriter, r *http.Request) {
	q, local := r.URL.Query(), zone("America/Los_Angeles")
	last := parse("20060102", q.Get("enddate"), local)
	var curves []any
	for day := parse("20060102", q.Get("startdate"), local); !day.After(last); day = day.AddDate(0, 0, 1) {
		var details []any
		instants(day, day.AddDate(0, 0, 1), time.Hour, func(at time.Time) {
			details = append(details, map[string]any{"startIntervalTimeStamp": at.In(local).Format("2006-01-02T15:04:05-0700"),
				"intervalPrice": fmt.Sprintf("%.6f", worth(at)), "priceStatus": "Final", "priceComponents": []any{
					map[string]string{"component": "cld", "intervalPrice": "0.010000", "priceType": "distribution"},
					map[string]string{"component": "mec", "intervalPrice": fmt.Sprintf("%.6f", worth(at)-0.01), "priceType": "generation"},
				}})
		})
		curves = append(curves, map[string]any{"priceHeader": map[string]any{"priceCurveName": "PGE-CalFUSE-EELEC-SECONDARY", "marketName": "CAISO-DAM",
			"intervalLengthInMinutes": 60, "settlementCurrency": "USD", "settlementUnit": "kWh", "recordCount": len(details)}, "priceDetails": details})
	}
	asked, _ := json.Marshal(map[string]string{"ratename": q.Get("ratename"), "representativeCircuitId": q.Get("representativeCircuitId")})
	writeJSON(w, map[string]any{"meta": map[string]any{"code": 200, "requestBody": string(asked), "response": "Request succeeded"}, "data": curves})
}

// serveMIDAS has the prices of 72 hours from each of three days.
func serveMIDAS(w http.ResponseWriter, r *http.Request) {
	var values []any
	for _, day := range stored {
		instants(day, day.AddDate(0, 0, 3), time.Hour, func(at time.Time) {
			end := at.Add(time.Hour - time.Second)
			values = append(values, map[string]any{"ValueName": "winter off peak", "DateStart": at.Format(time.DateOnly), "TimeStart": at.Format(time.TimeOnly),
				"DateEnd": end.Format(time.DateOnly), "TimeEnd": end.Format(time.TimeOnly), "value": worth(at), "Unit": "$/kWh"})
		})
	}
	writeJSON(w, map[string]any{"RateID": r.URL.Query().Get("ID"), "RateName": "CEC TEST24HTOU", "ValueInformation": values})
}

// serveOpenADR has an event for each hour of three days around the asked ones, and 60
// programs.
func serveOpenADR(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/auth/token" {
		_ = r.ParseForm()
		if r.Form.Get("client_id") == "id" && r.Form.Get("client_secret") == "secret" && r.Form.Get("grant_type") == "client_credentials" {
			writeJSON(w, map[string]any{"access_token": "granted", "token_type": "Bearer"})
			return
		}
	}
	if r.Header.Get("Authorization") != "Bearer granted" {
		http.Error(w, "no token", http.StatusUnauthorized)
		return
	}
	var objects []any
	if r.URL.Path == "/programs" {
		for i := range 60 {
			objects = append(objects, map[string]string{"id": fmt.Sprint("p", i), "programName": fmt.Sprint("other", i)})
		}
		objects = append(objects, map[string]string{"id": "p60", "programName": "EELEC-013532223"})
	} else {
		for _, day := range stored {
			instants(day, day.AddDate(0, 0, 3), time.Hour, func(at time.Time) {
				objects = append(objects, map[string]any{"id": at.String(), "programID": r.URL.Query().Get("programID"),
					"payloadDescriptors": []any{map[string]string{"objectType": "EVENT_PAYLOAD_DESCRIPTOR", "payloadType": "PRICE", "units": "KWH", "currency": "USD"}},
					"intervalPeriod":     map[string]string{"start": at.Format(time.RFC3339), "duration": "PT30M"},
					"intervals": []any{
						map[string]any{"id": 0, "payloads": []any{map[string]any{"type": "PRICE", "values": []float64{worth(at)}}}},
						map[string]any{"id": 1, "payloads": []any{map[string]any{"type": "GHG", "values": []float64{300}}, map[string]any{"type": "PRICE", "values": []float64{worth(at.Add(30 * time.Minute))}}}},
					}})
			})
		}
	}
	skip, _ := strconv.Atoi(r.URL.Query().Get("skip"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	writeJSON(w, objects[min(skip, len(objects)):min(skip+limit, len(objects))])
}

// serveCSV has local times without an offset.
func serveCSV(w http.ResponseWriter, _ *http.Request) {
	local := zone("America/New_York")
	out := "Zone,Local Time,Price\n"
	for _, day := range stored {
		from, to := fileDay(day.Format("20060102"), local)
		instants(from, to, time.Hour, func(at time.Time) {
			out += fmt.Sprintf("B,%s,1\nA,%s,%.2f\n", at.In(local).Format("2006-01-02 15:04"), at.In(local).Format("2006-01-02 15:04"), worth(at)*100)
		})
	}
	_, _ = io.WriteString(w, out)
}

func serveList(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer token" {
		http.Error(w, "no token", http.StatusUnauthorized)
		return
	}
	var prices []any
	for _, day := range stored {
		instants(day, day.AddDate(0, 0, 3), 15*time.Minute, func(at time.Time) {
			prices = append(prices, map[string]any{"time": map[string]any{"utc": at.Unix()}, "value": worth(at)})
		})
	}
	writeJSON(w, map[string]any{"data": map[string]any{"prices": prices}})
}

// response returns a response to the request of an address.
func response(address string, body string) *feed.Response {
	if _, err := url.Parse(address); err != nil {
		panic(err)
	}
	return &feed.Response{Request: &feed.Request{URL: address}, Body: []byte(body)}
}
