package storage_test

import (
	"strings"
	"testing"

	"github.com/gridhook/gridhook/pricing/eligibility"
	"github.com/gridhook/gridhook/storage"
)

func TestUtility_Validate(t *testing.T) {
	valid := func() storage.Utility { return storage.Utility{EIAID: 4110, Name: "Acme Electric"} }
	check(t, valid, []tweak[storage.Utility]{
		{"no number", func(u *storage.Utility) { u.EIAID = 0 }, "eiaId"},
		{"a negative number", func(u *storage.Utility) { u.EIAID = -1 }, "eiaId"},
		{"no name", func(u *storage.Utility) { u.Name = "" }, "name"},
		{"the longest name", func(u *storage.Utility) { u.Name = strings.Repeat("a", 255) }, ""},
		{"many kinds still", func(u *storage.Utility) { u.DynamicPricing = strings.Split(strings.Repeat("a", 100), "") }, ""},
	})
}

func TestDemandResponse_Validate(t *testing.T) {
	check(t, func() storage.DemandResponse { return storage.DemandResponse{EIAID: 4110} }, []tweak[storage.DemandResponse]{
		{"no number", func(d *storage.DemandResponse) { d.EIAID = 0 }, "eiaId"},
		{"a program", func(d *storage.DemandResponse) { d.Programs = []string{"Peak Time Savings"} }, ""},
	})
}

func TestArea_Validate(t *testing.T) {
	yes := true
	check(t, func() storage.Area { return storage.Area{Code: "606", Supported: &yes} }, []tweak[storage.Area]{
		{"a zipcode", func(a *storage.Area) { a.Code = "60614" }, ""},
		{"a state", func(a *storage.Area) { a.Code = "IL" }, ""},
		{"a small state", func(a *storage.Area) { a.Code = "il" }, "area"},
		{"four digits", func(a *storage.Area) { a.Code = "6061" }, "area"},
		{"nothing said", func(a *storage.Area) { a.Supported = nil }, "supported"},
		{"a territory", func(a *storage.Area) { a.Supported, a.Utilities = nil, []int{4110} }, ""},
		{"both", func(a *storage.Area) {
			a.Utilities, a.Market, a.Timezone, a.State = []int{4110}, "PJM", "America/Chicago", "IL"
		}, ""},
		{"a market of nobody", func(a *storage.Area) { a.Market = "PJM" }, "utilities"},
		{"who serves a state", func(a *storage.Area) { a.Code, a.Utilities = "IL", []int{1} }, "area"},
	})
}

// TestOverrides_StoredFactsAccepted checks that eligibility checks accept every valid
// entity. Otherwise one bad entity would fail all checks.
func TestOverrides_StoredFactsAccepted(t *testing.T) {
	no := false
	u, d := storage.Utility{EIAID: 7, Name: "Seven"}, storage.DemandResponse{EIAID: 8}
	a := storage.Area{Code: "606", Supported: &no, Utilities: []int{7}}
	territory, _ := a.Territory()
	support, _ := a.Support()
	c, err := eligibility.New(eligibility.Options{Overrides: eligibility.Overrides{
		Utilities: []eligibility.Utility{u.Facts()}, Programs: []eligibility.Programs{d.Facts()},
		Territories: []eligibility.Territory{territory}, Areas: []eligibility.Support{support},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if r := c.Check("60614"); r.Supported || !strings.Contains(r.Reason, "Seven") {
		t.Errorf("the result is %+v", r)
	}
}
