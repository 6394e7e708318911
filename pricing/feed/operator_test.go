package feed_test

import (
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"fmt"
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

// readOne reads a response of a source about 2026-07-01.
func readOne(s feedtest.Source, path, body string) (feed.Data, error) {
	adapter, _ := feed.ByName(s.Adapter)
	return adapter.Read(s.Query("http://source", "2026-07-01", 1), response("http://source"+path, body))
}

// expect checks the prices of a response, $/kWh by time.
func expect(t *testing.T, name string, data feed.Data, err error, want map[string]float64) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	got := map[string]float64{}
	for _, p := range data.Prices {
		for _, point := range p.Points {
			got[point.Start.Format("2006-01-02T15:04Z")] = point.Price
		}
	}
	for at, price := range want {
		if math.Abs(got[at]-price) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, got, want)
			return
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %v, want %v", name, got, want)
	}
}

// Each operator's columns, in the form of its own files.
func TestOperator_Columns(t *testing.T) {
	all := sources()
	with := func(name string, parameters ...string) feedtest.Source {
		s := all[name]
		s.Parameters = map[string]string{"node": all[name].Parameters["node"]}
		for i := 0; i < len(parameters); i += 2 {
			s.Parameters[parameters[i]] = parameters[i+1]
		}
		return s
	}
	for _, tt := range []struct {
		name       string
		source     feedtest.Source
		path, body string
		want       map[string]float64
	}{
		{"CAISO 15 minutes", with("caiso", "report", "PRC_RTPD_LMP"), "", string(feedtest.Zipped("a.csv",
			"INTERVALSTARTTIME_GMT,INTERVALENDTIME_GMT,OPR_DT,OPR_HR,OPR_INTERVAL,NODE_ID,NODE,MARKET_RUN_ID,LMP_TYPE,XML_DATA_ITEM,PNODE_RESMRID,GRP_TYPE,POS,PRC,GROUP\n"+
				"2026-07-01T07:00:00-00:00,2026-07-01T07:15:00-00:00,2026-07-01,1,1,TH_NP15_GEN-APND,TH_NP15_GEN-APND,RTPD,LMP,LMP_PRC,TH_NP15_GEN-APND,ALL_APNODES,0,-3.25,1\n"+
				"2026-07-01T07:15:00-00:00,2026-07-01T07:30:00-00:00,2026-07-01,1,2,TH_NP15_GEN-APND,TH_NP15_GEN-APND,RTPD,LMP,LMP_PRC,TH_NP15_GEN-APND,ALL_APNODES,0,12,1\n")),
			map[string]float64{"2026-07-01T07:00Z": -0.00325, "2026-07-01T07:15Z": 0.012}},
		{"ComEd average", with("comed", "feed", "currenthouraverage"), "", `[{"millisUTC":"1782883500000","price":"2.4"}]`, map[string]float64{"2026-07-01T05:00Z": 0.024}},
		{"ERCOT file", with("ercot"), "/file", string(feedtest.Zipped("cdr.csv", "DeliveryDate,HourEnding,SettlementPoint,SettlementPointPrice,DSTFlag\n"+
			"07/01/2026,01:00,HB_NORTH,1,N\n07/01/2026,01:00,LZ_HOUSTON,20,N\n07/01/2026,24:00,LZ_HOUSTON,21,N\n")),
			map[string]float64{"2026-07-01T05:00Z": 0.02, "2026-07-02T04:00Z": 0.021}},
		{"ERCOT real-time file", with("ercot", "market", "REAL_TIME"), "/file",
			"DeliveryDate,DeliveryHour,DeliveryInterval,SettlementPointName,SettlementPointType,SettlementPointPrice,DSTFlag\n" +
				"07/01/2026,1,2,LZ_HOUSTON,LZ,18,N\n07/01/2026,1,2,LZ_HOUSTON,LZEW,19,N\n", map[string]float64{"2026-07-01T05:15Z": 0.018}},
		// A corrective dispatch at 00:12:40, and forecasts of 15 minutes at the end.
		{"NYISO real-time", all["nyiso real-time"], "", "\"Time Stamp\",\"Name\",\"PTID\",\"LBMP ($/MWHr)\",\"Marginal Cost Losses ($/MWHr)\",\"Marginal Cost Congestion ($/MWHr)\"\n" +
			"\"07/01/2026 00:05:00\",\"N.Y.C.\",61761,30.5,1,0\n\"07/01/2026 00:10:00\",\"N.Y.C.\",61761,31,1,0\n\"07/01/2026 00:12:40\",\"N.Y.C.\",61761,900,1,0\n" +
			"\"07/01/2026 00:15:00\",\"N.Y.C.\",61761,32,1,0\n\"07/01/2026 00:30:00\",\"N.Y.C.\",61761,77,1,0\n\"07/01/2026 00:45:00\",\"N.Y.C.\",61761,77,1,0\n",
			map[string]float64{"2026-07-01T04:00Z": 0.0305, "2026-07-01T04:05Z": 0.031, "2026-07-01T04:10Z": 0.032}},
		{"SPP real-time", with("spp", "market", "REAL_TIME"), "", "Interval,GMTIntervalEnd,Settlement Location,Pnode,LMP,MLC,MCC,MEC\n" +
			"07/01/2026 00:05:00,07/01/2026 05:05:00,SPPNORTH_HUB,SPPNORTH_HUB,-4.5,0,0,0\n", map[string]float64{"2026-07-01T05:00Z": -0.0045}},
		{"MISO", all["miso"], "/20260701_da_expost_lmp.csv", "Day Ahead Market ExPost LMPs\n07/01/2026\n\n,,,All Hours-Ending are Eastern Standard Time (EST)\nNode,Type,Value,HE 1,HE 2,HE 3\n" +
			"MINN.HUB,Hub,LMP,21,22,\nMINN.HUB,Hub,MCC,1,1,1\n", map[string]float64{"2026-07-01T05:00Z": 0.021, "2026-07-01T06:00Z": 0.022}},
		{"ISO New England, one hour", all["isone"], "", `{"HourlyLmps":{"HourlyLmp":{"BeginDate":"2026-07-01T00:00:00.000-04:00","Location":{"@LocId":"4000","@LocType":"HUB","$":".H.INTERNAL_HUB"},"LmpTotal":24.46}}}`,
			map[string]float64{"2026-07-01T04:00Z": 0.02446}},
		{"ISO New England, no hour", all["isone"], "", `{"HourlyLmps":""}`, nil},
		{"PJM, no hour", all["pjm"], "", `{"links":[],"items":[],"totalRows":0}`, nil},
		{"ComEd, no price", all["comed"], "", `[]`, nil},
		{"CAISO, no data", all["caiso"], "", string(feedtest.Zipped("INVALID_REQUEST.xml", `<?xml version="1.0"?><m:OASISReport xmlns:m="http://www.caiso.com/soa/OASISReport_v1.xsd"><m:MessagePayload><m:RTO>`+
			`<m:name>CAISO</m:name><m:ERROR><m:ERR_CODE>1000</m:ERR_CODE><m:ERR_DESC>No data returned for the specified selection</m:ERR_DESC></m:ERROR></m:RTO></m:MessagePayload></m:OASISReport>`)), nil},
	} {
		data, err := readOne(tt.source, tt.path, tt.body)
		expect(t, tt.name, data, err, tt.want)
	}
}

