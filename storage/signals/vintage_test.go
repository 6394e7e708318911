package signals_test

import (
	"math"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// TestSignal_Vintage checks that the year of the application, or of the connection,
// selects the export values of a plan and of its parts.
func TestSignal_Vintage(t *testing.T) {
	s := newStore()
	coast := func(h *storage.Home) { h.Zipcode, h.Timezone = "94103", "America/Los_Angeles" }
	const delivery = `"name":"Delivery","exportvalues":"PG&E NBT26","energyratestructure":[[{"rate":0.20,"unit":"kWh"}]]`
	composed := &storage.RatePlan{ID: "composed", Parts: []pricing.PlanPart{{PlanID: "delivery", Role: pricing.RoleDelivery}, {PlanID: "supply", Role: pricing.RoleGeneration}}, Base: org}
	storagetest.Put(t, s, plan("credit", credit), plan("delivery", delivery), plan("supply", delivery), composed, home("whole", "credit", coast), home("parts", "composed", coast))
	evening := pricing.Window{Start: time.Date(2026, time.September, 2, 2, 0, 0, 0, time.UTC), End: time.Date(2026, time.September, 2, 3, 0, 0, 0, time.UTC)}
	b := signals.NewPricer(10)
	for _, id := range []string{"whole", "parts"} {
		for _, tt := range []struct {
			settings   storage.SolarSettings
			want       float64
			confidence float64
		}{
			{storage.SolarSettings{ApplicationDate: "2024-06-01"}, 2.52139, 1},
			{storage.SolarSettings{ExportValues: "PG&E NBT24"}, 2.52139, 1},
			{storage.SolarSettings{ConnectionYear: 2024, AccPlus: "GENERAL"}, 2.53939, 1},
			{storage.SolarSettings{ApplicationDate: "2026-06-01"}, 0.59505, 1},
			{storage.SolarSettings{ConnectionYear: 2026}, 0.59505, 0.7},
			{storage.SolarSettings{}, 0.59505, 0.7},
		} {
			storagetest.Put(t, s, &storage.Solar{HomeID: id, SizeKw: 5, NonNetMetered: true, SolarSettings: tt.settings, Base: org})
			got, err := signalAt(t, b, s, id, evening)
			if err != nil || math.Abs(got.Export[0]-tt.want) > 1e-9 || got.Confidence[0] != tt.confidence {
				t.Errorf("%s, %+v: %v, export %v with confidence %v, want %v with %v", id, tt.settings, err, got.Export[0], got.Confidence[0], tt.want, tt.confidence)
			}
		}
	}
}
