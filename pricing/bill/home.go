package bill

import (
	"cmp"
	"fmt"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/climate"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/pricing/solar"
)

// Home holds the known facts of a home, except its rate.
type Home struct {
	Location  *time.Location  // nil if unknown
	Place     *climate.Place  // nil if unknown
	Usage     pricing.Usage   // billing day and baseline
	AnnualKWh float64         // assumed; 0 if nothing is assumed
	Metered   *solar.Metered  // measured load; nil if nothing is measured
	Solar     *Solar          // nil if the home has none
	Market    *market.Series  // followed by the home's rate, or sold to by a home that bids; nil if no price is known
	Bids      bool            // whether the home sells its exports to Market, if Market is not nil
	Events    []pricing.Event // of the home's rate; only a metered time with a start has them

	own *Solar // the home's solar, whatever the request says
}

// Solar is a home's solar system. SizeKw is 0 if its output is metered.
type Solar struct {
	pricing.Solar
	Array solar.Array
}

// ForHome calculates the bill of a home at a rate, either from ReadRate or from a tariff.
// The errors are *pricing.InvalidError.
func ForHome(h Home, rate Terms, r Request) (*Bill, error) {
	if r.Minimum != nil {
		rate.MinimumCharge = pricing.Charge{Amount: *r.Minimum, Unit: "$/" + cmp.Or(r.MinimumUnit, "month")}
	}
	rate.Rules, rate.Usage, rate.AnyDate = r.Rules, h.Usage, r.Start == ""
	h.own = h.Solar
	if err := h.replaceSolar(&r); err != nil {
		return nil, err
	}
	m, sun, err := h.meter(&rate, &r)
	if err != nil {
		return nil, err
	}
	if h.Solar != nil {
		rate.SolarKW, rate.Regime = h.Solar.SizeKw, h.Solar.Regime
	}
	b, caveats, err := h.calculate(&m, rate)
	if err != nil {
		return nil, err
	}
	b.Sun = sun
	h.caveatLoad(b, &r)
	b.Caveats = append(b.Caveats, caveats...)
	if h.Bids && h.Market != nil && m.SendsOut() && r.Start == "" && r.Metering == "" {
		b.caveat("the home bids on a market, but a typical year has no market prices: the rate plan settles its exports")
	}
	if b.Metering == FeedIn && b.Credit == 0 {
		b.caveat("generated energy earns nothing, because neither the rate plan nor the request has a feed-in rate")
	}
	if m.SendsOut() && h.Solar != nil && h.Solar.Regime.Name != "" {
		b.Regime = new(h.Solar.Regime.On(b.Months[0].Start))
		if doubt := b.Regime.CreditDoubt(); doubt != "" && b.Metering == NetMetering {
			b.caveat(doubt)
		}
	}
	return b, nil
}

// caveatLoad adds the caveat of a load that is not measured.
func (h *Home) caveatLoad(b *Bill, r *Request) {
	if r.Load != nil {
		return
	}
	switch measured := h.Metered.Months(); {
	case measured == 0 && r.AnnualKWh == 0 && h.AnnualKWh == 0:
		b.caveat("the energy of the year is the mean of US homes: add the home's usage, or name the year's energy")
	case measured > 0 && measured < 12:
		b.caveat(fmt.Sprintf("the load of %d months is not measured: it is estimated from the measured months", 12-measured))
	}
}

// calculate calculates the bill of metered or typical data, of a rate or of its parts.
func (h *Home) calculate(m *Meter, rate Terms) (b *Bill, caveats []string, err error) {
	if rate.Parts != nil {
		return h.composed(m, &rate)
	}
	if caveats, err = h.setMetering(&rate, m); err != nil {
		return nil, nil, err
	}
	if b, err = Calculate(*m, rate); err == nil && m.SendsOut() {
		b.Metering = rate.Metering
	}
	return b, caveats, err
}

// replaceSolar overrides the home's solar with the values of a request.
func (h *Home) replaceSolar(r *Request) error {
	if r.SolarKW == nil && r.Tilt == nil && r.Azimuth == nil && r.Losses == nil {
		return nil
	}
	made := Solar{Array: solar.DefaultArray}
	if h.Solar != nil {
		made = *h.Solar
	}
	for _, set := range []struct{ from, to *float64 }{{r.SolarKW, &made.SizeKw}, {r.Tilt, &made.Array.Tilt}, {r.Azimuth, &made.Array.Azimuth}, {r.Losses, &made.Array.Losses}} {
		if set.from != nil {
			*set.to = *set.from
		}
	}
	if err := made.Array.Check(); err != nil {
		return pricing.Invalid("tilt", "or azimuth or losses cannot be used: %v", err)
	}
	h.Solar = &made
	return nil
}

