package pricing_test

import (
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
)

// Demand charges are told of, never part of a price, and never a reason to
// refuse a tariff.
func TestDemandChargesAreCarried(t *testing.T) {
	plain := apsSaverChoicePlus().with("demandratestructure", nil)
	demanding := plain.
		with("flatdemandstructure", []any{tiers(0, 0), tiers(100, 13.5, 0, 12.1)}).
		with("demandratestructure", []any{
			[]any{map[string]any{"rate": 17.74, "adj": 10.01, "max": 1e38}},
			"nonsense", []any{7, map[string]any{"rate": "x"}}, []any{map[string]any{"rate": "8.4"}},
		})
	tariff := demanding.parse(t)
	charges := tariff.DemandCharges()
	if len(charges) != 3 || !tariff.Info().HasDemandCharges {
		t.Fatalf("got %+v", charges)
	}
	flatCharge, peak, text := charges[0], charges[1], charges[2]
	if flatCharge.TimeOfUse || len(flatCharge.Tiers) != 2 || *flatCharge.Tiers[0].MaxKW != 100 || flatCharge.Tiers[1] != (pricing.DemandTier{Rate: 12.1}) {
		t.Errorf("got %+v", flatCharge)
	}
	if !peak.TimeOfUse || peak.Tiers[0] != (pricing.DemandTier{Rate: 27.75}) || text.Tiers[0].Rate != 8.4 {
		t.Errorf("got %+v and %+v", peak, text)
	}
	w := window("2026-07-01T00:00:00Z", "2026-07-02T00:00:00Z")
	with := price(t, pricing.Input{Tariff: tariff, Location: time.UTC}, w).AppendFields(nil)
	without := price(t, pricing.Input{Tariff: plain.parse(t), Location: time.UTC}, w).AppendFields(nil)
	if string(with) != string(without) {
		t.Error("a demand charge changed the price of a kWh")
	}
}