func TestCAISO_Refused(t *testing.T) {
	var two, bomb bytes.Buffer
	archive := zip.NewWriter(&two)
	for _, name := range []string{"a.csv", "b.csv"} {
		_, _ = archive.Create(name)
	}
	_ = archive.Close()
	archive = zip.NewWriter(&bomb)
	member, _ := archive.Create("a.csv")
	zeros := make([]byte, 1<<20)
	for range 65 {
		_, _ = member.Write(zeros)
	}
	_ = archive.Close()
	good := string(feedtest.Zipped("a.csv", "INTERVALSTARTTIME_GMT,NODE,LMP_TYPE,MW\n2026-07-01T07:00:00-00:00,TH_NP15_GEN-APND,LMP,1\n"))
	for body, want := range map[string]string{
		two.String():         "is a zip file of 2 members",
		bomb.String():        "unzips to more than 67108864 bytes",
		good[:len(good)-30]:  "is no zip file",
		good[30:]:            "zip file",
		"Too many requests.": `begins with "Too many requests."`,
		string(feedtest.Zipped("a.xml", `<m:R xmlns:m="x"><m:ERR_CODE>1015</m:ERR_CODE><m:ERR_DESC>GroupZip DownLoad is in Processing</m:ERR_DESC></m:R>`)): `error "1015": GroupZip`,
		string(feedtest.Zipped("a.html", `<html>`)):                              "is error",
		string(feedtest.Zipped("a.csv", "INTERVALSTARTTIME_GMT,NODE\n1,2\n")):    `has no lmptype "LMP"`,
		string(feedtest.Zipped("a.csv", "START,NODE\n2026-07-01T07:00:00Z,2\n")): `has no column "intervalstarttimegmt"`,
	} {
		if data, err := readOne(sources()["caiso"], "", body); !errors.Is(err, feed.ErrResponse) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %+v, %v, want %s", data, err, want)
		}
	}
}