// setMetering sets the metering and the prices of exported energy, and returns their caveats.
// The price signal's rules decide the metering, unless the terms name it.
func (h *Home) setMetering(t *Terms, m *Meter) (caveats []string, err error) {
	if t.HourlyPrices != nil { // the rate has no rules
		return t.settleHourly(m), nil
	}
	follows, err := t.followsMarket(m)
	if err != nil {
		return nil, err
	}
	if follows && (h.Market == nil || t.AnyDate) {
		return nil, pricing.Invalid("ratePlanId", "names a plan whose prices follow a market: its bill needs loadKwh with a start, and the market's prices of that time")
	}
	exports := m.SendsOut() && (t.Metering == "" || t.Metering == NetBilling)
	w := pricing.Window{Start: m.Start, End: m.Start.Add(time.Duration(len(m.Load)) * m.Step)}
	var events []pricing.Event
	if !t.AnyDate {
		events, caveats = h.billedEvents(w, t.Tariff.Tiered())
	}
	if !follows && !exports && events == nil {
		return caveats, nil
	}
	var of pricing.Solar
	if h.Solar != nil {
		of = h.Solar.Solar
	}
	of.NonNetMetered = of.NonNetMetered || t.NonNetMetered || t.Metering == NetBilling
	in := pricing.Input{Tariff: t.Tariff, Location: m.Location, Solar: &of, Market: h.Market, MarketBidding: exports && h.sells(t)}
	if t.AnyDate { // a typical year has no market prices
		in.Tariff, in.Market = t.Tariff.OfTypicalYear(), nil
	}
	curve, err := pricing.Price(in, w)
	if err == nil && events != nil {
		in.Events = events
		t.eventPrices, err = eventPrices(in, w, curve, m)
	}
	if err != nil {
		return nil, unpriced(err)
	}
	if follows {
		t.HourlyPrices = perStep(curve.Import, m)
	}
	if follows || in.MarketBidding {
		caveats = append(caveats, h.marketCaveats(w, follows && t.Tariff.Tiered())...)
	}
	if exports && t.Metering == "" {
		if t.Metering, err = t.settlement(in, w, curve.ExportCompensation.Type); err != nil {
			return nil, err
		}
	}
	if exports && t.Metering == NetBilling {
		caveats = append(caveats, t.setExportPrices(&in, curve, m)...)
	}
	return caveats, nil
}

// marketCaveats returns the caveats of prices that follow the home's market in a window.
func (h *Home) marketCaveats(w pricing.Window, tiered bool) (caveats []string) {
	for i := range w.Len() {
		if price, _ := h.Market.At(w.At(i).Unix()); price.Forecast {
			caveats = append(caveats, "some prices of the market are forecast")
			break
		}
	}
	if tiered {
		caveats = append(caveats, "prices that follow a market have the rate of the first tier, also in higher tiers")
	}
	return caveats
}

const unpaidExports = "exports earn nothing, because the rate plan has no export price"

// settleHourly sets the metering of a rate with prices by the hour, and returns its caveats.
func (t *Terms) settleHourly(m *Meter) (caveats []string) {
	if t.NonNetMetered {
		t.Metering = cmp.Or(t.Metering, NetBilling)
	}
	if t.Metering = cmp.Or(t.Metering, NetMetering); t.Metering == NetBilling && m.SendsOut() {
		caveats = []string{unpaidExports}
	}
	return caveats
}

// setExportPrices sets the prices of exports under net billing, if they are not the tariff's
// sell rates.
func (t *Terms) setExportPrices(in *pricing.Input, curve *pricing.Curve, m *Meter) (caveats []string) {
	if doubt := in.VintageDoubt(); doubt != "" && curve.ExportCompensation.Type == pricing.NetBilling {
		caveats = append(caveats, doubt)
	}
	if t.Tariff.PaysAvoidedCosts() || curve.ExportCompensation.Type == pricing.Wholesale {
		t.ExportPrices = perStep(curve.Export, m)
	}
	if curve.ExportCompensation.Type == pricing.NoExport {
		caveats = append(caveats, unpaidExports)
	}
	return caveats
}

// settlement returns the metering for exports that are compensated in the given way at the
// start of the bill. It refuses a metered time at whose end it would be another.
func (t *Terms) settlement(in pricing.Input, w pricing.Window, c pricing.CompensationType) (Metering, error) {
	first := settlements[c]
	if t.AnyDate {
		return first, nil
	}
	curve, err := pricing.Price(in, pricing.Window{Start: w.End.Add(-pricing.Interval), End: w.End})
	if err != nil {
		return first, unpriced(err)
	}
	if last := settlements[curve.ExportCompensation.Type]; last != first {
		return first, pricing.Invalid("start", "with loadKwh crosses a day from which exports are settled by %s instead of %s: request one bill before and one from that day", last, first)
	}
	return first, nil
}

// followsMarket reports whether the tariff's prices follow a market in the billed time. A
// bill has either prices of a market or the tariff's own.
func (t *Terms) followsMarket(m *Meter) (bool, error) {
	if t.AnyDate {
		_, follows := t.Tariff.Market()
		return follows, nil
	}
	follows := t.Tariff.FollowsMarket(pricing.DateOf(m.Start.In(m.Location)))
	for i := range m.Load {
		d := pricing.DateOf(m.Start.Add(time.Duration(i) * m.Step).In(m.Location))
		if t.Tariff.FollowsMarket(d) != follows {
			article := map[bool]string{true: "no", false: "a"}[follows]
			return false, pricing.Invalid("start", "with loadKwh crosses %v: from that day the plan's prices follow %s market, so request one bill before and one from that day", d, article)
		}
	}
	return follows, nil
}

// sells reports whether the market pays for the exports of a bill, as in the price signal.
// A typical year has no market prices, and metering that the terms name has priority.
func (h *Home) sells(t *Terms) bool {
	return h.Bids && h.Market != nil && !t.AnyDate && t.Metering == ""
}

// settlements maps a signal's compensation types to the metering of bills.
var settlements = map[pricing.CompensationType]Metering{
	pricing.NetMetering: NetMetering, pricing.FeedIn: FeedIn,
	pricing.NetBilling: NetBilling, pricing.Wholesale: NetBilling, pricing.NoExport: NetBilling,
}

// perStep returns the mean of the quarter-hour prices in each step of a meter.
func perStep(prices []float64, m *Meter) []float64 {
	steps := make([]float64, len(m.Load))
	quarters := int(m.Step / pricing.Interval)
	for i, price := range prices {
		steps[i/quarters] += price / float64(quarters)
	}
	return steps
}
