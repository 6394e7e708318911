package bill

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gridhook/gridhook/pricing/urdb"
)

// realTime is a rate with a price for each hour of a year. No price signal can be made
// from it, so it is not a tariff. Numbers may be strings, as in a tariff.
type realTime struct {
	Prices       []any  `json:"realtimepricing"`
	Fixed        any    `json:"fixedchargefirstmeter"`
	FixedUnits   string `json:"fixedchargeunits"`
	Minimum      any    `json:"mincharge"`
	MinimumUnits string `json:"minchargeunits"`
}

// ReadRate returns the terms of a rate in the JSON of the US Utility Rate Database. It
// accepts the rates of urdb.Parse, and rates with hourly prices for a year in
// realtimepricing. The errors are the errors of urdb.Parse, or wrap ErrTerms.
func ReadRate(data []byte) (Terms, error) {
	tariff, err := urdb.Parse(data)
	if err == nil {
		return Terms{Tariff: tariff}, nil
	}
	rate, ok := readRealTime(data)
	if !ok {
		return Terms{}, err
	}
	const hours, leapHours = 365 * 24, 366 * 24
	if n := len(rate.Prices); n != hours && n != leapHours {
		return Terms{}, fmt.Errorf("%w: realtimepricing has %d prices; a year has %d hours", ErrTerms, n, hours)
	}
	return rate.terms()
}

func (r *realTime) terms() (t Terms, err error) {
	t.HourlyPrices = make([]float64, len(r.Prices))
	for i, v := range r.Prices {
		if t.HourlyPrices[i], err = urdb.Number(v); err != nil {
			return t, fmt.Errorf("%w: realtimepricing[%d] %w", ErrTerms, i, err)
		}
	}
	t.FixedCharge.Unit, t.MinimumCharge.Unit = r.FixedUnits, r.MinimumUnits
	for _, of := range []struct {
		name   string
		from   any
		amount *float64
	}{{"fixedchargefirstmeter", r.Fixed, &t.FixedCharge.Amount}, {"mincharge", r.Minimum, &t.MinimumCharge.Amount}} {
		if of.from == nil || of.from == "" {
			continue
		}
		if *of.amount, err = urdb.Number(of.from); err != nil {
			return t, fmt.Errorf("%w: %s %w", ErrTerms, of.name, err)
		}
	}
	return t, nil
}

// readRealTime finds hourly prices in a rate, either bare or within items.
func readRealTime(data []byte) (realTime, bool) {
	var file struct {
		realTime
		Items []realTime `json:"items"`
	}
	var wrongType *json.UnmarshalTypeError
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&file); err != nil && !errors.As(err, &wrongType) {
		return realTime{}, false
	}
	if decoder.More() {
		return realTime{}, false
	}
	if len(file.Items) == 1 {
		return file.Items[0], len(file.Items[0].Prices) > 0
	}
	return file.realTime, len(file.Prices) > 0
}
