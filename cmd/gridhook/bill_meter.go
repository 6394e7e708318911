package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gridhook/gridhook/pricing/bill"
	"github.com/gridhook/gridhook/pricing/eligibility"
	"github.com/gridhook/gridhook/pricing/greenbutton"
	"github.com/gridhook/gridhook/pricing/solar"
	"github.com/gridhook/gridhook/storage"
)

// meterFlags are the flags of a home's consumption and generation.
func meterFlags() []bodyFlag {
	usual := solar.DefaultArray
	return []bodyFlag{
		{name: "load", field: "loadKwh", value: fileOf(metered), help: "`file` with the consumption of each step in kWh, negative for exported energy, or a Green Button file; - for standard input"},
		{name: "generated", field: "generatedKwh", value: fileOf(func(content []byte) (any, error) { return numbers(content) }), help: "`file` with the solar generation of each step of --load in kWh"},
		{name: "annual-kwh", field: "annualKwh", value: 0.0, help: "annual consumption in `kWh` (default the home's, or 10791)"},
		{name: "start", help: "first `day` of the file (default a typical year)"},
		{name: "step", field: "stepMinutes", value: span{0, time.Minute}, help: "length of the file's steps, such as 15m (default the file is one year)"},
		{name: "calendar-year", field: "calendarYear", value: 0, help: "calendar `year` of a typical year's weekdays (default a year in which the plan is in force)"},
		{name: "solar-kw", field: "solarSystemSizeKw", value: 0.0, help: "size of the solar array in `kW`, in a typical year (default the home's)"},
		{name: "tilt", value: usual.Tilt, help: "tilt of the solar modules in `degrees` from the horizontal"},
		{name: "azimuth", value: usual.Azimuth, help: "orientation of the solar modules in `degrees` clockwise from north"},
		{name: "losses", value: usual.Losses, help: "losses from soiling, shading and wiring in `percent`"},
	}
}

// ruleFlags are the flags of a bill's rules. A rule applies if the plan has none, or
// overrides the plan's rule.
func ruleFlags() []bodyFlag {
	return []bodyFlag{
		{name: "non-net-metered", field: "isNonNetMetered", value: false, help: "solar without net metering, whatever the plan says"},
		{name: "tier-rule", field: "tierRule", value: enum("running-total"), help: "tier `rule` for several periods: running-total, as in the price signal, or prorated, as in SAM and BEopt"},
		{name: "metering", value: enum(""), help: "settlement of solar: net-metering, net-billing or feed-in (default the home's regime or the plan's)"},
		{name: "carry-over", field: "carryOver", value: enum(""), help: "form of credits in the next month: dollars, kwh, or none for immediate payment (default dollars with net metering, otherwise none)"},
		{name: "true-up-month", field: "trueUpMonth", value: 0, help: "settlement `month` of credits, 1 to 12; settlement is at its end (default the last month of the bill)"},
		{name: "credit-expiry", field: "creditMonths", value: 0, help: "lifetime of dollar credits in `months` (default until the settlement)"},
		{name: "surplus-rate", field: "surplusRate", value: "0", help: "settlement `price` of surplus generation in $/kWh, or retail for all credits in full"},
		{name: "feed-in-rate", field: "feedInRate", value: 0.0, help: "feed-in `price` in $/kWh instead of the plan's sell rates"},
		{name: "minimum-charge", field: "minimumCharge", value: 0.0, help: "minimum charge in `$` instead of the plan's"},
		{name: "minimum-charge-unit", field: "minimumChargeUnit", value: "month", help: "`period` of --minimum-charge: day, month or year"},
		{name: "grid-fee", field: "gridFee", value: 0.0, help: "monthly fee of a home with solar in `$`"},
		{name: "grid-fee-per-kw", field: "gridFeePerKw", value: 0.0, help: "monthly fee of a home with solar in `$` per kW of --solar-kw"},
	}
}

// billRequest returns the request that the flags describe.
func billRequest(given func() (fields, error)) (r bill.Request, err error) {
	body, err := given()
	if err != nil {
		return r, err
	}
	if annual, given := body["annualKwh"].(float64); given && !(annual > 0) {
		return r, usagef("--annual-kwh must be above 0")
	}
	switch surplus, given := body["surplusRate"].(string); {
	case surplus == "retail":
		delete(body, "surplusRate")
		body["surplusRetail"] = true
	case given:
		if body["surplusRate"], err = strconv.ParseFloat(surplus, 64); err != nil {
			return r, usagef("--surplus-rate must be a price in $/kWh or retail, not %q", surplus)
		}
	}
	if u, metered := body["loadKwh"].(*greenbutton.Usage); metered {
		if err := body.setUsage(u); err != nil {
			return r, err
		}
	}
	return convert[bill.Request](body)
}

// setUsage sets the fields of a Green Button file. --start overrides the file's first day.
func (r fields) setUsage(u *greenbutton.Usage) error {
	if _, given := r["start"]; !given {
		day, err := u.Day()
		if err != nil {
			return fmt.Errorf("%w: give it with --start", err)
		}
		r["start"] = day
	}
	r["loadKwh"], r["stepMinutes"] = u.KWh, u.Step.Minutes()
	return nil
}

// home returns the home that the flags describe, for a home that is not on a server.
func (f *billFlags) home() (h bill.Home, err error) {
	zone := f.timezone
	if f.zipcode != "" {
		place, known := eligibility.Locate(f.zipcode)
		if !known {
			return h, usagef("--zipcode: %q is unknown", f.zipcode)
		}
		h.Place = &place.Place
		zone = cmp.Or(zone, place.Timezone)
	}
	if zone != "" {
		var ok bool
		if h.Location, ok = storage.Location(zone); !ok {
			return h, usagef("--timezone must be a time zone such as America/Chicago, not %q", zone)
		}
	}
	return h, nil
}

// metered reads a Green Button file without gaps, or the numbers of a CSV.
func metered(text []byte) (any, error) {
	if !bytes.HasPrefix(bytes.TrimLeft(text, " \r\n\t"), []byte("<")) {
		return numbers(text)
	}
	r, err := greenbutton.Read(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return r.Usage()
}

// numbers reads the last column of a CSV. The first row may be a header.
func numbers(text []byte) ([]float64, error) {
	in := csv.NewReader(bytes.NewReader(text))
	in.FieldsPerRecord, in.TrimLeadingSpace = -1, true
	var list []float64
	for first := true; ; first = false {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		cell := strings.TrimSpace(record[len(record)-1])
		v, err := strconv.ParseFloat(cell, 64)
		line, _ := in.FieldPos(0)
		switch {
		case err == nil && (math.IsNaN(v) || math.IsInf(v, 0)):
			return nil, fmt.Errorf("line %d: %q is not a finite number", line, cell)
		case err == nil:
			list = append(list, v)
		case !first:
			return nil, fmt.Errorf("line %d: %q is not a number", line, cell)
		}
	}
	if len(list) == 0 {
		return nil, errors.New("no numbers found")
	}
	return list, nil
}