func TestMISO_OtherDay(t *testing.T) {
	body := "Day Ahead Market ExPost LMPs\n06/30/2026\n\n,,,All Hours-Ending are Eastern Standard Time (EST)\nNode,Type,Value,HE 1\nMINN.HUB,Hub,LMP,21\n"
	_, err := readOne(sources()["miso"], "/20260701_da_expost_lmp.csv", body)
	if !errors.Is(err, feed.ErrResponse) || !strings.Contains(err.Error(), "is no report of 2026-07-01") {
		t.Error(err)
	}
}

// The address of a mirror may have a query with a path.
func TestMISO_QueryWithPath(t *testing.T) {
	body := "Day Ahead Market ExPost LMPs\n07/01/2026\n\n,,,All Hours-Ending are Eastern Standard Time (EST)\nNode,Type,Value,HE 1\nMINN.HUB,Hub,LMP,21\n"
	if data, err := readOne(sources()["miso"], "/20260701_da_expost_lmp.csv?of=a/b", body); err != nil {
		t.Error(data, err)
	}
}

// A token service's response is a secret: no error shows it.
func TestERCOT_Token(t *testing.T) {
	s := sources()["ercot"]
	adapter, _ := feed.ByName("ercot")
	q := s.Query("http://source", "2026-07-01", 1)
	for _, body := range []string{`{"error":"invalid_grant","hint":"s3cret"}`, `"s3cret"`, `<html>s3cret`} {
		requests, err := adapter.Requests(q)
		if err != nil {
			t.Fatal(err)
		}
		_, err = read(adapter, q, &feed.Response{Request: &requests[0], Body: []byte(body)})
		if !errors.Is(err, feed.ErrResponse) || strings.Contains(err.Error(), "s3cret") {
			t.Error(err)
		}
	}
}

// The columns of a file say its market. Day-ahead hours are not the first quarters of hours in
// real time.
func TestERCOT_OtherMarket(t *testing.T) {
	hours := "DeliveryDate,HourEnding,SettlementPoint,SettlementPointPrice,DSTFlag\n07/01/2026,01:00,LZ_HOUSTON,20,N\n07/01/2026,02:00,LZ_HOUSTON,21,N\n"
	quarters := "DeliveryDate,DeliveryHour,DeliveryInterval,SettlementPointName,SettlementPointType,SettlementPointPrice,DSTFlag\n07/01/2026,1,1,LZ_HOUSTON,LZ,18,N\n"
	for asked, body := range map[market.Kind]string{market.RealTime: hours, market.DayAhead: quarters} {
		s := sources()["ercot"]
		s.Parameters["market"] = string(asked)
		data, err := readOne(s, "/file", body)
		if want := "has no " + string(asked) + " prices of LZ_HOUSTON"; !errors.Is(err, feed.ErrResponse) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", asked, data.Prices, err)
		}
	}
}

