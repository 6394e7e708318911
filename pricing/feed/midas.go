package feed

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gridhook/gridhook/pricing/market"
)

// midasAdapter reads the Market Informed Demand Automation Server of the California Energy
// Commission, version 2.0. Source: README.md of
// https://github.com/california-energy-commission/MIDAS, sections "Get Rate Values", "SGIP
// GHG Emissions" and "CAISO Flex Alerts". Dates and times are UTC. realtime spans 72 hours
// from midnight Pacific, and alldata 90 days. A flex alert is an hour of value 1. The
// marginal emissions of a WattTime region are in g/kWh CO2 by five minutes.
var midasAdapter = Adapter{
	Name: "midas", Title: "CEC MIDAS: rates, emissions and Flex Alerts by RIN",
	Doc: "https://github.com/california-energy-commission/MIDAS", URL: "https://midasapi.energy.ca.gov",
	Every: time.Hour, Timezone: "America/Los_Angeles",
	Parameters: []Parameter{
		{Name: "rin", Doc: "rate identification number of a rate, of emissions or of Flex Alerts", Example: "USCA-PGPG-ETOU-0000", Required: true},
		{Name: "unit", Doc: "unit of the values to read, $/kWh by default", Values: []string{midasImport, "export $/kWh"}},
		{Name: "region", Doc: "grid region whose homes get the emissions, CA by default", Example: "CA"},
	},
	Requests: midasRequests, Read: readMIDAS,
}

func midasRequests(q *Query) ([]Request, error) {
	rin := q.Parameters["rin"]
	if err := checkRegion("region", q.midasRegion()); err != nil {
		return nil, err
	}
	window := "realtime"
	if q.To.Sub(q.From) > 73*time.Hour { // three days, one of which may have 25 hours
		window = "alldata"
	}
	return []Request{{
		URL:    q.address("/api/valuedata", "ID", rin, "QueryType", window),
		Header: http.Header{"Accept": {"application/json"}},
	}}, nil
}

func (q *Query) midasRegion() string { return cmp.Or(q.Parameters["region"], "CA") }

// midasRate is a rate in JSON or XML. Responses have RateID, files for uploads may have
// RIN.
type midasRate struct {
	RateID, RIN string
	Values      []midasValue `json:"ValueInformation" xml:"ValueInformation>ValueData"`
}

type midasValue struct {
	ValueName, DateStart, TimeStart, DateEnd, TimeEnd, Unit string
	Value                                                   json.Number
}

// midasUnits are the units of the Unit lookup table. A rate may have several of them.
var midasUnits = []string{midasImport, "$/kW", "export $/kWh", "backup $/kWh", "$/kvarh", "Level"}

const (
	midasImport    = "$/kWh"     // the unit of the price of a drawn kWh
	midasEmissions = "g/kWh CO2" // the unit of emissions
)

// isSGIP reports whether a rate identification number is one of emissions.
func isSGIP(rin string) bool { return strings.Contains(rin, "-SGIP-") }

func readMIDAS(q *Query, r *Response) (Data, error) {
	rin := q.Parameters["rin"]
	rate, err := findMIDAS(rin, r.Body)
	if err != nil {
		return Data{}, err
	}
	alerts, emissions, unit := strings.Contains(rin, "-FLEX-"), isSGIP(rin), cmp.Or(q.Parameters["unit"], midasImport)
	switch {
	case alerts:
		unit = "Event"
	case emissions:
		unit = midasEmissions
	}
	var spans []span
	for i, v := range rate.Values {
		switch {
		case v.Unit != unit && slices.Contains(midasUnits, v.Unit):
			continue
		case v.Unit != unit:
			return Data{}, refuse("value %d: unit %q is not %s", i+1, clip(v.Unit), unit)
		}
		s, err := v.span()
		if err != nil {
			return Data{}, refuse("value %d: %w", i+1, err)
		}
		spans = append(spans, s)
	}
	if len(spans) == 0 {
		return Data{}, refuse("has %d values, none in %s", len(rate.Values), unit)
	}
	switch {
	case alerts:
		return q.flexAlerts(spans)
	case emissions:
		return q.emitted(spans, q.midasRegion())
	}
	if unit != midasImport { // a rate's prices for exports are another series than its prices
		rin += "-export"
	}
	return q.spread(spans, rin, market.DayAhead)
}

// findMIDAS returns the asked rate of a response, which is a rate or a list of rates.
func findMIDAS(rin string, body []byte) (midasRate, error) {
	var rates []midasRate
	if isXML(body) {
		var document struct {
			XMLName xml.Name    `xml:"DemandData"`
			Rates   []midasRate `xml:"RateInformation"`
		}
		if err := checkSize(body); err != nil {
			return midasRate{}, err
		}
		if err := xml.Unmarshal(body, &document); err != nil {
			return midasRate{}, refuse("is not the expected XML, it begins with %q: %w", beginning(body), err)
		}
		rates = document.Rates
	} else if err := decode(body, &rates); err != nil {
		rates = make([]midasRate, 1)
		if err := decode(body, &rates[0]); err != nil {
			return midasRate{}, err
		}
	}
	for _, rate := range rates {
		if cmp.Or(rate.RateID, rate.RIN) == rin {
			return rate, nil
		}
	}
	return midasRate{}, refuse("has no rate %s, it begins with %q", rin, beginning(body))
}

// span returns the time and the price of a value. An interval ends with its last second,
// such as 07:59:59, or with its last minute.
func (v *midasValue) span() (s span, err error) {
	s.name = v.ValueName
	if s.from, err = midasTime(v.DateStart, v.TimeStart); err != nil {
		return s, err
	}
	if s.to, err = midasTime(v.DateEnd, v.TimeEnd); err != nil {
		return s, err
	}
	switch {
	case s.to.Second() == 59:
		s.to = s.to.Add(time.Second)
	case s.to.Minute()%5 == 4:
		s.to = s.to.Add(time.Minute)
	}
	if s.to.Before(s.from) {
		return s, fmt.Errorf("ends at %s, before it starts", stamp(s.to))
	}
	s.price, err = market.Number(v.Value.String())
	return s, err
}

func midasTime(date, clock string) (time.Time, error) {
	layout := time.DateTime
	if strings.Count(clock, ":") == 1 {
		layout = "2006-01-02 15:04"
	}
	t, err := time.Parse(layout, date+" "+clock)
	if err != nil {
		return t, fmt.Errorf("%q is not a time such as 2026-07-01 07:00:00", clip(date+" "+clock))
	}
	return t, nil
}

// flexAlerts returns the alerts of the queried span. Consecutive hours are one alert. If an
// hour comes twice, the later one in the list wins.
func (q *Query) flexAlerts(hours []span) (Data, error) {
	slices.SortStableFunc(hours, func(a, b span) int { return a.from.Compare(b.from) })
	data := Data{Alerted: true}
	for i, h := range hours {
		switch {
		case h.price != 0 && h.price != 1:
			return Data{}, refuse("the value at %s is %v, not 1 or 0", stamp(h.from), h.price)
		case i+1 < len(hours) && hours[i+1].from.Equal(h.from):
			continue
		case h.price == 0 || !h.to.After(q.From) || !h.from.Before(q.To):
			continue
		}
		if n := len(data.Alerts) - 1; n >= 0 && data.Alerts[n].To.Equal(h.from) {
			data.Alerts[n].To = h.to
			continue
		}
		data.Alerts = append(data.Alerts, Alert{Name: h.name, From: h.from, To: h.to})
	}
	return data, nil
}
