package feedtest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"time"
)

func (m *Market) serveGridX(w http.ResponseWriter, r *http.Request) {
	q, local := r.URL.Query(), zone("America/Los_Angeles")
	last := parse("20060102", q.Get("enddate"), local)
	var curves []any
	for day := parse("20060102", q.Get("startdate"), local); !day.After(last); day = day.AddDate(0, 0, 1) {
		var details []any
		m.Instants(day, day.AddDate(0, 0, 1), time.Hour, func(at time.Time) {
			details = append(details, map[string]any{"startIntervalTimeStamp": at.In(local).Format("2006-01-02T15:04:05-0700"),
				"intervalPrice": fmt.Sprintf("%.6f", m.Price(at)), "priceStatus": "Final", "priceComponents": []any{
					map[string]string{"component": "cld", "intervalPrice": "0.010000", "priceType": "distribution"},
					map[string]string{"component": "mec", "intervalPrice": fmt.Sprintf("%.6f", m.Price(at)-0.01), "priceType": "generation"},
				}})
		})
		curves = append(curves, map[string]any{"priceHeader": map[string]any{"priceCurveName": "PGE-CalFUSE-EELEC-SECONDARY", "marketName": "CAISO-DAM",
			"intervalLengthInMinutes": 60, "settlementCurrency": "USD", "settlementUnit": "kWh", "recordCount": len(details)}, "priceDetails": details})
	}
	asked, _ := json.Marshal(map[string]string{"ratename": q.Get("ratename"), "representativeCircuitId": q.Get("representativeCircuitId")})
	writeJSON(w, map[string]any{"meta": map[string]any{"code": 200, "requestBody": string(asked), "response": "Request succeeded"}, "data": curves})
}

// serveMIDAS has the prices of 72 hours from each of three days.
func (m *Market) serveMIDAS(w http.ResponseWriter, r *http.Request) {
	var values []any
	for _, day := range stored() {
		m.Instants(day, day.AddDate(0, 0, 3), time.Hour, func(at time.Time) {
			end := at.Add(time.Hour - time.Second)
			values = append(values, map[string]any{"ValueName": "winter off peak", "DateStart": at.Format(time.DateOnly), "TimeStart": at.Format(time.TimeOnly),
				"DateEnd": end.Format(time.DateOnly), "TimeEnd": end.Format(time.TimeOnly), "value": m.Price(at), "Unit": "$/kWh"})
		})
	}
	writeJSON(w, map[string]any{"RateID": r.URL.Query().Get("ID"), "RateName": "CEC TEST24HTOU", "ValueInformation": values})
}

// serveOpenADR has an event for each hour of three days around the asked ones, and 60
// programs.
func (m *Market) serveOpenADR(w http.ResponseWriter, r *http.Request) {
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
		for _, day := range stored() {
			m.Instants(day, day.AddDate(0, 0, 3), time.Hour, func(at time.Time) {
				objects = append(objects, map[string]any{"id": at.String(), "programID": r.URL.Query().Get("programID"),
					"payloadDescriptors": []any{map[string]string{"objectType": "EVENT_PAYLOAD_DESCRIPTOR", "payloadType": "PRICE", "units": "KWH", "currency": "USD"}},
					"intervalPeriod":     map[string]string{"start": at.Format(time.RFC3339), "duration": "PT30M"},
					"intervals": []any{
						map[string]any{"id": 0, "payloads": []any{map[string]any{"type": "PRICE", "values": []float64{m.Price(at)}}}},
						map[string]any{"id": 1, "payloads": []any{map[string]any{"type": "GHG", "values": []float64{300}}, map[string]any{"type": "PRICE", "values": []float64{m.Price(at.Add(30 * time.Minute))}}}},
					}})
			})
		}
	}
	skip, _ := strconv.Atoi(r.URL.Query().Get("skip"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	writeJSON(w, objects[min(skip, len(objects)):min(skip+limit, len(objects))])
}

// serveCSV has local times without an offset.
func (m *Market) serveCSV(w http.ResponseWriter, _ *http.Request) {
	local := zone("America/New_York")
	out := "Zone,Local Time,Price\n"
	for _, day := range stored() {
		from, to := fileDay(day.Format("20060102"), local)
		m.Instants(from, to, time.Hour, func(at time.Time) {
			out += fmt.Sprintf("B,%s,1\nA,%s,%.2f\n", at.In(local).Format("2006-01-02 15:04"), at.In(local).Format("2006-01-02 15:04"), m.Price(at)*100)
		})
	}
	_, _ = io.WriteString(w, out)
}

func (m *Market) serveList(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer token" {
		http.Error(w, "no token", http.StatusUnauthorized)
		return
	}
	var prices []any
	for _, day := range stored() {
		m.Instants(day, day.AddDate(0, 0, 3), 15*time.Minute, func(at time.Time) {
			prices = append(prices, map[string]any{"time": map[string]any{"utc": at.Unix()}, "value": m.Price(at)})
		})
	}
	writeJSON(w, map[string]any{"data": map[string]any{"prices": prices}})
}

// serveOpenEI has a rate that has ended, a page of other rates, and its successor.
func (m *Market) serveOpenEI(w http.ResponseWriter, r *http.Request) {
	rate := func(label string, more map[string]any) map[string]any {
		all := map[string]any{"label": label, "eiaid": 14328, "sector": "Residential", "name": "E-1", "startdate": 1700000000,
			"energyratestructure": []any{[]any{map[string]float64{"rate": 0.2 + m.Shift}}}}
		maps.Copy(all, more)
		return all
	}
	var items []any
	switch q := r.URL.Query(); {
	case q.Get("getpage") == "a":
		items = append(items, rate("a", map[string]any{"enddate": 1740000000}))
	case q.Get("offset") == "0":
		for i := range 100 {
			items = append(items, rate(fmt.Sprint("other", i), nil))
		}
	default:
		items = append(items, rate("b", map[string]any{"supersedes": "a"}))
	}
	writeJSON(w, map[string]any{"items": items})
}

// serveAlerts has a Flex Alert of one hour. A market with other prices has another hour.
func (m *Market) serveAlerts(w http.ResponseWriter, r *http.Request) {
	hour := 16
	if m.Shift != 0 {
		hour++
	}
	writeJSON(w, map[string]any{"RateID": r.URL.Query().Get("ID"), "RateName": "Flex Alert", "ValueInformation": []any{map[string]any{
		"ValueName": "Flex Alert", "DateStart": "2026-07-02", "DateEnd": "2026-07-02",
		"TimeStart": fmt.Sprintf("%d:00:00", hour), "TimeEnd": fmt.Sprintf("%d:59:59", hour), "value": 1, "Unit": "Event",
	}}})
}