// A total that differs from its components, other units and another circuit are refused.
func TestGridX_Refused(t *testing.T) {
	good := `{"meta":{"code":200,"requestBody":"{\"ratename\":\"EELEC\",\"representativeCircuitId\":\"013532223\"}"},"data":[{"priceHeader":{"marketName":"CAISO-DAM","intervalLengthInMinutes":60,"settlementCurrency":"USD","settlementUnit":"kWh"},
		"priceDetails":[{"startIntervalTimeStamp":"2026-07-01T00:00:00-0700","intervalPrice":"0.053046","priceComponents":[{"component":"cld","intervalPrice":"0.000482"},{"component":"mec","intervalPrice":"0.052564"}]}]}]}`
	data, err := readOne(sources()["gridx"], "/getPricing", good)
	expect(t, "good", data, err, map[string]float64{"2026-07-01T07:00Z": 0.053046})
	aggregated := sources()["gridx"]
	aggregated.Parameters["cca"] = "MCE"
	if data, err = readOne(aggregated, "/getPricing", good); err != nil || data.Prices[0].Node != "EELEC-013532223-MCE" {
		t.Errorf("the prices of an aggregator: %+v, %v", data, err)
	}
	for _, tt := range []struct{ old, new, want string }{
		{"0.052564", "0.052570", "the components add up to 0.053052, the price is 0.053046"},
		{`"kWh"`, `"MWh"`, `has prices in "USD" per "MWh"`},
		{`"USD"`, `"EUR"`, `has prices in "EUR"`},
		{"CAISO-DAM", "CAISO-XYZ", `has prices of the market "CAISO-XYZ"`},
		{":60,", ":0,", "has intervals of 0 minutes"},
		{"-0700", "", "is not a time"},
		{`"0.053046"`, `"NaN"`, "NaN"},
		{`"code":200`, `"code":500`, "is no success"},
		{"013532223", "013532224", `is about rate "EELEC" and circuit "013532224"`},
	} {
		_, err := readOne(sources()["gridx"], "/getPricing", strings.Replace(good, tt.old, tt.new, 1))
		if !errors.Is(err, feed.ErrResponse) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

func TestGridX_Samples(t *testing.T) {
	for _, tt := range []struct {
		file, from, rate, circuit string
		first                     float64
	}{
		{"pge", "2025-03-01", "EELEC", "013532223", 0.053046},
		{"sce", "2025-07-01", "TOU-EV-9S", "System", 0.139976},
	} {
		s := sources()["gridx"]
		s.Parameters = map[string]string{"utility": strings.ToUpper(tt.file), "rate": tt.rate, "circuit": tt.circuit}
		adapter, _ := feed.ByName("gridx")
		sample := testdata(t, fmt.Sprintf("gridx/resources/gridx-pricing-spec/%s/examples/%s-pricing-response-sample.json", tt.file, tt.file))
		data, err := adapter.Read(s.Query("http://source", tt.from, 1), response("http://source/getPricing", sample))
		if err != nil {
			t.Fatal(tt.file, err)
		}
		if p := data.Prices[0]; p.Kind != market.DayAhead || p.Step != time.Hour || p.Points[0].Price != tt.first || p.Node != tt.rate+"-"+tt.circuit {
			t.Errorf("%s: %+v", tt.file, p)
		}
	}
}

// A label is followed to the newest version of its rate. A version that ends within the
// days of the query stays with its successor. An ended version without successor is refused.
func TestOpenEI_Newest(t *testing.T) {
	item := func(label, before, end string) string {
		return fmt.Sprintf(`{"label":%q,"eiaid":14328,"sector":"Residential","name":"E-1","startdate":1700000000%s%s}`, label, before, end)
	}
	supersedes := func(label string) string { return fmt.Sprintf(`,"supersedes":%q`, label) }
	const ended, ending, running = `,"enddate":1740000000`, `,"enddate":1782864000`, `,"enddate":1999999999`
	serve := func(rates map[string]string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			q := r.URL.Query()
			if q.Get("api_key") != "key" || q.Get("version") != "latest" || q.Get("detail") != "full" {
				http.Error(w, "no key", http.StatusUnauthorized)
				return
			}
			if label := q.Get("getpage"); label != "" {
				fmt.Fprintf(w, `{"items":[%s]}`, rates[label])
				return
			}
			var page []string
			if q.Get("offset") == "0" { // a full page of other rates comes first
				for i := range 100 {
					page = append(page, item(fmt.Sprint("other", i), "", ""))
				}
			} else {
				for _, rate := range rates {
					page = append(page, rate)
				}
			}
			fmt.Fprintf(w, `{"items":[%s]}`, strings.Join(page, ","))
		}
	}
	for name, tt := range map[string]struct {
		rates map[string]string
		want  []string
	}{
		"the only version":  {map[string]string{"a": item("a", "", "")}, []string{"a"}},
		"still in force":    {map[string]string{"a": item("a", "", running), "b": item("b", supersedes("a"), "")}, []string{"a"}},
		"two later":         {map[string]string{"a": item("a", "", ended), "b": item("b", supersedes("a"), ended), "c": item("c", supersedes("b"), "")}, []string{"c"}},
		"ends in the span":  {map[string]string{"a": item("a", "", ending), "b": item("b", supersedes("a"), "")}, []string{"a", "b"}},
		"without successor": {map[string]string{"a": item("a", "", ended)}, nil},
		"successor ended":   {map[string]string{"a": item("a", "", ended), "b": item("b", supersedes("a"), ended)}, nil},
	} {
		s := feedtest.Source{Adapter: "openei", Parameters: map[string]string{"label": "a"}, Secret: "key", Zone: "UTC", Serve: serve(tt.rates)}
		data, err := fetch(t, s, "2026-07-01", 2)
		if tt.want == nil {
			if !errors.Is(err, feed.ErrResponse) || !strings.Contains(err.Error(), "which ends on 2025-02-19") || data.Tariff != nil {
				t.Errorf("%s: %s, %v", name, data.Tariff, err)
			}
			continue
		}
		var want []string
		for _, label := range tt.want {
			want = append(want, tt.rates[label])
		}
		if err != nil || string(data.Tariff) != fmt.Sprintf(`{"items":[%s]}`, strings.Join(want, ",")) {
			t.Errorf("%s: %s, %v", name, data.Tariff, err)
		}
	}
	s := feedtest.Source{Adapter: "openei", Parameters: map[string]string{"label": "z"}, Secret: "key", Zone: "UTC", Serve: serve(map[string]string{"z": item("a", "", "")})}
	if _, err := fetch(t, s, "2026-07-01", 1); !errors.Is(err, feed.ErrResponse) {
		t.Error(err)
	}
}

// readEvents reads a page of the events of program p.
func readEvents(t *testing.T, s feedtest.Source, body string) (feed.Data, error) {
	t.Helper()
	programs, err := readOne(s, "/programs?skip=0&limit=50", fmt.Sprintf(`[{"id":"p","programName":%q}]`, s.Parameters["program"]))
	if err != nil {
		t.Fatal(err)
	}
	return programs.Next[0].Read(s.Query("http://source", "2026-07-01", 1), &feed.Response{Request: &programs.Next[0], Body: []byte(body)})
}

func TestOpenADR_Events(t *testing.T) {
	const start = `"start":"2026-07-01T07:00:00Z"`
	event := func(descriptor, period, intervals string) string {
		return fmt.Sprintf(`[{"id":"e","programID":"p","payloadDescriptors":[%s],"intervalPeriod":{%s},"intervals":[%s]}]`, descriptor, period, intervals)
	}
	descriptor := func(units, currency string) string {
		return fmt.Sprintf(`{"objectType":"EVENT_PAYLOAD_DESCRIPTOR","payloadType":"PRICE","units":%q,"currency":%q}`, units, currency)
	}
	interval := func(values string) string {
		return fmt.Sprintf(`{"id":0,"payloads":[{"type":"PRICE","values":[%s]}]}`, values)
	}
	hour := `,"duration":"PT1H"`
	for _, tt := range []struct {
		name, body string
		want       map[string]float64
		err        string
	}{
		{"MWh", event(descriptor("MWH", "USD"), start+hour, interval("170")+","+interval("-10")), map[string]float64{"2026-07-01T07:00Z": 0.17, "2026-07-01T08:00Z": -0.01}, ""},
		{"no descriptor", event("", start+hour, interval("0.2")), map[string]float64{"2026-07-01T07:00Z": 0.2}, ""},
		{"own periods", event("", `"duration":"PT0S"`, `{"intervalPeriod":{`+start+`,"duration":"PT15M"},"payloads":[{"type":"PRICE","values":[0.3]}]}`), map[string]float64{"2026-07-01T07:00Z": 0.3}, ""},
		{"own starts", event("", `"duration":"PT1H"`, `{"intervalPeriod":{`+start+`},"payloads":[{"type":"PRICE","values":[0.3]}]}`), map[string]float64{"2026-07-01T07:00Z": 0.3}, ""},
		{"own durations", event("", start, `{"intervalPeriod":{"duration":"PT15M"},"payloads":[{"type":"PRICE","values":[0.3]}]}`), map[string]float64{"2026-07-01T07:00Z": 0.3}, ""},
		{"a correction", event("", start+hour, interval("0.2"))[:len(event("", start+hour, interval("0.2")))-1] + "," + event("", start+hour, interval("0.4"))[1:], map[string]float64{"2026-07-01T07:00Z": 0.4}, ""},
		{"another day", event("", `"start":"2026-06-01T00:00:00Z"`+hour, interval("0.2")), nil, ""},
		{"no events", `[]`, nil, ""},
		{"units", event(descriptor("THERMS", "USD"), start+hour, interval("1")), nil, `units "THERMS" are not those of PRICE`},
		{"currency", event(descriptor("KWH", "EUR"), start+hour, interval("1")), nil, `currency "EUR" is not USD`},
		{"two values", event("", start+hour, interval("1,2")), nil, "2 values, 1 is expected"},
		{"text", event("", start+hour, interval(`"1"`)), nil, "is not a number"},
		{"no duration", event("", start, interval("1")), nil, "no start or no duration"},
		{"years", event("", start+`,"duration":"P9999Y"`, interval("1")), nil, "no start or no duration"},
		{"no start", event("", `"duration":"PT1H"`, interval("1")), nil, "no start or no duration"},
		{"price", event("", start+hour, interval("60")), nil, "is beyond 50"},
		{"program", strings.Replace(event("", start+hour, interval("1")), `"p"`, `"q"`, 1), nil, `has an event of program "q"`},
	} {
		data, err := readEvents(t, sources()["openadr3"], tt.body)
		if tt.err == "" {
			expect(t, tt.name, data, err, tt.want)
		} else if !errors.Is(err, feed.ErrResponse) || !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.err)
		}
	}
}

