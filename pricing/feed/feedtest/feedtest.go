// Package feedtest provides stand-ins for the servers of public price sources. They behave
// as the operators document their servers.
//
// Only tests import this package.
package feedtest

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	_ "time/tzdata" // the tests need the same zones on every machine

	"github.com/gridhook/gridhook/pricing/feed"
)

// Source is a source of prices with its stand-in.
type Source struct {
	Adapter string
	// Parameters may contain SERVER for the address of the stand-in.
	Parameters map[string]string
	Secret     string
	Zone       string
	Step       time.Duration
	Serve      http.HandlerFunc
	// Now is the time of a stand-in that publishes only the interval before it. It is nil
	// for the other stand-ins.
	Now *time.Time
}

// Query returns the query of days in the source's time zone. Their end is the stand-in's
// time.
func (s Source) Query(address, from string, days int) *feed.Query {
	day := parse(time.DateOnly, from, zone(s.Zone))
	q := &feed.Query{
		URL: address, Parameters: s.At(address), Secret: s.Secret, Location: zone(s.Zone),
		From: day, To: day.AddDate(0, 0, days),
	}
	if s.Now != nil {
		*s.Now = q.To
	}
	return q
}

// Published returns the start of the first price of a query that the stand-in publishes.
func (s Source) Published(q *feed.Query) time.Time {
	if s.Now != nil {
		return q.To.Add(-s.Step)
	}
	return q.From
}

// At returns the parameters with the address of the stand-in.
func (s Source) At(address string) map[string]string {
	parameters := map[string]string{}
	for name, value := range s.Parameters {
		parameters[name] = strings.ReplaceAll(value, "SERVER", address)
	}
	return parameters
}

// Market has the prices that all stand-ins publish.
type Market struct {
	// Unpublished reports whether an interval is left out. nil leaves out none.
	Unpublished func(at time.Time) bool
	// Corrects repeats each interval, the first time with a wrong price.
	Corrects bool
	// Shift is added to each price, in $/kWh.
	Shift float64

	wrong bool
	now   time.Time // see Source.Now
}

// Price returns the published price of an interval, in $/kWh. It differs from hour to hour.
func (m *Market) Price(at time.Time) float64 {
	price := float64(at.Unix()/300%1000)/10000 + m.Shift
	if m.wrong {
		price++
	}
	return price
}

// mwh is a price in $/MWh as operators publish it.
func (m *Market) mwh(at time.Time) string { return fmt.Sprintf("%.1f", m.Price(at)*1000) }

// Instants calls a function for each published interval between two times.
func (m *Market) Instants(from, to time.Time, step time.Duration, f func(at time.Time)) {
	for at := from.UTC(); at.Before(to); at = at.Add(step) {
		if m.Unpublished != nil && m.Unpublished(at) {
			continue
		}
		if m.wrong = m.Corrects; m.wrong {
			f(at)
			m.wrong = false
		}
		f(at)
	}
}

// stored returns the days from which the stand-ins without a query for days have prices.
func stored() []time.Time {
	return []time.Time{
		time.Date(2026, 3, 8, 0, 0, 0, 0, time.UTC), time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC),
		time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC),
	}
}

