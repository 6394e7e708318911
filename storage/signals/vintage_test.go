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

// TestSignal_UtilityValues checks that net billing pays the values of the home's vintage on a plan
// without a price for exports, and the plan's price if it has one.
func TestSignal_UtilityValues(t *testing.T) {
	s := newStore()
	coast := func(h *storage.Home) { h.Zipcode, h.Timezone = "94103", "America/Los_Angeles" }
	const rate = `"energyratestructure":[[{"rate":0.30}]]`
	storagetest.Put(t, s, plan("metered", `"eiaid":14328,"dgrules":"Net Metering",`+rate), plan("silent", `"eiaid":14328,`+rate),
		plan("selling", `"eiaid":14328,"energyratestructure":[[{"rate":0.30,"sell":0.05}]]`), plan("anonymous", rate), plan("elsewhere", `"eiaid":44372,`+rate),
		&storage.RatePlan{ID: "composed", Parts: []pricing.PlanPart{{PlanID: "silent", Role: pricing.RoleDelivery}, {PlanID: "anonymous", Role: pricing.RoleGeneration}}, Base: org},
		home("h", "metered", coast))
	evening := pricing.Window{Start: time.Date(2026, time.September, 2, 2, 0, 0, 0, time.UTC), End: time.Date(2026, time.September, 2, 3, 0, 0, 0, time.UTC)}
	b := signals.NewPricer(10)
	for _, tt := range []struct {
		plan       string
		applied    string
		notMetered bool
		want       float64
		paid       pricing.CompensationType
		confidence float64
	}{
		{"metered", "2024-06-01", false, 2.52139, pricing.NetBilling, 1},
		{"silent", "2024-06-01", false, 2.52139, pricing.NetBilling, 1},
		{"silent", "2026-06-01", false, 0.59505, pricing.NetBilling, 1},
		{"metered", "", true, 0.59505, pricing.NetBilling, 0.7},
		{"metered", "2020-06-01", false, 0.30, pricing.NetMetering, 1},
		{"selling", "2024-06-01", false, 0.05, pricing.NetBilling, 1},
		{"anonymous", "2024-06-01", false, 2.52139, pricing.NetBilling, 1}, // by the zipcode
		{"elsewhere", "2024-06-01", false, 0, pricing.NoExport, 1},
		{"composed", "2024-06-01", false, 0.06685, pricing.NetBilling, 1}, // the delivery component alone
	} {
		storagetest.Put(t, s, home("h", tt.plan, coast), &storage.Solar{HomeID: "h", SizeKw: 5, NonNetMetered: tt.notMetered, SolarSettings: storage.SolarSettings{ApplicationDate: tt.applied}, Base: org})
		got, err := signalAt(t, b, s, "h", evening)
		if err != nil || math.Abs(got.Export[0]-tt.want) > 1e-9 || got.ExportCompensation.Type != tt.paid || got.Confidence[0] != tt.confidence {
			t.Errorf("%+v: %v, export %v by %s with confidence %v", tt, err, got.Export[0], got.ExportCompensation.Type, got.Confidence[0])
		}
	}
}
