package bill

import (
	"fmt"

	"github.com/gridhook/gridhook/pricing/urdb"
)

// ReadRate returns the terms of a rate in the JSON of the US Utility Rate Database. It
// accepts the rates of urdb.Parse, and rates with hourly prices for a year in
// realtimepricing. The errors are the errors of urdb.Parse, or wrap ErrTerms.
func ReadRate(data []byte) (Terms, error) {
	tariff, err := urdb.Parse(data)
	if err == nil {
		return Terms{Tariff: tariff}, nil
	}
	prices, charges, wrong := urdb.ParseHourly(data)
	switch {
	case wrong != nil:
		return Terms{}, fmt.Errorf("%w: %w", ErrTerms, wrong)
	case prices == nil:
		return Terms{}, err
	}
	return Terms{Tariff: charges, HourlyPrices: prices}, nil
}
