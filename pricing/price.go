package pricing

import (
	"errors"
	"fmt"
	"time"

	"github.com/gridhook/gridhook/pricing/carbon"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/pricing/solar"
)

// The errors for inputs that cannot be priced.
var (
	ErrNoTariff   = errors.New("pricing: no tariff given")
	ErrNoLocation = errors.New("pricing: no time zone given")
	ErrWindow     = errors.New("pricing: a window is one or more whole quarter hours")
)

// Input holds all inputs of a home's prices, except the window. Tariff and Location are
// required; the other fields are optional.
type Input struct {
	Tariff   *Tariff
	Location *time.Location // time zone of the home; its wall clock selects the period
	Solar    *Solar         // nil if the home has none
	Usage    Usage          // selects the tier; the zero value selects the first tier
	Events   []Event        // critical peaks and rebates of the home's plan

	// Parts are the parts of a composed plan. They have events of their own, and Events is
	// then empty. Tariff is the tariff of the lead part, and Market the market in which the
	// home sells.
	Parts []PricedPart

	// Market holds the prices of the market that the tariff passes through, or in which
	// the home sells.
	Market *market.Series
	// MarketBidding means that the home sells its exports at the prices of Market.
	MarketBidding bool

	// ExportChance weights import against export in the expected price; nil means that
	// the home imports. It applies only to homes with Solar.
	ExportChance *solar.Chance
	// Carbon is the grid region whose emissions the expected price includes, priced by
	// CarbonIntensity; nil includes no emissions.
	Carbon          *carbon.Region
	CarbonIntensity carbon.Intensity
	// Emissions holds the published emissions of the region, nil if there are none.
	Emissions *market.Series
}

// NotInForceError reports a tariff that does not apply to a whole window.
type NotInForceError struct {
	Tariff   string    // name of the tariff
	From, To Date      // first and last day in force; zero when unbounded
	At       time.Time // start of the first interval that is not covered
}

func (e *NotInForceError) Error() string {
	bounds := "always"
	switch {
	case !e.From.IsZero() && !e.To.IsZero():
		bounds = fmt.Sprintf("from %v to %v", e.From, e.To)
	case !e.From.IsZero():
		bounds = fmt.Sprintf("from %v", e.From)
	case !e.To.IsZero():
		bounds = fmt.Sprintf("until %v", e.To)
	}
	return fmt.Sprintf("pricing: tariff %q is in force %s, not at %s", e.Tariff, bounds, e.At.Format(time.RFC3339))
}

// Price returns the price curve of a home over a window.
//
// The home's local wall clock at the start of an interval gives its month, day of the
// week, holiday and quarter hour. The import price is
//
//	(rate + adj of the period's tier + market price x loss + adder + riders) x (1 + taxes)
//
// of the version of the tariff in force on that day. The market price counts only if the
// tariff passes it through. An event may replace the price or add to it. Beyond the end
// of the market's series Price uses a forecast with lower confidence. Usage selects the
// tier. Fixed, minimum and demand charges do not change with one more kWh, so they are
// not included. See CompensationType for the export price. The expected price is
//
//	p x export + (1 - p) x import + carbon
//
// p is the probability that the home exports (see solar.NewChance). It is 0 under
// feed-in, which sells all generation separately. carbon is the cost of the marginal
// emissions (see MarginalEmissions and carbon.Intensity.Cost).
//
// The import and export prices of a composed plan are the sums of its parts' prices. The
// taxes of an adjustment also apply to the import prices of the parts that it names.
//
// The price of an interval is independent of the window: a wider window has the same
// values.
//
// Price returns ErrNoTariff, ErrNoLocation or ErrWindow for unusable inputs. It returns a
// *NotInForceError if the tariff does not cover every interval. It returns a
// *NoMarketError if a needed market price is unknown.
func Price(in Input, w Window) (*Curve, error) {
	p, err := newPricer(&in, w)
	if err != nil {
		return nil, err
	}
	c := newCurve(w, w.Len())
	err = p.each(func(card *card, i int) {
		if i == 0 {
			c.ImportSource, c.ExportCompensation = card.source(), card.described()
		}
		q := &p.quote
		c.Import[i], c.Export[i], c.Price[i], c.Confidence[i] = q.imports, q.exports, q.price, q.confidence
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (t *Tariff) notInForce(at time.Time) error {
	return &NotInForceError{
		Tariff: t.Info().Name,
		From:   t.versions[0].Info.EffectiveFrom,
		To:     t.Info().EffectiveTo,
		At:     at.UTC(),
	}
}