// Of overlapping events the event with the highest priority counts, also if it is on another
// page. Of events with the same priority the later counts.
func TestOpenADR_Priority(t *testing.T) {
	event := func(priority, start string, price float64) string {
		return fmt.Sprintf(`{"id":"e","programID":"p","priority":%s,"intervalPeriod":{"start":"2026-07-01T%s:00:00Z","duration":"PT2H"},
			"intervals":[{"payloads":[{"type":"PRICE","values":[%v]}]}]}`, priority, start, price)
	}
	for _, tt := range []struct {
		name   string
		events []string
		want   map[string]float64
	}{
		{"the higher first", []string{event("0", "09", 1.25), event("5", "08", 0.3)}, map[string]float64{"2026-07-01T08:00Z": 0.3, "2026-07-01T09:00Z": 1.25, "2026-07-01T10:00Z": 1.25}},
		{"the higher last", []string{event("5", "08", 0.3), event("0", "09", 1.25)}, map[string]float64{"2026-07-01T08:00Z": 0.3, "2026-07-01T09:00Z": 1.25, "2026-07-01T10:00Z": 1.25}},
		{"no priority", []string{event("7", "08", 0.3), event("null", "08", 0.4)}, map[string]float64{"2026-07-01T08:00Z": 0.3, "2026-07-01T09:00Z": 0.3}},
		{"the same", []string{event("7", "08", 0.3), event("7", "08", 0.4)}, map[string]float64{"2026-07-01T08:00Z": 0.4, "2026-07-01T09:00Z": 0.4}},
		{"on two pages", slices.Concat([]string{event("0", "08", 1.25)}, slices.Repeat([]string{event("5", "08", 0.3)}, 50)), map[string]float64{"2026-07-01T08:00Z": 1.25, "2026-07-01T09:00Z": 1.25}},
	} {
		s := sources()["openadr3"]
		s.Secret, s.Parameters = "token", map[string]string{"program": "P"}
		s.Serve = func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/programs" {
				fmt.Fprint(w, `[{"id":"p","programName":"P"}]`)
				return
			}
			page := tt.events[:min(50, len(tt.events))]
			if r.URL.Query().Get("skip") == "50" {
				page = tt.events[50:]
			}
			fmt.Fprintf(w, "[%s]", strings.Join(page, ","))
		}
		data, err := fetch(t, s, "2026-07-01", 1)
		expect(t, tt.name, data, err, tt.want)
	}
}

