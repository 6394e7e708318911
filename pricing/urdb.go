package pricing

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxTariffBytes is the largest tariff document that is read.
const MaxTariffBytes = 4 << 20

// Longest texts of a tariff, in bytes. The short ones and the source travel with
// every price signal.
const (
	maxShortText = 512
	maxSource    = 4 << 10
	maxLongText  = 256 << 10
)

// maxVersions is how many versions of one plan are read.
const maxVersions = 200

// ParseURDB reads a tariff in the JSON of the US Utility Rate Database
// (https://openei.org/services/doc/rest/util_rates, versions 3 to 8): the rate
// itself, or a list of rates, bare or as "items", which are the versions of one
// plan in any order: a version ends, at the latest, on the day before the next
// one starts.
//
// Unknown fields are ignored, null means absent, and numbers may be written as
// strings or as floats. What would give a wrong price is refused. The error is a
// *TariffError that lists every problem found.
//
// Where the database's documentation leaves room:
//   - startdate and enddate are the first and the last day in force, both
//     inclusive, since a superseded rate ends on the day before its successor
//     starts. Unix seconds stand for midnight in Denver, where the database is
//     kept; a day has no time zone and applies at local midnight of the home.
//   - A rate with a weekday schedule and no weekend schedule has the same prices
//     every day. One without either is accepted if it has a single period.
//   - A tier without a unit is in kWh. A maximum of 1e30 or more is no bound.
//
// The database has no field for some of what a price depends on. These are read
// beside its own:
//   - holidays: the days priced as a weekend, as a list of dates and of names of
//     US federal holidays, or true or "federal" for all eleven of them;
//     holidaysasweekend: true means the same. holidaysobserved: "monday" says
//     that a holiday on a Saturday is not moved to the Friday before.
//   - riders: a list of {name, rate, unit, startdate, enddate, credited}; the
//     unit is "$/kWh" (when absent) or "%", and credited false means that net
//     metering does not pay it back. See Rider.
//   - nonbypassable: the part of every rate that net metering does not pay back,
//     $/kWh.
//   - exportvalues: the name of the avoided-cost values that net billing pays by
//     the hour, such as "PG&E NBT26"; see package netbilling.
//   - market: {node, market, loss, adder} of a price that follows a market,
//     beside the tariff's own rates or instead of them; see Passthrough. The
//     market is DAY_AHEAD or REAL_TIME, the loss factor 1 when absent.
//   - baseline: the baseline allowance, kWh a day, one number or one a month, for
//     tiers whose unit is "baseline".
//   - confidence, one number from 0 to 1 or one a month, and caveat, a text, for
//     a source that is itself in doubt.
func ParseURDB(data []byte) (*Tariff, error) {
	problems := &TariffError{}
	t := &Tariff{}
	for _, d := range decodeURDB(data, problems) {
		r := &urdbReader{doc: d.fields, path: d.path, problems: problems}
		v := r.version()
		if len(t.versions) > 0 {
			r.samePlan(t.versions[0], v)
		}
		t.versions = append(t.versions, v)
	}
	if err := problems.asError(); err != nil {
		return nil, err
	}
	for _, v := range chain(t.versions) {
		problems.add("items", "two versions start on %v", orElse(v.info.EffectiveFrom.String(), "no date"))
	}
	if err := problems.asError(); err != nil {
		return nil, err
	}
	for _, v := range t.versions {
		v.prepare()
	}
	return t, nil
}

// version reads one rate.
func (r *urdbReader) version() *version {
	v := &version{info: r.info()}
	v.periods = r.energyRates()
	r.schedules(v)
	r.extras(v)
	return v
}

// samePlan refuses a list of different plans: their prices would follow one
// another as if they were one.
func (r *urdbReader) samePlan(first, v *version) {
	if v.info.Utility != first.info.Utility || v.info.Name != first.info.Name {
		r.problem("name", "%q of %q is another plan than %q of %q: import them one by one",
			clip(v.info.Name), clip(v.info.Utility), clip(first.info.Name), clip(first.info.Utility))
	}
}

// urdbDocument is one rate and its path in the file.
type urdbDocument struct {
	fields map[string]any
	path   string
}

