package urdb

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/gridhook/gridhook/pricing"
)

// MaxTariffBytes is the maximum size of a tariff document.
const MaxTariffBytes = 4 << 20

// The maximum lengths of a tariff's texts, in bytes. Short texts and the source are part
// of every price signal.
const (
	maxShortText = 512
	maxSource    = 4 << 10
)

// maxVersions is the maximum number of versions of one plan.
const maxVersions = 200

// Parse reads a tariff in the JSON of the US Utility Rate Database
// (https://openei.org/services/doc/rest/util_rates, versions 3 to 8). A document is one
// rate, or a list of rates, either bare or as "items". A list holds the versions of one
// plan in any order. A version ends, at the latest, on the day before the next version
// starts.
//
// Parse ignores unknown fields. null means absent. Numbers may be strings or floats.
// Parse rejects values that cause a wrong price. The error is an *Error that lists all
// problems.
//
// Parse interprets the database's documentation as follows:
//   - startdate and enddate are the first and the last day in force, both
//     inclusive, since a superseded rate ends on the day before its successor
//     starts. Unix seconds mean midnight in Denver, the location of the
//     database. A day has no time zone and applies at the home's local midnight.
//   - A rate with a weekday schedule and no weekend schedule has the same prices
//     every day. A rate without schedules is valid if it has a single period.
//   - A tier without a unit is in kWh. A maximum of 1e30 or more is no bound.
//   - A price of fueladjustmentsmonthly is in addition to all rates of its month.
//
// The database lacks fields for some inputs of a price. Parse reads these additional
// fields:
//   - holidays: the days with weekend prices. The value is a list of dates and of
//     names of US federal holidays, or true or "federal" for all eleven of them.
//     An empty list or false means that the tariff has no holidays. Without any of
//     these fields the holidays are unknown.
//   - holidaysasweekend (or holidays_as_weekend): true selects a calendar. It is
//     the calendar in holidaycalendar, else the utility's calendar (eiaid), else
//     the federal calendar.
//   - holidaysobserved: "monday" means that a holiday on a Saturday is not moved
//     to the Friday before. "federal" means that it is moved.
//   - riders: a list of {name, rate, unit, startdate, enddate, credited}. The
//     unit is "$/kWh" (the default) or "%". credited false means that net metering
//     does not credit the rider. It has no effect on a rider in %. See pricing.Rider.
//   - nonbypassable: the part of every rate that net metering does not credit,
//     $/kWh.
//   - exportvalues: the name of the hourly avoided-cost values that net billing
//     pays, such as "PG&E NBT26". See package netbilling.
//   - market: {node, market, loss, adder} of a price that follows a market. The
//     price is in addition to the tariff's own rates or replaces them. The market
//     is DAY_AHEAD or REAL_TIME, the loss factor 1 by default. See
//     pricing.Passthrough.
//   - baseline: the baseline allowance, kWh a day, for tiers with the unit
//     "baseline". The value is one number or one number per month.
//   - confidence: the confidence in a doubtful source, from 0 to 1. The value is
//     one number or one number per month. caveat: the reason, a text.
//   - sourcedate: the day of the newest source. Two years later the tariff is
//     stale: confidence is at most 0.5 and falls with age. newer: the name of the
//     plan that replaced this plan.
func Parse(data []byte) (*pricing.Tariff, error) {
	problems := &pricing.Problems{}
	var versions []pricing.Version
	for _, r := range decode(data, problems) {
		v := r.version()
		if len(versions) > 0 {
			r.samePlan(&versions[0].Info, &v.Info)
		}
		versions = append(versions, v)
	}
	if err := errorOf(problems); err != nil {
		return nil, err
	}
	tariff, err := pricing.NewTariff(versions)
	if same, ok := errors.AsType[*pricing.SameStartError](err); ok {
		for _, from := range same.From {
			problems.Addf("items", "two versions start on %v", cmp.Or(from.String(), "no date"))
		}
		return nil, errorOf(problems)
	}
	return tariff, err
}

