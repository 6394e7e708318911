package feedtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

func (m *Market) serveCAISO(step time.Duration, column string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		from, to := parse("20060102T15:04-0700", q.Get("startdatetime"), time.UTC), parse("20060102T15:04-0700", q.Get("enddatetime"), time.UTC)
		if to.Sub(from) > 31*24*time.Hour || q.Get("resultformat") != "6" {
			_, _ = w.Write(Zipped("INVALID_REQUEST.xml", `<m:OASISReport xmlns:m="x"><m:ERROR><m:ERR_CODE>1004</m:ERR_CODE><m:ERR_DESC>Exceeded date range</m:ERR_DESC></m:ERROR></m:OASISReport>`))
			return
		}
		var out strings.Builder
		out.WriteString("INTERVALSTARTTIME_GMT,INTERVALENDTIME_GMT,OPR_DT,OPR_HR,NODE_ID,NODE,MARKET_RUN_ID,LMP_TYPE," + column + "\n")
		m.Instants(from, to, step, func(at time.Time) {
			for kind, price := range map[string]string{"LMP": m.mwh(at), "MCC": "-1"} {
				fmt.Fprintf(&out, "%s,%s,,,X,%s,%s,%s,%s\n", at.Format("2006-01-02T15:04:05-00:00"), at.Add(step).Format("2006-01-02T15:04:05-00:00"),
					q.Get("node"), q.Get("market_run_id"), kind, price)
			}
		})
		_, _ = w.Write(Zipped("20260701_PRC_LMP.csv", out.String()))
	}
}

func (m *Market) servePJM(w http.ResponseWriter, r *http.Request) {
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
	m.Instants(parse("01/02/2006 15:04", from, ept), parse("01/02/2006 15:04", to, ept).Add(time.Minute), time.Hour, func(at time.Time) {
		items = append(items, map[string]any{"datetime_beginning_utc": at.Format("2006-01-02T15:04:05"),
			"datetime_beginning_ept": at.In(ept).Format("2006-01-02T15:04:05"), "pnode_id": json.Number(q.Get("pnode_id")),
			"pnode_name": "COMED", price: json.Number(m.mwh(at)), "row_is_current": true})
	})
	start, _ := strconv.Atoi(q.Get("startRow"))
	count, _ := strconv.Atoi(q.Get("rowCount"))
	page := items[min(start-1, len(items)):min(start-1+count, len(items))]
	writeJSON(w, map[string]any{"links": []any{}, "items": page, "searchSpecification": map[string]any{}, "totalRows": len(items)})
}

// serveComEd has prices of five minutes, and the average of the current hour with the time
// of its last price.
func (m *Market) serveComEd(w http.ResponseWriter, r *http.Request) {
	q, local := r.URL.Query(), zone("America/Chicago")
	items := []map[string]string{}
	add := func(at, stamp time.Time) {
		items = append(items, map[string]string{"millisUTC": strconv.FormatInt(stamp.UnixMilli(), 10), "price": fmt.Sprintf("%.2f", m.Price(at)*100)})
	}
	switch q.Get("type") {
	case "currenthouraverage":
		m.Instants(m.now.Add(-time.Hour), m.now, time.Hour, func(at time.Time) { add(at, at.Add(55*time.Minute)) })
	case "5minutefeed":
		from, to := parse("200601021504", q.Get("datestart"), local), parse("200601021504", q.Get("dateend"), local)
		m.Instants(from, to, 5*time.Minute, func(at time.Time) { add(at, at) })
	}
	writeJSON(w, items)
}

// fileDay returns the local day of a daily file and the day after.
func fileDay(digits string, location *time.Location) (from, to time.Time) {
	from = parse("20060102", digits, location)
	return from, from.AddDate(0, 0, 1)
}

func (m *Market) serveNYISO(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	local := zone("America/New_York")
	from, to := fileDay(name[:8], local)
	var out strings.Builder
	out.WriteString(`"Time Stamp","Name","PTID","LBMP ($/MWHr)","Marginal Cost Losses ($/MWHr)","Marginal Cost Congestion ($/MWHr)"` + "\n")
	step, layout, shift := time.Hour, "01/02/2006 15:04", time.Duration(0)
	if strings.HasSuffix(name, "realtime_zone.csv") {
		step, layout, shift = 5*time.Minute, "01/02/2006 15:04:05", 5*time.Minute
	}
	m.Instants(from, to, step, func(at time.Time) {
		for _, zone := range []string{"CAPITL", "N.Y.C."} {
			fmt.Fprintf(&out, "%q,%q,61757,%s,1,0\n", at.Add(shift).In(local).Format(layout), zone, m.mwh(at))
		}
	})
	_, _ = io.WriteString(w, out.String())
}

