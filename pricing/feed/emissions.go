package feed

import (
	"fmt"

	"github.com/gridhook/gridhook/pricing/carbon"
	"github.com/gridhook/gridhook/pricing/market"
)

// kgPerGram is the factor of values in g CO2 a kWh. A series is in kg.
const kgPerGram = 1e-3

// emitted returns emissions in g CO2 a kWh as the series of a grid region.
func (q *Query) emitted(spans []span, region string) (Data, error) {
	for i := range spans {
		spans[i].price *= kgPerGram
	}
	return q.spread(spans, region, market.Emissions)
}

// Emits reports whether a source with these parameters brings emissions instead of prices.
func Emits(parameters map[string]string) bool {
	return parameters["market"] == string(market.Emissions) || parameters["payload"] == openadrEmissions || isSGIP(parameters["rin"])
}

// checkRegion refuses a name that is no grid region.
func checkRegion(parameter, name string) error {
	if region, ok := carbon.Named(name); !ok || region.Code != name {
		return fmt.Errorf("%s: %q is not a grid region of EPA's AVERT, such as CA, TE or MIDA", parameter, name)
	}
	return nil
}
