package market_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing/market"
)

// readAll returns the series and the wrong lines of a file.
func readAll(file []byte, o market.Options) (all []*market.Series, bad []market.LineError, err error) {
	all, err = market.Read(bytes.NewReader(file), o, func(e market.LineError) { bad = append(bad, e) })
	return all, bad, err
}

func TestRead_Operators(t *testing.T) {
	chicago, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, file string
		node       string
		kind       market.Kind
		at         string // start of the first interval
		want       float64
		points     int
	}{
		{"CAISO day-ahead", "INTERVALSTARTTIME_GMT,INTERVALENDTIME_GMT,OPR_DT,OPR_HR,NODE_ID,NODE,MARKET_RUN_ID,LMP_TYPE,MW\n" +
			"2026-07-01T07:00:00-00:00,2026-07-01T08:00:00-00:00,2026-07-01,1,TH_NP15,TH_NP15_GEN-APND,DAM,LMP,41.5\n" +
			"2026-07-01T07:00:00-00:00,2026-07-01T08:00:00-00:00,2026-07-01,1,TH_NP15,TH_NP15_GEN-APND,DAM,MCC,-3\n" +
			"2026-07-01T08:00:00-00:00,2026-07-01T09:00:00-00:00,2026-07-01,2,TH_NP15,TH_NP15_GEN-APND,DAM,LMP,40\n",
			"TH_NP15_GEN-APND", market.DayAhead, "2026-07-01T07:00:00Z", 0.0415, 2},
		{"CAISO five minutes", "IntervalStartTime_GMT,Node,Market_Run_ID,LMP_Type,Value\n2026-07-01T07:00:00-00:00,N,RTM,LMP,30\n2026-07-01T07:05:00-00:00,N,RTM,LMP,60\n",
			"N", market.RealTime, "2026-07-01T07:00:00Z", 0.045, 2},
		{"PJM day-ahead", "datetime_beginning_utc,datetime_beginning_ept,pnode_id,pnode_name,total_lmp_da\n7/1/2026 4:00:00 AM,7/1/2026 12:00:00 AM,51288,COMED,28.25\n",
			"COMED", market.DayAhead, "2026-07-01T04:00:00Z", 0.02825, 1},
		{"PJM real-time", "datetime_beginning_utc,pnode_name,total_lmp_rt\n7/1/2026 5:00:00 PM,COMED,-1.5\n", "COMED", market.RealTime, "2026-07-01T17:00:00Z", -0.0015, 1},
		{"ComEd", "millisUTC,price\n1782864000000,2.4\n1782864300000,2.8\n", "default", market.RealTime, "2026-07-01T00:00:00Z", 0.026, 2},
		{"ERCOT day-ahead", "DeliveryDate,HourEnding,SettlementPoint,SettlementPointPrice,DSTFlag\n07/01/2026,01:00,LZ_HOUSTON,\"1,021.5\",N\n07/01/2026,24:00,LZ_HOUSTON,21,N\n",
			"LZ_HOUSTON", market.DayAhead, "2026-07-01T05:00:00Z", 1.0215, 2},
		{"ERCOT real-time", "Delivery Date,Delivery Hour,Delivery Interval,Settlement Point Name,Settlement Point Type,Settlement Point Price,DSTFlag\n07/01/2026,1,2,HB_NORTH,HU,19.5,N\n",
			"HB_NORTH", market.RealTime, "2026-07-01T05:15:00Z", 0.0195, 1},
		{"ERCOT load zone", "DeliveryDate,DeliveryHour,DeliveryInterval,SettlementPointName,SettlementPointType,SettlementPointPrice,DSTFlag\n" +
			"07/01/2026,1,2,LZ_HOUSTON,LZ,18,N\n07/01/2026,1,2,LZ_HOUSTON,LZEW,19,N\n07/01/2026,1,3,LZ_HOUSTON,LZ_DCEW,20,N\n",
			"LZ_HOUSTON", market.RealTime, "2026-07-01T05:15:00Z", 0.018, 1},
		{"plain", "utc_start,rt_lmp_usd_mwh\n2018-03-01T05:00Z,25.4677\n", "default", market.RealTime, "2018-03-01T05:00:00Z", 0.0254677, 1},
		{"plain with a unit", "start,node,market,price,unit\n2026-07-01T00:00:00-05:00,X,day-ahead,3.5,cents/kWh\n", "X", market.DayAhead, "2026-07-01T05:00:00Z", 0.035, 1},
		// 3.5 ¢/kWh is 3.5/100 = 0.035 $/kWh. By letters alone the unit would be "kwh".
		{"plain with the sign of cents", "start,node,market,price,unit\n2026-07-01T00:00:00-05:00,X,day-ahead,3.5,¢/kWh\n", "X", market.DayAhead, "2026-07-01T05:00:00Z", 0.035, 1},
		{"plain with a space before an offset", "start,price_usd_mwh\n2026-07-01 00:00:00-05:00,30\n2026-07-01 01:00:00-05:00,31\n", "default", market.DayAhead, "2026-07-01T05:00:00Z", 0.03, 2},
		{"NDJSON", `{"node":"X","market":"REAL_TIME","start":"2026-07-01T00:00:00Z","price":30,"unit":"$/MWh"}` + "\n\n" + `{"node":"X","market":"REAL_TIME","start":"2026-07-01T01:00:00Z","price":"31","unit":"$/MWh"}`,
			"X", market.RealTime, "2026-07-01T00:00:00Z", 0.03, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := market.Options{Node: "default", Kind: market.DayAhead, Location: chicago}
			all, bad, err := readAll([]byte(tt.file), o)
			if err != nil || len(bad) > 0 || len(all) != 1 {
				t.Fatalf("%d series, %v, %v", len(all), bad, err)
			}
			s := all[0]
			got, ok := s.At(instant(tt.at).Unix())
			if s.Node != tt.node || s.Kind != tt.kind || !ok || math.Abs(got.Value-tt.want) > 1e-12 || len(s.Points()) != tt.points {
				t.Errorf("%s, %s: %+v, %v, %d points", s.Node, s.Kind, got, ok, len(s.Points()))
			}
		})
	}
}

