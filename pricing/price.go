package pricing

import (
	"errors"
	"fmt"
	"time"

	"github.com/gridhook/gridhook/pricing/carbon"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/pricing/solar"
)

// Inputs that cannot be priced at all.
var (
	ErrNoTariff   = errors.New("pricing: no tariff given")
	ErrNoLocation = errors.New("pricing: no time zone given")
	ErrWindow     = errors.New("pricing: a window is one or more whole quarter hours")
)

// Input is what decides the prices of a home, beside the window. The zero value
// of every field but the first two leaves out what it stands for.
type Input struct {
	Tariff   *Tariff
	Location *time.Location // time zone of the home: its wall clock decides the period
	Solar    *Solar         // nil when the home has none
	Usage    Usage          // decides the tier; none means the first one
	Events   []Event        // critical peaks and rebates of the home's plan

	// Market are the prices of the market that the tariff passes through or that
	// the home sells to.
	Market *market.Series
	// MarketBidding homes sell what they send out at the prices of Market.
	MarketBidding bool

	// ExportChance weighs import against export in the expected price; nil means
	// that the home imports. It counts for homes with Solar only.
	ExportChance *solar.Chance
	// Carbon is the region of the grid whose emissions the expected price counts,
	// by CarbonIntensity; nil counts none.
	Carbon          *carbon.Region
	CarbonIntensity carbon.Intensity
}

// NotInForceError says that a tariff does not apply to all of a window.
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

// Price is the price curve of a home over a window.
//
// Month, day of the week, holiday and quarter hour are those of the home's local
// wall clock at the start of the interval. The import price is
//
//	(rate + adj of the period's tier + market price x loss + adder + riders) x (1 + taxes)
//
// of the version of the tariff in force on that day, the market only where the
// tariff passes it through, unless an event sets another price or adds to it.
// Beyond the end of the market's series a forecast stands in, in which less
// confidence is had. Usage decides the tier. Fixed, minimum and demand
// charges do not change with one kWh more and are no part of it. See
// CompensationType for the export price. The expected price is
//
//	p x export + (1 - p) x import + carbon
//
// with p the probability that the home exports then (see solar.NewChance; 0 where
// all generation is sold apart, by feed-in) and carbon the cost of the marginal
// emissions (see carbon.Intensity.Cost).
//
// Each interval is priced by itself: a wider window has the same values.
//
// It returns ErrNoTariff, ErrNoLocation or ErrWindow for unusable inputs, a
// *NotInForceError when the tariff does not cover every interval, and a
// *NoMarketError when a market's price is needed and not known.
func Price(in Input, w Window) (*Curve, error) {
	p, err := newPricer(&in, w)
	if err != nil {
		return nil, err
	}
	c := newCurve(w, w.Len())
	first := true
	for s, ok := p.clock.next(); ok; s, ok = p.clock.next() {
		card, err := p.card(s)
		if err != nil {
			return nil, err
		}
		if first {
			c.ImportSource, c.ExportCompensation = card.version.importSource, card.compensation
			first = false
		}
		for i := s.first; i < s.first+s.count; i++ {
			q := card.quote(i)
			c.Import[i], c.Export[i], c.Price[i], c.Confidence[i] = q.imports, q.exports, q.price, q.confidence
		}
		if p.err != nil {
			return nil, p.err
		}
	}
	return c, nil
}

func (t *Tariff) notInForce(at time.Time) error {
	return &NotInForceError{
		Tariff: t.Info().Name,
		From:   t.versions[0].info.EffectiveFrom,
		To:     t.Info().EffectiveTo,
		At:     at.UTC(),
	}
}
