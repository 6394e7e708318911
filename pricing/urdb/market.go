package urdb

import (
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/market"
)

const marketKey = "market"

// The bounds of a loss factor.
const minLoss, maxLoss = 0.5, 2

// passthrough reads the market price that a tariff passes through.
func (r *reader) passthrough() *pricing.Passthrough {
	if !r.has(marketKey) {
		return nil
	}
	in, ok := r.object(marketKey, r.doc[marketKey], "an object with node and market")
	if !ok {
		return nil
	}
	p := &pricing.Passthrough{Node: in.text("node", maxShortText), Loss: 1}
	switch kind := market.Kind(in.text("market", maxShortText)); kind {
	case market.DayAhead, market.RealTime:
		p.Kind = kind
	default:
		in.problem("market", "%q is not a market; DAY_AHEAD and REAL_TIME are", clip(string(kind)))
	}
	if p.Node == "" {
		in.problem("node", "is missing: it says where the prices are taken")
	}
	if in.has("loss") {
		p.Loss = in.within("loss", in.doc["loss"], minLoss, maxLoss)
	}
	p.Adder = in.ratePerKWh("adder")
	return p
}