// When the clocks go back, ERCOT names an hour twice and flags the second.
func TestRead_ERCOTClockChanges(t *testing.T) {
	chicago, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	for _, day := range []struct {
		date  string
		hours []string
		flags string
	}{
		{"11/01/2026", []string{"01:00", "02:00", "02:00", "03:00", "04:00"}, "NNYNN"},
		{"03/08/2026", []string{"01:00", "02:00", "04:00", "05:00"}, "NNNN"},
	} {
		file := "DeliveryDate,HourEnding,SettlementPoint,SettlementPointPrice,DSTFlag\n"
		for i, hour := range day.hours {
			file += fmt.Sprintf("%s,%s,LZ,%d,%c\n", day.date, hour, i+1, day.flags[i])
		}
		all, bad, err := readAll([]byte(file), market.Options{Location: chicago})
		if err != nil || len(bad) > 0 {
			t.Fatal(bad, err)
		}
		points := all[0].Points()
		if len(points) != len(day.hours) {
			t.Fatalf("%s: %d points", day.date, len(points))
		}
		for i, p := range points {
			if want := points[0].Start.Add(time.Duration(i) * time.Hour); !p.Start.Equal(want) || math.Abs(p.Price-float64(i+1)/1000) > 1e-12 {
				t.Errorf("%s: price %v at %v, want %d at %v", day.date, p.Price, p.Start, i+1, want)
			}
		}
	}
}

// The columns of ERCOT's public API have dates of ISO 8601 and a flag of true or false.
func TestReadRows_ERCOTAPI(t *testing.T) {
	row := func(hour, price, flag string) map[string]string {
		return map[string]string{"deliverydate": "2026-11-01", "hourending": hour, "settlementpoint": "LZ", "settlementpointprice": price, "dstflag": flag}
	}
	chicago, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	rows := []map[string]string{row("01:00", "1", "false"), row("02:00", "2", "false"), row("02:00", "3", "true"), row("03:00", "4", "false")}
	o := market.Options{Node: "LZ", Kind: market.DayAhead, Location: chicago}
	s, bad, err := market.ReadRows(rows, o)
	if err != nil || len(bad) > 0 {
		t.Fatal(bad, err)
	}
	points := s.Points()
	for i, p := range points {
		if want := instant("2026-11-01T05:00:00Z").Add(time.Duration(i) * time.Hour); len(points) != 4 || !p.Start.Equal(want) || math.Abs(p.Price-float64(i+1)/1000) > 1e-12 {
			t.Errorf("price %v at %v, want %d at %v", p.Price, p.Start, i+1, want)
		}
	}
	rows[1]["hourending"] = "25:00"
	if _, bad, _ := market.ReadRows(rows, o); len(bad) != 1 || bad[0].Line != 2 {
		t.Error(bad)
	}
}