// serveISONE has a report such as da/final.
func (m *Market) serveISONE(report string) http.HandlerFunc {
	local := zone("America/New_York")
	return func(w http.ResponseWriter, r *http.Request) {
		if user, word, _ := r.BasicAuth(); user != "user" || word != "word" || r.Header.Get("Accept") != "application/json" {
			http.Error(w, "no user", http.StatusUnauthorized)
			return
		}
		asked, ok := strings.CutPrefix(r.URL.Path, "/hourlylmp/"+report+"/day/") // 20260701/location/4000
		if !ok {
			http.NotFound(w, r)
			return
		}
		day, location, _ := strings.Cut(asked, "/location/")
		from, to := fileDay(day, local)
		var hours []any
		m.Instants(from, to, time.Hour, func(at time.Time) {
			hours = append(hours, map[string]any{"BeginDate": at.In(local).Format("2006-01-02T15:04:05.000-07:00"),
				"Location": map[string]string{"@LocId": location, "@LocType": "HUB", "$": ".H.INTERNAL_HUB"},
				"LmpTotal": json.Number(m.mwh(at)), "EnergyComponent": 1})
		})
		writeJSON(w, map[string]any{"HourlyLmps": map[string]any{"HourlyLmp": hours}})
	}
}

// serveMISO has a report such as da_expost_lmp.
func (m *Market) serveMISO(report string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		digits, ok := strings.CutSuffix(r.URL.Path[1:], "_"+report+".csv")
		if !ok {
			http.NotFound(w, r)
			return
		}
		m.writeMISO(w, digits)
	}
}

func (m *Market) writeMISO(w io.Writer, digits string) {
	from, to := fileDay(digits, time.FixedZone("EST", -5*60*60))
	out := "Day Ahead Market ExPost LMPs\r\n" + from.Format("01/02/2006") + "\r\n\r\n,,,All Hours-Ending are Eastern Standard Time (EST)\r\nNode,Type,Value"
	lines := map[string]string{"LMP": "", "MCC": "", "MLC": ""}
	m.Instants(from, to, time.Hour, func(at time.Time) {
		out += fmt.Sprintf(",HE %d", at.Sub(from)/time.Hour+1)
		lines["LMP"] += "," + m.mwh(at)
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

func (m *Market) serveSPP(w http.ResponseWriter, r *http.Request) {
	file := r.URL.Query().Get("path") // /2026/07/By_Day/DA-LMP-SL-202607010100.csv
	from, to := fileDay(file[len(file)-16:len(file)-8], zone("America/Chicago"))
	if file != from.Format("/2006/01/By_Day/DA-LMP-SL-20060102")+"0100.csv" {
		http.NotFound(w, r)
		return
	}
	m.writeSPP(w, from, to, time.Hour)
}

// serveLatestSPP has a file of the latest five minutes.
func (m *Market) serveLatestSPP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/rtbm-lmp-by-location" || r.URL.Query().Get("path") != "/RTBM-LMP-SL-latestInterval.csv" {
		http.NotFound(w, r)
		return
	}
	m.writeSPP(w, m.now.Add(-5*time.Minute), m.now, 5*time.Minute)
}

func (m *Market) writeSPP(w io.Writer, from, to time.Time, step time.Duration) {
	const layout = "01/02/2006 15:04:05"
	var out strings.Builder
	out.WriteString("Interval,GMTIntervalEnd,Settlement Location,Pnode,LMP,MLC,MCC,MEC,BAA\n")
	m.Instants(from, to, step, func(at time.Time) {
		for _, node := range []string{"AECC_CSWS", "SPPNORTH_HUB"} {
			end := at.Add(step)
			fmt.Fprintf(&out, "%s,%s,%s,P,%s,0,0,0,SPP\n", end.In(zone("America/Chicago")).Format(layout), end.Format(layout), node, m.mwh(at))
		}
	})
	_, _ = io.WriteString(w, out.String())
}

// serveERCOT has pages of 17 rows.
func (m *Market) serveERCOT(w http.ResponseWriter, r *http.Request) {
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
	page, _ := strconv.Atoi(q.Get("page"))
	const size = 17
	point, rows, all := q.Get("settlementPoint"), [][]any{}, 0
	add := func(row func() []any) { // only the rows of the page are made
		if all/size == page-1 {
			rows = append(rows, row())
		}
		all++
	}
	m.Instants(from, to, step, func(at time.Time) {
		clock := at.In(local)
		repeated := clock.Add(-time.Hour).Hour() == clock.Hour()
		if !realTime {
			add(func() []any {
				return []any{clock.Format(time.DateOnly), fmt.Sprintf("%02d:00", clock.Hour()+1), point, json.Number(m.mwh(at)), repeated}
			})
			return
		}
		for _, kind := range []string{"LZ", "LZEW"} {
			add(func() []any {
				price := map[string]string{"LZ": m.mwh(at), "LZEW": "-5"}[kind]
				return []any{clock.Format(time.DateOnly), clock.Hour() + 1, clock.Minute()/15 + 1, point, kind, json.Number(price), repeated}
			})
		}
	})
	named := make([]map[string]string, len(fields))
	for i, name := range fields {
		named[i] = map[string]string{"name": name}
	}
	writeJSON(w, map[string]any{"_meta": map[string]int{"totalPages": (all + size - 1) / size, "currentPage": page},
		"fields": named, "data": rows})
}
