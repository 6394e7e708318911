package savings_test

import (
	"fmt"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/climate"
	"github.com/gridhook/gridhook/pricing/savings"
)

func ExampleEstimate() {
	location, err := time.LoadLocation("America/Phoenix")
	if err != nil {
		fmt.Println(err)
		return
	}
	july := 7
	r, err := savings.Estimate(savings.Input{
		HomeID: "home_1", Place: &climate.Place{Lat: 33.45, Lon: -112.07}, Location: location,
		Prices: func(w pricing.Window) ([]float64, error) {
			prices := make([]float64, w.Len())
			for i := range prices {
				prices[i] = 0.12
				if h := w.At(i).In(location).Hour(); h >= 16 && h < 19 {
					prices[i] = 0.36
				}
			}
			return prices, nil
		},
		Devices: []savings.Device{{
			ID: "dev_1", Units: savings.Fahrenheit,
			Settings:    savings.Settings{Mode: savings.Cool, Min: 68, Heat: 68, Cool: 76, Max: 79},
			CoolingRate: 6, HeatTransferCoefficient: 0.05, IrradianceCoefficient: 1,
		}},
		Request: savings.Request{Type: savings.Monthly, Start: savings.Start{Month: &july}},
		Today:   pricing.Date{Year: 2026, Month: time.June, Day: 1},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("July %d: $%.0f instead of $%.0f at equal comfort\n", r.Months[0].Year, r.OptimizedCost, r.BaselineCost)
	// Output: July 2026: $96 instead of $136 at equal comfort
}
