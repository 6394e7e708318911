package pricing

// demandCharges reads the prices per kW. They never refuse a tariff, since they
// do not enter the price signal: what cannot be read is left out.
func (r *urdbReader) demandCharges() []DemandCharge {
	flat := r.demandStructure("flatdemandstructure", false)
	return append(flat, r.demandStructure("demandratestructure", true)...)
}

func (r *urdbReader) demandStructure(key string, timeOfUse bool) []DemandCharge {
	periods, _ := r.doc[key].([]any)
	var charges []DemandCharge
	for i, period := range periods {
		charge := DemandCharge{Name: numbered("demand period", i), TimeOfUse: timeOfUse}
		tiers, _ := period.([]any)
		for _, tier := range tiers {
			if t, ok := demandTier(tier); ok {
				charge.Tiers = append(charge.Tiers, t)
			}
		}
		if charge.asks() {
			charges = append(charges, charge)
		}
	}
	return charges
}

func demandTier(v any) (t DemandTier, ok bool) {
	fields, ok := v.(map[string]any)
	if !ok {
		return t, false
	}
	rate, err1 := parseNumber(orZero(fields["rate"]))
	adj, err2 := parseNumber(orZero(fields["adj"]))
	if err1 != nil || err2 != nil || !finite(rate+adj) {
		return t, false
	}
	t.Rate = rate + adj
	if bound, err := parseNumber(fields["max"]); err == nil && bound > 0 && bound < unboundedMax {
		t.MaxKW = &bound
	}
	return t, true
}

// asks reports whether some demand costs something.
func (d *DemandCharge) asks() bool {
	for _, t := range d.Tiers {
		if t.Rate != 0 {
			return true
		}
	}
	return false
}