// The export prices of a program are another series than its import prices.
func TestOpenADR_Node(t *testing.T) {
	for payload, want := range map[string]string{"": "EELEC", "PRICE": "EELEC", "EXPORT_PRICE": "EELEC-EXPORT_PRICE"} {
		s := sources()["openadr3"]
		s.Parameters = map[string]string{"program": "EELEC", "payload": payload}
		body := fmt.Sprintf(`[{"id":"e","programID":"p","intervalPeriod":{"start":"2026-07-01T07:00:00Z","duration":"PT1H"},
			"intervals":[{"payloads":[{"type":%q,"values":[0.05]}]}]}]`, cmp.Or(payload, "PRICE"))
		data, err := readEvents(t, s, body)
		if err != nil || len(data.Prices) != 1 || data.Prices[0].Node != want {
			t.Errorf("%s: %+v, %v, want %s", payload, data, err, want)
		}
	}
}

// A program of marginal emissions feeds a grid region, in kg CO2 a kWh.
func TestOpenADR_Emissions(t *testing.T) {
	adapter, _ := feed.ByName("openadr3")
	event := func(units string) string {
		return fmt.Sprintf(`[{"id":"e","programID":"p","payloadDescriptors":[{"payloadType":"GHG","units":%q}],
			"intervalPeriod":{"start":"2026-07-01T07:00:00Z","duration":"PT1H"},"intervals":[{"payloads":[{"type":"GHG","values":[250]}]}]}]`, units)
	}
	s := sources()["openadr3"]
	s.Parameters = map[string]string{"program": "MOER", "payload": "GHG", "region": "TE"}
	data, err := readEvents(t, s, event("GHG"))
	if err != nil || len(data.Prices) != 1 || data.Prices[0].Node != "TE" || data.Prices[0].Kind != market.Emissions || data.Prices[0].Points[0].Price != 0.25 {
		t.Errorf("%+v, %v", data, err)
	}
	if _, err := readEvents(t, s, event("KWH")); err == nil || !strings.Contains(err.Error(), `units "KWH" are not those of GHG`) {
		t.Error(err)
	}
	delete(s.Parameters, "region")
	if _, err := adapter.Requests(s.Query("http://source", "2026-07-01", 1)); err == nil || !strings.Contains(err.Error(), "region:") {
		t.Error(err)
	}
}

