package bill

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gridhook/gridhook/pricing"
)

// realTime is a rate whose prices are given hour by hour for a year, which is no
// tariff that a price signal could be made of.
type realTime struct {
	Prices       []float64 `json:"realtimepricing"`
	Fixed        float64   `json:"fixedchargefirstmeter"`
	FixedUnits   string    `json:"fixedchargeunits"`
	Minimum      float64   `json:"mincharge"`
	MinimumUnits string    `json:"minchargeunits"`
}

// ReadRate gives the terms of a rate in the JSON of the US Utility Rate Database,
// as pricing.ParseURDB reads it, or with prices for each hour of a year in
// realtimepricing. The errors are those of ParseURDB, or wrap ErrTerms.
func ReadRate(data []byte) (Terms, error) {
	tariff, err := pricing.ParseURDB(data)
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

// readRealTime looks for prices by the hour in a rate, bare or within items.
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
