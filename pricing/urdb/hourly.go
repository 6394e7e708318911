package urdb

import (
	"fmt"
	"math"

	"github.com/gridhook/gridhook/pricing"
)

const hourlyKey = "realtimepricing"

// ParseHourly reads a rate with a price for each hour of a year in realtimepricing. No price
// signal can be made from it. ParseHourly returns the prices, $/kWh, and a tariff with the
// rate's fixed and minimum charges alone. Both are nil if the document has no such prices.
// The error is an *Error.
func ParseHourly(data []byte) ([]float64, *pricing.Tariff, error) {
	problems := &pricing.Problems{}
	rates := decode(data, problems)
	if len(rates) != 1 {
		return nil, nil, nil
	}
	r := rates[0]
	list, _ := r.doc[hourlyKey].([]any)
	const hours, leapHours = 365 * 24, 366 * 24
	switch len(list) {
	case 0:
		return nil, nil, nil
	case hours, leapHours:
	default:
		r.problem(hourlyKey, "has %d prices, but a year has %d hours", len(list), hours)
	}
	prices := make([]float64, len(list))
	for i, v := range list {
		prices[i] = r.within(fmt.Sprintf("%s[%d]", hourlyKey, i), v, math.Inf(-1), math.Inf(1))
	}
	charges := pricing.Version{Periods: noEnergyRates()}
	charges.Info.FixedCharge = r.charge("fixedchargefirstmeter", r.text("fixedchargeunits", maxShortText))
	charges.Info.MinimumCharge = r.charge("mincharge", r.text("minchargeunits", maxShortText))
	if err := errorOf(problems); err != nil {
		return nil, nil, err
	}
	tariff, err := pricing.NewTariff([]pricing.Version{charges})
	return prices, tariff, err
}
