package pricing

import (
	"fmt"
	"time"

	"github.com/gridhook/gridhook/pricing/market"
)

// Passthrough is the part of a tariff that follows a market: a kWh drawn costs
//
//	market price x Loss + Adder
//
// beside the tariff's own rates and riders.
type Passthrough struct {
	Node  string      // that the prices are taken at
	Kind  market.Kind // day-ahead or real-time
	Loss  float64     // factor for losses on the way to the home
	Adder float64     // $/kWh
}

// Market is what the newest version of the tariff passes through, if it does.
func (t *Tariff) Market() (Passthrough, bool) {
	if p := t.newest().passthrough; p != nil {
		return *p, true
	}
	return Passthrough{}, false
}

// NoMarketError says that a price follows a market of which no price is known.
type NoMarketError struct {
	Node string
	Kind market.Kind
	At   time.Time // start of the first interval without a price
}

func (e *NoMarketError) Error() string {
	return fmt.Sprintf("pricing: no price of the market %s at %s is known or can be forecast for %s: import the series",
		orElse(string(e.Kind), "of the home"), orElse(e.Node, "its node"), e.At.UTC().Format(time.RFC3339))
}

func (p *pricer) noMarket(v *version, i int) error {
	e := &NoMarketError{At: p.window.At(i)}
	switch {
	case v.passthrough != nil:
		e.Node, e.Kind = v.passthrough.Node, v.passthrough.Kind
	case p.in.Market != nil:
		e.Node, e.Kind = p.in.Market.Node, p.in.Market.Kind
	}
	return e
}

// ask takes the market's price of an interval, or a forecast of it.
func (c *card) ask(q *quote, at int64, i int) {
	price, ok := c.pricer.in.Market.At(at)
	if !ok {
		if c.pricer.err == nil {
			c.pricer.err = c.pricer.noMarket(c.version, i)
		}
		return
	}
	q.market = price
	q.confidence = min(q.confidence, price.Confidence)
	if p := c.version.passthrough; p != nil {
		q.wholesale = price.Value*p.Loss + p.Adder
	}
}
