package bill

import "github.com/gridhook/gridhook/pricing"

// billedEvents returns the home's events that change the price of used energy in a window, and
// the caveats of events whose effect the bill does not know.
func (h *Home) billedEvents(w pricing.Window, tiered bool) (events []pricing.Event, caveats []string) {
	rebates, replaced := false, false
	for _, e := range h.Events {
		switch {
		case !e.From.Before(w.End) || !e.To.After(w.Start):
		case e.Kind == pricing.PeakRebate:
			rebates = true
		case e.Price != nil || e.Adder != 0:
			replaced = replaced || e.Price != nil && tiered
			events = append(events, e)
		}
	}
	if rebates {
		caveats = append(caveats, "rebates of plan events are missing: they depend on the normal use of the home")
	}
	if replaced {
		caveats = append(caveats, "plan events with a price replace the price of the first tier, also in higher tiers")
	}
	return events, caveats
}

// eventPrices returns the change of the import price by the events of in, in each step of a
// meter, $/kWh. plain has the prices without events.
func eventPrices(in pricing.Input, w pricing.Window, plain *pricing.Curve, m *Meter) ([]float64, error) {
	curve, err := pricing.Price(in, w)
	if err != nil {
		return nil, err
	}
	for i := range curve.Import {
		curve.Import[i] -= plain.Import[i]
	}
	return perStep(curve.Import, m), nil
}

// eventCharge returns the charge of a month's flow for the plan's events, $.
func (t *Terms) eventCharge(m *monthOfSteps, f flow) float64 {
	if t.eventPrices == nil {
		return 0
	}
	return sum(m, func(d *dayOfSteps, s step) float64 { return f(s) * t.eventPrices[s.index] * t.scale(d.date) })
}