// The units of a price are those of the event, of its program or of the source.
func TestOpenADR_Units(t *testing.T) {
	descriptor := func(units, currency string) string {
		return fmt.Sprintf(`[{"payloadType":"GHG","units":"G"},{"payloadType":"PRICE","units":%q,"currency":%q}]`, units, currency)
	}
	for _, tt := range []struct {
		name, program, event, parameter, err string
		price                                float64
	}{
		{"none", "null", "null", "", "", 10},
		{"of the source", "null", "null", "MWH", "", 0.01},
		{"descriptors without units", descriptor("", "USD"), descriptor("", "USD"), "MWH", "", 0.01},
		{"of the program", descriptor("MWH", "USD"), "null", "", "", 0.01},
		{"of the event", "[]", descriptor("MWH", "USD"), "", "", 0.01},
		{"of all", descriptor("MWH", "USD"), descriptor("MWH", "USD"), "MWH", "", 0.01},
		{"event and program differ", descriptor("MWH", "USD"), descriptor("KWH", "USD"), "", `"KWH" contradict the units "MWH"`, 0},
		{"program and source differ", descriptor("MWH", "USD"), "null", "KWH", `"MWH" contradict the units "KWH"`, 0},
		{"currency of the program", descriptor("MWH", "EUR"), "null", "", `currency "EUR" is not USD`, 0},
	} {
		s := sources()["openadr3"]
		s.Secret, s.Parameters = "token", map[string]string{"program": "P", "units": tt.parameter}
		s.Serve = func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/programs" {
				fmt.Fprintf(w, `[{"id":"p","programName":"P","payloadDescriptors":%s}]`, tt.program)
				return
			}
			fmt.Fprintf(w, `[{"id":"e","programID":"p","payloadDescriptors":%s,"intervalPeriod":{"start":"2026-07-01T07:00:00Z","duration":"PT1H"},
				"intervals":[{"payloads":[{"type":"PRICE","values":[10]}]}]}]`, tt.event)
		}
		data, err := fetch(t, s, "2026-07-01", 1)
		if tt.err == "" {
			expect(t, tt.name, data, err, map[string]float64{"2026-07-01T07:00Z": tt.price})
		} else if !errors.Is(err, feed.ErrResponse) || !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.err)
		}
	}
}