func decodeURDB(data []byte, problems *TariffError) []urdbDocument {
	if len(data) > MaxTariffBytes {
		problems.add("", "the document has %d bytes; at most %d are read", len(data), MaxTariffBytes)
		return nil
	}
	root, err := decodeJSON(data)
	if err != nil {
		problems.add("", "%s", err)
		return nil
	}
	switch root := root.(type) {
	case []any:
		return decodeItems("", root, problems)
	case map[string]any:
		items := root["items"]
		if items == nil {
			return []urdbDocument{{fields: root}}
		}
		list, ok := items.([]any)
		if !ok {
			problems.add("items", "must be an array, not %s", kindOf(items))
			return nil
		}
		return decodeItems("items", list, problems)
	}
	problems.add("", "must be a JSON object, not %s", kindOf(root))
	return nil
}

// decodeItems reads the versions of one plan.
func decodeItems(path string, list []any, problems *TariffError) []urdbDocument {
	if len(list) == 0 || len(list) > maxVersions {
		problems.add(path, "must hold 1 to %d versions of a tariff; it holds %d", maxVersions, len(list))
		return nil
	}
	docs := make([]urdbDocument, 0, len(list))
	for i, item := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		fields, ok := item.(map[string]any)
		if !ok {
			problems.add(at, "must be a JSON object, not %s", kindOf(item))
			continue
		}
		docs = append(docs, urdbDocument{fields: fields, path: at + "."})
	}
	return docs
}

// decodeJSON keeps numbers as they are written: a float64 would already have
// turned 1e999 into an error without a place.
func decodeJSON(data []byte) (any, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("the document is empty")
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var root any
	if err := decoder.Decode(&root); err != nil {
		return nil, notJSON(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("not JSON: more follows the first value, at byte %d", decoder.InputOffset())
	}
	return root, nil
}

func notJSON(err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("not JSON: %w, at byte %d", err, syntax.Offset)
	}
	return fmt.Errorf("not JSON: %w", err)
}

// info reads everything but the energy prices.
func (r *urdbReader) info() TariffInfo {
	info := TariffInfo{
		Label:         r.text("label", maxShortText),
		Name:          r.text("name", maxShortText),
		Utility:       r.text("utility", maxShortText),
		EIAID:         r.integer("eiaid"),
		Sector:        r.text("sector", maxShortText),
		Source:        r.text("source", maxSource),
		Description:   r.text("description", maxLongText),
		DGRules:       r.text("dgrules", maxShortText),
		Caveat:        r.text("caveat", maxSource),
		EffectiveFrom: r.date(r.firstOf("startdate", "effective")),
		EffectiveTo:   r.date("enddate"),
		FixedCharge:   r.fixedCharge(),
		MinimumCharge: r.minimumCharge(),
	}
	if from, to := info.EffectiveFrom, info.EffectiveTo; !from.IsZero() && !to.IsZero() && to.dayNumber() < from.dayNumber() {
		r.problem("enddate", "%v is before the start date %v", to, from)
	}
	return info
}

// fixedCharge knows the database's pair of fields, and the single field of the
// files that SAM writes.
func (r *urdbReader) fixedCharge() Charge {
	return firstCharge(
		r.charge("fixedchargefirstmeter", r.text("fixedchargeunits", maxShortText)),
		r.charge("fixedmonthlycharge", "$/month"),
	)
}

func (r *urdbReader) minimumCharge() Charge {
	return firstCharge(
		r.charge("mincharge", r.text("minchargeunits", maxShortText)),
		r.charge("minmonthlycharge", "$/month"),
		r.charge("annualmincharge", "$/year"),
	)
}

func (r *urdbReader) charge(key, unit string) Charge {
	amount, ok := r.number(key)
	if !ok || amount == 0 {
		return Charge{}
	}
	if unit == "" {
		unit = "$/month"
	}
	return Charge{Amount: amount, Unit: unit}
}

func firstCharge(charges ...Charge) Charge {
	for _, c := range charges {
		if c != (Charge{}) {
			return c
		}
	}
	return Charge{}
}
