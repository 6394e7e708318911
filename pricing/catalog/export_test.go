package catalog

import (
	"fmt"

	"github.com/gridhook/gridhook/pricing/catalog/internal/gen/open"
)

// ReadOpenTariff reads a plan from a line of the open-energy-tariffs collection, the
// source of the US catalog.
func ReadOpenTariff(line []byte) (Plan, error) {
	rate, err := open.Parse(line)
	if err != nil {
		return Plan{}, fmt.Errorf("catalog: %w", err)
	}
	return planOf(&rate), nil
}
