package bill

import (
	"strings"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/urdb"
)

// ReadRate returns the terms of a rate in the JSON of the US Utility Rate Database. It
// accepts the rates of urdb.Parse, and rates with hourly prices for a year in
// realtimepricing. Errors: those of urdb.Parse.
func ReadRate(data []byte) (Terms, error) {
	tariff, err := urdb.Parse(data)
	if err == nil {
		return Terms{Tariff: tariff}, nil
	}
	prices, charges, wrong := urdb.ParseHourly(data)
	switch {
	case wrong != nil:
		return Terms{}, wrong
	case prices == nil:
		return Terms{}, err
	}
	return Terms{Tariff: charges, HourlyPrices: prices}, nil
}

// unpriced returns the error of a rate that has no price at some time of the bill.
func unpriced(err error) error {
	return pricing.Invalid("ratePlanId", "cannot be billed: %s", strings.TrimPrefix(err.Error(), "pricing: "))
}
