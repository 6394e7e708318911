package eligibility_test

import (
	"fmt"

	"github.com/gridhook/gridhook/pricing/eligibility"
)

func ExampleChecker_Check() {
	c := eligibility.Checker{HasTariffs: func(eiaID int) bool { return eiaID == 4110 }}
	r, _ := c.Check("60614-1234")
	fmt.Println(r.Supported, r.WholesaleMarket, r.TariffData)
	fmt.Println(r.DemandResponsePrograms[0])
	// Output:
	// true true true
	// ComEd Hourly Pricing
}

func ExampleLocate() {
	place, ok := eligibility.Locate("2138")
	fmt.Println(ok, place.City, place.State, place.Timezone, place.Lat, place.Lon)
	// Output: true Cambridge MA America/New_York 42.38 -71.13
}