func TestReadRows_Times(t *testing.T) {
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	local := market.Options{Location: newYork, Local: true, Step: time.Hour}
	ending, quarters := local, local
	ending.Ending, quarters.Step = true, 15*time.Minute
	for _, tt := range []struct {
		name   string
		o      market.Options
		starts []string
		want   []string
	}{
		{"UTC", market.Options{Location: newYork, Step: time.Hour}, []string{"2026-07-01 00:00"}, []string{"2026-07-01T00:00:00Z"}},
		{"local", local, []string{"07/01/2026 00:00", "2026-07-01T01:00:00-05:00", "1782885600", "1782889200000"},
			[]string{"2026-07-01T04:00:00Z", "2026-07-01T06:00:00Z", "2026-07-01T06:00:00Z", "2026-07-01T07:00:00Z"}},
		{"25 hours", local, []string{"11/01/2026 00:00", "11/01/2026 01:00", "11/01/2026 01:00", "11/01/2026 02:00"},
			[]string{"2026-11-01T04:00:00Z", "2026-11-01T05:00:00Z", "2026-11-01T06:00:00Z", "2026-11-01T07:00:00Z"}},
		{"25 hours, the newest first", local, []string{"11/01/2026 02:00", "11/01/2026 01:00", "11/01/2026 01:00", "11/01/2026 00:00"},
			[]string{"2026-11-01T07:00:00Z", "2026-11-01T06:00:00Z", "2026-11-01T05:00:00Z", "2026-11-01T04:00:00Z"}},
		{"25 hours without a quarter of the first", quarters, []string{"11/01/2026 01:15", "11/01/2026 01:15", "11/01/2026 01:45", "11/01/2026 01:00", "11/01/2026 01:15", "11/01/2026 01:30", "11/01/2026 01:45", "11/01/2026 02:00"},
			[]string{"2026-11-01T05:15:00Z", "2026-11-01T05:15:00Z", "2026-11-01T05:45:00Z", "2026-11-01T06:00:00Z", "2026-11-01T06:15:00Z", "2026-11-01T06:30:00Z", "2026-11-01T06:45:00Z", "2026-11-01T07:00:00Z"}},
		{"25 hours by their ends", ending, []string{"11/01/2026 01:00", "11/01/2026 01:00", "11/01/2026 02:00"},
			[]string{"2026-11-01T04:00:00Z", "2026-11-01T05:00:00Z", "2026-11-01T06:00:00Z"}},
		{"23 hours", local, []string{"03/08/2026 01:00", "03/08/2026 02:00", "03/08/2026 03:00"},
			[]string{"2026-03-08T06:00:00Z", "", "2026-03-08T07:00:00Z"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for i := range tt.starts {
				// Each row is the last of a file, so that its time can be told.
				var rows []map[string]string
				for j, start := range tt.starts[:i+1] {
					rows = append(rows, map[string]string{"start": start, "priceusdkwh": map[bool]string{true: "9", false: "1"}[j == i]})
				}
				s, bad, err := market.ReadRows(rows, tt.o)
				if tt.want[i] == "" {
					if len(bad) != 1 || !strings.Contains(bad[0].Reason, "does not exist in America/New_York") {
						t.Errorf("%s: %v", tt.starts[i], bad)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if price, ok := s.At(instant(tt.want[i]).Unix()); !ok || price.Value != 9 {
					t.Errorf("%s: %v, %v at %s", tt.starts[i], price, ok, tt.want[i])
				}
			}
		})
	}
}

// Each market of a node has its own two hours of one name when the clocks go back.
func TestReadRows_RepeatedHourByMarket(t *testing.T) {
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, start := range []string{"11/01/2026 00:00", "11/01/2026 01:00", "11/01/2026 01:00", "11/01/2026 02:00"} {
		for _, kind := range []string{"DAY_AHEAD", "REAL_TIME"} {
			rows = append(rows, map[string]string{"start": start, "node": "A", "market": kind, "priceusdkwh": "1"})
		}
	}
	for _, kind := range []market.Kind{market.DayAhead, market.RealTime} {
		s, bad, err := market.ReadRows(rows, market.Options{Node: "A", Kind: kind, Location: newYork, Local: true, Step: time.Hour})
		if err != nil || len(bad) > 0 || s.Kind != kind || len(s.Points()) != 4 {
			t.Fatalf("%s: %+v, %v, %v, want 4 prices", kind, s, bad, err)
		}
	}
}

func TestRead_ValidLines(t *testing.T) {
	file := "start,node,price,unit\n2026-07-01T00:00:00Z,A,30,$/MWh\nnonsense,A,30,$/MWh\n2026-07-01T01:00:00Z,A,cheap,$/MWh\n" +
		"2026-07-01T01:00:00Z,A,30\n2026-07-01T01:00:00Z,A,30,EUR\n2026-07-01T02:00:00Z,B,30,\n2026-07-01T03:00:00Z,B,30,$/kWh\n"
	all, bad, err := readAll([]byte(file), market.Options{})
	if err != nil || len(all) != 2 || all[0].Node != "A" || all[1].Node != "B" {
		t.Fatalf("%d series, %v", len(all), err)
	}
	want := []string{`line 3: start: "nonsense" is not a time`, `line 4: price: "cheap" is not a number`, "line 5: line: has 3 fields",
		`line 6: unit: "EUR" is not known`, "line 7: unit: is missing"}
	if len(bad) != len(want) {
		t.Fatalf("got %v", bad)
	}
	for i, e := range bad {
		if got := text(e); !strings.HasPrefix(got, want[i]) {
			t.Errorf("got %s, want %s", got, want[i])
		}
	}
}

func TestRead_Invalid(t *testing.T) {
	for name, tt := range map[string]struct {
		file string
		want error
		line string
	}{
		"empty":         {" \n", market.ErrFile, ""},
		"no price":      {"start,cost\n2026-07-01T00:00:00Z,3\n", market.ErrFile, "line 2: price: there is no column of prices"},
		"no time":       {"price_usd_kwh\n0.03\n", market.ErrFile, "line 2: start: there is no column of times"},
		"no zone":       {"DeliveryDate,HourEnding,SettlementPointPrice\n07/01/2026,01:00,3\n", market.ErrFile, "line 2: DeliveryDate: is a local date"},
		"bad hour":      {"DeliveryDate,HourEnding,SettlementPointPrice\n07/01/2026,25:00,3\n", market.ErrFile, "line 2: DeliveryDate"},
		"market":        {"start,price_usd_kwh,market\n2026-07-01T00:00:00Z,3,bazaar\n", market.ErrFile, `line 2: market: "bazaar" is not a market`},
		"decimal comma": {"start,price_usd_mwh\n2026-07-01T00:00:00Z,\"30,5\"\n", market.ErrFile, `line 2: priceusdmwh: "30,5" is not a number`},
		"euros":         {"start,price,unit\n2026-07-01T00:00:00Z,3,€/MWh\n", market.ErrFile, `line 2: unit: "€/MWh" is not known`},
		"not an array":  {"{]\n", market.ErrFile, "line 1: line: not a JSON object"},
		"not a series":  {"start,price_usd_kwh\n2026-07-01T00:00:07Z,3\n", market.ErrSeries, ""},
	} {
		_, bad, err := readAll([]byte(tt.file), market.Options{})
		if !errors.Is(err, tt.want) || tt.line != "" && (len(bad) != 1 || !strings.HasPrefix(text(bad[0]), tt.line)) {
			t.Errorf("%s: got %v, %v", name, bad, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("start,price,unit\n2026-07-01T00:00:00Z,3,$/MWh\n"))
	f.Add([]byte("DeliveryDate,HourEnding,SettlementPoint,SettlementPointPrice,DSTFlag\n11/01/2026,02:00,LZ,21,Y\n"))
	f.Add([]byte(`{"start":"2026-07-01T00:00:00Z","price":1e999,"unit":"mwh"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, _, err := readAll(data, market.Options{Location: time.UTC})
		if err != nil && !errors.Is(err, market.ErrFile) && !errors.Is(err, market.ErrSeries) {
			t.Fatalf("got %v", err)
		}
		for _, s := range all {
			from, _ := s.Span()
			if p, ok := s.At(from.Unix() - from.Unix()%900 + 900); ok && math.IsNaN(p.Value) {
				t.Fatal("a price that is not a number")
			}
		}
	})
}

// text returns a line's error as a sentence.
func text(e market.LineError) string {
	return fmt.Sprintf("line %d: %s: %s", e.Line, e.Field, e.Reason)
}
