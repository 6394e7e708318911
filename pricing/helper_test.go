package pricing_test

import (
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/internal/tarifftest"
)

type doc = tarifftest.Doc

var (
	year               = tarifftest.Year
	tiers              = tarifftest.Tiers
	flat               = tarifftest.Flat
	jacksonEMC         = tarifftest.JacksonEMC
	apsSaverChoicePlus = tarifftest.APSSaverChoicePlus
	zone               = tarifftest.Zone
	window             = tarifftest.Window
	instant            = tarifftest.Instant
	price              = tarifftest.Price
)

// localDay returns the window of one local day.
func localDay(location *time.Location, year int, month time.Month, day int) pricing.Window {
	return pricing.Window{
		Start: startOfDay(time.Date(year, month, day, 0, 0, 0, 0, location)),
		End:   startOfDay(time.Date(year, month, day+1, 0, 0, 0, 0, location)),
	}
}

// startOfDay advances past a clock change at midnight, for which time.Date returns an
// hour of the day before.
func startOfDay(midnight time.Time) time.Time {
	for midnight.Hour() == 23 {
		midnight = midnight.Add(pricing.Interval)
	}
	return midnight.UTC()
}
