package pricing

import (
	"cmp"
	"fmt"
	"time"

	"github.com/gridhook/gridhook/pricing/market"
)

// Passthrough is the part of a tariff that follows a market. A drawn kWh costs
//
//	market price x Loss + Adder
//
// in addition to the tariff's own rates and riders.
type Passthrough struct {
	Node  string      // pricing node of the market
	Kind  market.Kind // day-ahead or real-time
	Loss  float64     // factor for losses on the way to the home
	Adder float64     // $/kWh
}

// Market returns the market of the tariff's newest version, and false without a market.
func (t *Tariff) Market() (Passthrough, bool) {
	if p := t.newest().Passthrough; p != nil {
		return *p, true
	}
	return Passthrough{}, false
}

// FollowsMarket reports whether the version in force on a day follows a market.
func (t *Tariff) FollowsMarket(d Date) bool {
	v := t.on(d.dayNumber())
	return v != nil && v.Passthrough != nil
}

// NoMarketError reports a price that follows a market without a known price.
type NoMarketError struct {
	Node string
	Kind market.Kind
	At   time.Time // start of the first interval without a price
}

func (e *NoMarketError) Error() string {
	return fmt.Sprintf("pricing: no price of the market %s at %s is known or can be forecast for %s: import the series",
		cmp.Or(string(e.Kind), "of the home"), cmp.Or(e.Node, "its node"), e.At.UTC().Format(time.RFC3339))
}

func (p *pricer) noMarket(v *version, i int) error {
	e := &NoMarketError{At: p.window.At(i)}
	switch {
	case v.Passthrough != nil:
		e.Node, e.Kind = v.Passthrough.Node, v.Passthrough.Kind
	case p.in.Market != nil:
		e.Node, e.Kind = p.in.Market.Node, p.in.Market.Kind
	}
	return e
}

// ownSource names the source of the import prices of a plan without parts. If the whole
// window is after the market's last price, it says so: the prices are a forecast.
func (c *card) ownSource() string {
	words := c.version.importSource
	if c.version.stale(c.day.number) {
		words = c.version.staleSource
	}
	if c.version.Passthrough == nil || c.pricer.in.Market == nil {
		return words
	}
	if _, end := c.pricer.in.Market.Span(); !end.After(c.pricer.window.Start) {
		words += ", forecast: the prices of " + c.version.Passthrough.Node + " end at " + end.Format(time.RFC3339)
	}
	return words
}

// ask sets the market price of an interval, either published or forecast.
func (c *card) ask(q *quote, at int64, i int) {
	price, ok := c.pricer.in.Market.At(at)
	if !ok {
		if c.pricer.err == nil {
			c.pricer.err = c.pricer.noMarket(c.version, i)
		}
		return
	}
	q.market = price
	q.add(marketForecast, price.Confidence)
	if p := c.version.Passthrough; p != nil {
		q.wholesale = price.Value*p.Loss + p.Adder
	}
}
