package pricing

// DemandCharge is a price for power, per kW of a billing month's highest demand.
// One kWh more or less does not change it by an amount that is known beforehand,
// so it is carried and reported and is no part of a price signal.
type DemandCharge struct {
	Name      string // the period it belongs to
	TimeOfUse bool   // counts the demand in some hours only
	Tiers     []DemandTier
}

// DemandTier is one step of a demand charge.
type DemandTier struct {
	MaxKW *float64 // upper bound of the demand, kW; nil when unbounded
	Rate  float64  // rate and adjustment together, $/kW
}