// Sources returns a source for each adapter of prices, and for their variants.
func (m *Market) Sources() map[string]Source {
	return map[string]Source{
		"caiso": {"caiso", map[string]string{"node": "TH_NP15_GEN-APND"}, "", "America/Los_Angeles", time.Hour, m.serveCAISO(time.Hour, "MW"), nil},
		"caiso real-time": {"caiso", map[string]string{"node": "TH_NP15_GEN-APND", "report": "PRC_INTVL_LMP"}, "", "America/Los_Angeles", 5 * time.Minute,
			m.serveCAISO(5*time.Minute, "VALUE"), nil},
		"pjm":                       {"pjm", map[string]string{"node": "33092371"}, "key", "America/New_York", time.Hour, m.servePJM, nil},
		"pjm real-time":             {"pjm", map[string]string{"node": "33092371", "market": "REAL_TIME"}, "key", "America/Chicago", time.Hour, m.servePJM, nil},
		"comed":                     {"comed", map[string]string{"node": "COMED"}, "", "America/Chicago", 5 * time.Minute, m.serveComEd, nil},
		"comed hourly":              {"comed", map[string]string{"node": "COMED", "feed": "currenthouraverage"}, "", "America/Chicago", time.Hour, m.serveComEd, &m.now},
		"nyiso":                     {"nyiso", map[string]string{"node": "N.Y.C."}, "", "America/New_York", time.Hour, m.serveNYISO, nil},
		"nyiso elsewhere":           {"nyiso", map[string]string{"node": "N.Y.C."}, "", "America/Los_Angeles", time.Hour, m.serveNYISO, nil},
		"nyiso real-time elsewhere": {"nyiso", map[string]string{"node": "N.Y.C.", "market": "REAL_TIME"}, "", "UTC", 5 * time.Minute, m.serveNYISO, nil},
		"ercot elsewhere":           {"ercot", map[string]string{"node": "LZ_HOUSTON", "tokenUrl": "SERVER/token"}, "user:w:ord:key", "America/New_York", time.Hour, m.serveERCOT, nil},
		"nyiso real-time":           {"nyiso", map[string]string{"node": "N.Y.C.", "market": "REAL_TIME"}, "", "America/New_York", 5 * time.Minute, m.serveNYISO, nil},
		"isone":                     {"isone", map[string]string{"node": "4000"}, "user:word", "America/New_York", time.Hour, m.serveISONE("da/final"), nil},
		"isone elsewhere":           {"isone", map[string]string{"node": "4000"}, "user:word", "America/Los_Angeles", time.Hour, m.serveISONE("da/final"), nil},
		"isone real-time":           {"isone", map[string]string{"node": "4000", "market": "REAL_TIME"}, "user:word", "America/New_York", time.Hour, m.serveISONE("rt/prelim"), nil},
		"miso":                      {"miso", map[string]string{"node": "MINN.HUB"}, "", "America/Chicago", time.Hour, m.serveMISO("da_expost_lmp"), nil},
		"miso real-time":            {"miso", map[string]string{"node": "MINN.HUB", "report": "rt_lmp_prelim"}, "", "America/Chicago", time.Hour, m.serveMISO("rt_lmp_prelim"), nil},
		"miso real-time final":      {"miso", map[string]string{"node": "MINN.HUB", "report": "rt_lmp_final"}, "", "Etc/GMT+5", time.Hour, m.serveMISO("rt_lmp_final"), nil},
		"spp":                       {"spp", map[string]string{"node": "SPPNORTH_HUB"}, "", "America/Chicago", time.Hour, m.serveSPP, nil},
		"spp elsewhere":             {"spp", map[string]string{"node": "SPPNORTH_HUB"}, "", "America/New_York", time.Hour, m.serveSPP, nil},
		"spp real-time":             {"spp", map[string]string{"node": "SPPNORTH_HUB", "market": "REAL_TIME"}, "", "America/Chicago", 5 * time.Minute, m.serveLatestSPP, &m.now},
		"ercot":                     {"ercot", map[string]string{"node": "LZ_HOUSTON", "tokenUrl": "SERVER/token"}, "user:w:ord:key", "America/Chicago", time.Hour, m.serveERCOT, nil},
		"ercot real-time": {"ercot", map[string]string{"node": "LZ_HOUSTON", "market": "REAL_TIME", "tokenUrl": "SERVER/token"}, "user:w:ord:key", "America/Chicago", 15 * time.Minute,
			m.serveERCOT, nil},
		"gridx":    {"gridx", map[string]string{"utility": "PGE", "rate": "EELEC", "circuit": "013532223"}, "", "America/Los_Angeles", time.Hour, m.serveGridX, nil},
		"midas":    {"midas", map[string]string{"rin": "USCA-TSTS-TTOU-TEST"}, "", "America/Los_Angeles", time.Hour, m.serveMIDAS, nil},
		"openadr3": {"openadr3", map[string]string{"program": "EELEC-013532223"}, "id:secret", "America/Los_Angeles", 30 * time.Minute, m.serveOpenADR, nil},
		"csv": {"csv", map[string]string{"node": "A", "nodeField": "Zone", "timeField": "Local Time", "priceField": "Price", "unit": "cents/kWh"}, "", "America/New_York", time.Hour,
			m.serveCSV, nil},
		"json": {"json", map[string]string{"node": "A", "list": "data.prices", "timeField": "time.utc", "priceField": "value", "unit": "$/kWh", "stepMinutes": "15"}, "token", "America/New_York",
			15 * time.Minute, m.serveList, nil},
	}
}

// Others returns a source of a tariff and a source of alerts.
func (m *Market) Others() map[string]Source {
	return map[string]Source{
		"openei":       {"openei", map[string]string{"label": "a"}, "key", "UTC", 0, m.serveOpenEI, nil},
		"midas alerts": {"midas", map[string]string{"rin": "USCA-FLEX-ALRT-0000"}, "", "America/Los_Angeles", 0, m.serveAlerts, nil},
	}
}

func zone(name string) *time.Location {
	location, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return location
}

func parse(layout, s string, location *time.Location) time.Time {
	t, err := time.ParseInLocation(layout, s, location)
	if err != nil {
		panic(err)
	}
	return t
}

// Zipped returns a zip file with one member.
func Zipped(name, content string) []byte {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	member, _ := archive.Create(name)
	_, _ = io.WriteString(member, content)
	_ = archive.Close()
	return out.Bytes()
}

func writeJSON(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }
