package storage_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing/eligibility"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

func TestArea_Check(t *testing.T) {
	yes := true
	check(t, func() storage.Area {
		return storage.Area{Correction: eligibility.Correction{Code: "606", Supported: &yes}}
	}, []tweak[storage.Area]{
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

// TestOverrides_StoredFacts checks that eligibility checks use the stored facts, those of the
// most specific area first.
func TestOverrides_StoredFacts(t *testing.T) {
	yes, no := true, false
	s, _, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	storagetest.Put(t, s,
		&storage.Utility{Utility: eligibility.Utility{EIAID: 7, Name: "Seven"}, Base: storage.Base{OrganizationID: storage.Shared}},
		&storage.DemandResponse{EIAID: 7, Programs: []string{"Night Shift"}, Base: storage.Base{OrganizationID: storage.Shared}},
		&storage.Area{Correction: eligibility.Correction{Code: "606", Supported: &no, Utilities: []int{7}}, Base: storage.Base{OrganizationID: storage.Shared}},
		&storage.Area{Correction: eligibility.Correction{Code: "60615", Supported: &yes}, Base: storage.Base{OrganizationID: storage.Shared}},
		&storage.Area{Correction: eligibility.Correction{Code: "AK", Supported: &yes}, Base: storage.Base{OrganizationID: storage.Shared}},
	)
	err := s.View(func(v storage.View) error {
		c := eligibility.Checker{Overrides: storage.Overrides(v)}
		for zipcode, want := range map[string]bool{"60614": false, "60615": true, "99501": true} {
			r, _ := c.Check(zipcode)
			if r.Supported != want || zipcode[0] == '6' && (!strings.Contains(r.Reason, "Seven") || !slices.Equal(r.DemandResponsePrograms, []string{"Night Shift"})) {
				t.Errorf("the result of %s is %+v", zipcode, r)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
