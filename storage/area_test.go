package storage_test

import (
	"strings"
	"testing"

	"github.com/gridhook/gridhook/pricing/eligibility"
	"github.com/gridhook/gridhook/storage"
)

func TestArea_Validate(t *testing.T) {
	yes := true
	check(t, func() storage.Area { return storage.Area{Code: "606", Supported: &yes} }, []tweak[storage.Area]{
		{"a zipcode", func(a *storage.Area) { a.Code = "60614" }, ""},
		{"a state", func(a *storage.Area) { a.Code = "IL" }, ""},
		{"nothing said", func(a *storage.Area) { a.Supported = nil }, "supported"},
		{"a territory", func(a *storage.Area) { a.Supported, a.Utilities = nil, []int{4110} }, ""},
		{"both", func(a *storage.Area) {
			a.Utilities, a.Market, a.Timezone, a.State = []int{4110}, "PJM", "America/Chicago", "IL"
		}, ""},
		{"a market of nobody", func(a *storage.Area) { a.Market = "PJM" }, "utilities"},
		{"who serves a state", func(a *storage.Area) { a.Code, a.Utilities = "IL", []int{1} }, "area"},
	})
}

// TestOverrides_StoredFacts checks that eligibility checks use the facts of the entities.
func TestOverrides_StoredFacts(t *testing.T) {
	no := false
	u := storage.Utility{EIAID: 7, Name: "Seven"}
	a := storage.Area{Code: "606", Supported: &no, Utilities: []int{7}}
	territory, _ := a.Territory()
	support, _ := a.Support()
	c := eligibility.Checker{Overrides: eligibility.Overrides{
		Utilities:   map[int]eligibility.Utility{u.EIAID: u.Facts()},
		Territories: map[string]eligibility.Territory{a.Code: territory}, Areas: map[string]eligibility.Support{a.Code: support},
	}}
	if r := c.Check("60614"); r.Supported || !strings.Contains(r.Reason, "Seven") {
		t.Errorf("the result is %+v", r)
	}
}
