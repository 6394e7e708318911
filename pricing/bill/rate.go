package bill

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/urdb"
)

// realTime is a rate with a price for each hour of a year. No price signal can be made
// from it, so it is not a tariff.
type realTime struct {
	Prices       []float64 `json:"realtimepricing"`
	Fixed        float64   `json:"fixedchargefirstmeter"`
	FixedUnits   string    `json:"fixedchargeunits"`
	Minimum      float64   `json:"mincharge"`
	MinimumUnits string    `json:"minchargeunits"`
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
	return Terms{
		HourlyPrices: rate.Prices,
		Fixed:        pricing.Charge{Amount: rate.Fixed, Unit: rate.FixedUnits},
		Minimum:      pricing.Charge{Amount: rate.Minimum, Unit: rate.MinimumUnits},
	}, nil
}

// readRealTime finds hourly prices in a rate, either bare or within items.
func readRealTime(data []byte) (realTime, bool) {
	var file struct {
		realTime
		Items []realTime `json:"items"`
	}
	var wrongType *json.UnmarshalTypeError
	if err := json.Unmarshal(data, &file); err != nil && !errors.As(err, &wrongType) {
		return realTime{}, false
	}
	if len(file.Items) == 1 {
		return file.Items[0], len(file.Items[0].Prices) > 0
	}
	return file.realTime, len(file.Prices) > 0
}