// version reads one rate.
func (r *reader) version() pricing.Version {
	v := pricing.Version{Info: r.info()}
	v.Periods = r.energyRates()
	v.Schedules = r.schedules("energyweekdayschedule", "energyweekendschedule", len(v.Periods))
	r.extras(&v)
	return v
}

// samePlan rejects a list of different plans. Their prices would otherwise apply one
// after another as one plan.
func (r *reader) samePlan(first, info *pricing.TariffInfo) {
	if info.Utility != first.Utility || info.Name != first.Name {
		r.problem("name", "%q of %q is another plan than %q of %q: import them one by one",
			clip(info.Name), clip(info.Utility), clip(first.Name), clip(first.Utility))
	}
}

// decode returns a reader of each rate in the file.
func decode(data []byte, problems *pricing.Problems) []*reader {
	file := &reader{problems: problems}
	if len(data) > MaxTariffBytes {
		file.problem("", "the document has %d bytes; at most %d are read", len(data), MaxTariffBytes)
		return nil
	}
	root, err := decodeJSON(data)
	if err != nil {
		file.problem("", "%s", err)
		return nil
	}
	if list, ok := root.([]any); ok {
		return file.items("", list)
	}
	var ok bool
	switch file.doc, ok = as[map[string]any](file, "", root, "a JSON object"); {
	case !ok:
		return nil
	case !file.has("items"):
		return []*reader{file}
	}
	list, ok := as[[]any](file, "items", file.doc["items"], "an array")
	if !ok {
		return nil
	}
	return file.items("items", list)
}

// items returns readers of the versions of one plan.
func (r *reader) items(path string, list []any) (rates []*reader) {
	if len(list) == 0 || len(list) > maxVersions {
		r.problem(path, "must hold 1 to %d versions of a tariff; it holds %d", maxVersions, len(list))
		return nil
	}
	for i, item := range list {
		if rate, ok := r.object(fmt.Sprintf("%s[%d]", path, i), item, "a JSON object"); ok {
			rates = append(rates, rate)
		}
	}
	return rates
}

// decodeJSON retains numbers as text. A float64 would already turn 1e999 into an error
// without a path.
func decodeJSON(data []byte) (any, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("the document is empty")
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var root any
	if err := decoder.Decode(&root); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			return nil, fmt.Errorf("not JSON: %w, at byte %d", err, syntax.Offset)
		}
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("not JSON: more follows the first value, at byte %d", decoder.InputOffset())
	}
	return root, nil
}

// info reads all fields except the energy prices.
func (r *reader) info() pricing.TariffInfo {
	info := pricing.TariffInfo{
		Label:         r.text("label", maxShortText),
		Name:          r.text("name", maxShortText),
		Utility:       r.text("utility", maxShortText),
		EIAID:         r.integer("eiaid"),
		Source:        r.text("source", maxSource),
		DGRules:       r.text("dgrules", maxShortText),
		Caveat:        r.text("caveat", maxSource),
		SourceDate:    r.date("sourcedate"),
		Newer:         r.text("newer", maxShortText),
		EffectiveFrom: r.date(r.firstOf("startdate", "effective")),
		EffectiveTo:   r.date("enddate"),
		// The database has pairs of fields, SAM's files a single field for each unit.
		FixedCharge: cmp.Or(
			r.charge("fixedchargefirstmeter", r.text("fixedchargeunits", maxShortText)),
			r.charge("fixedmonthlycharge", "$/month")),
		MinimumCharge: cmp.Or(
			r.charge("mincharge", r.text("minchargeunits", maxShortText)),
			r.charge("minmonthlycharge", "$/month")),
		AnnualMinimum: r.charge("annualmincharge", "$/year"),
	}
	if from, to := info.EffectiveFrom, info.EffectiveTo; !from.IsZero() && !to.IsZero() && to.Before(from) {
		r.problem("enddate", "%v is before the start date %v", to, from)
	}
	return info
}

func (r *reader) charge(key, unit string) pricing.Charge {
	amount, ok := r.number(key)
	if !ok || amount == 0 {
		return pricing.Charge{}
	}
	return pricing.Charge{Amount: amount, Unit: cmp.Or(unit, "$/month")}
}
