package signals

import (
	"math"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/carbon"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/storage"
)

const gramsPerPound = 1000 * market.KgPerPound

// emissions returns a region's marginal emissions in each interval of a window, in grams
// of CO2 per kWh. published may be nil.
func emissions(region *carbon.Region, published *market.Series, location *time.Location, w pricing.Window) []float64 {
	grams := make([]float64, w.Len())
	for i := range grams {
		local := w.At(i).In(location)
		rate, _ := pricing.MarginalEmissions(region, published, local.Unix(), local.Month(), local.Hour())
		grams[i] = math.Round(gramsPerPound*rate*10) / 10
	}
	return grams
}

// addEmissions adds the published emissions of the home's grid region.
func (r *Reader) addEmissions(s *homeInputs, grid *carbon.Region) (err error) {
	if grid == nil {
		return nil
	}
	s.emissions, err = r.findSeries(market.Emissions, grid.Code)
	if err == nil {
		s.key.emissions = s.emissions.stored
		s.revision = max(s.revision, s.emissions.newest)
	}
	return err
}

// receivesEmissions reports whether emissions are a part of a home's signal, by its price or
// by the format of an endpoint. Changed emissions alone send nothing to an
// endpoint with a least change of the price.
func (r *Reader) receivesEmissions(home *Home) (bool, error) {
	if home.Carbon != storage.CarbonLow {
		return true, nil
	}
	return r.anyReceiver()
}

// findReceiver reports whether an endpoint of the organization receives emissions.
func (r *Reader) findReceiver() (bool, error) {
	for record, err := range storage.Live(r.view, storage.KindWebhookEndpoint, r.org, "") {
		if err != nil {
			return false, err
		}
		if e, err := storage.Decode[storage.WebhookEndpoint](record); err == nil && e.Format == storage.FormatOpenADR3 && e.MinPriceChange == 0 {
			return true, nil
		}
	}
	return false, nil
}
