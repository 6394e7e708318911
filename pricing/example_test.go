package pricing_test

import (
	"fmt"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/pricing/urdb"
)

// A home is on a plan of the catalog. The example prints the price of a kWh on an
// afternoon with a change of price, and the reasons.
func Example() {
	plan, _ := catalog.ByID("pge-e-elec")
	tariff, err := urdb.Parse(plan.URDB)
	if err != nil {
		fmt.Println(err)
		return
	}
	location, err := time.LoadLocation(plan.Timezone)
	if err != nil {
		fmt.Println(err)
		return
	}
	in := pricing.Input{Tariff: tariff, Location: location}
	start := time.Date(2026, time.July, 6, 15, 30, 0, 0, location)
	curve, err := pricing.Price(in, pricing.Window{Start: start, End: start.Add(time.Hour)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range curve.Len() {
		fmt.Printf("%s import %.5f export %.5f\n", curve.Window.At(i).Format("15:04"), curve.Import[i], curve.Export[i])
	}
	reasons, err := pricing.Explain(in, curve.Window)
	if err != nil {
		fmt.Println(err)
		return
	}
	first := reasons[0]
	fmt.Println(first.Day, first.Period, len(first.Import), "parts, such as", first.Import[0].Name, first.Import[0].Rate)
	// Output:
	// 15:30 import 0.39026 export 0.05641
	// 15:45 import 0.39026 export 0.05641
	// 16:00 import 0.55214 export 0.14115
	// 16:15 import 0.55214 export 0.14115
	// weekday summer part 13 parts, such as summer part 0.3331
}
