package storage_test

import (
	"cmp"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

func composed(owner, id string, parts ...pricing.PlanPart) *storage.RatePlan {
	return &storage.RatePlan{ID: id, Parts: parts, Base: storage.Base{OrganizationID: owner}}
}

func delivery(id string) pricing.PlanPart {
	return pricing.PlanPart{PlanID: id, Role: pricing.RoleDelivery}
}

func generation(id string) pricing.PlanPart {
	return pricing.PlanPart{PlanID: id, Role: pricing.RoleGeneration}
}

func adjustment(id string, appliesTo ...string) pricing.PlanPart {
	return pricing.PlanPart{PlanID: id, Role: pricing.RoleAdjustment, AppliesTo: appliesTo}
}

// wrongFields returns the fields of an *InvalidError.
func wrongFields(t *testing.T, err error) (fields []string) {
	t.Helper()
	var wrong *storage.InvalidError
	if err != nil && !errors.As(err, &wrong) {
		t.Fatal(err)
	}
	if wrong != nil {
		for _, f := range wrong.Fields {
			fields = append(fields, f.Field)
		}
	}
	return fields
}

func TestRatePlan_CheckParts(t *testing.T) {
	nine := []pricing.PlanPart{delivery("a"), generation("b"), generation("c"), generation("d"), generation("e"), generation("f"), generation("g"), generation("h"), generation("i")}
	for _, tt := range []struct {
		name  string
		parts []pricing.PlanPart
		want  []string
	}{
		{"two parts", []pricing.PlanPart{delivery("a"), generation("b")}, nil},
		{"an adjustment of some parts", []pricing.PlanPart{generation("a"), delivery("b"), adjustment("c", "a"), adjustment("d", "c", "b")}, nil},
		{"one part", nine[:1], []string{"parts"}},
		{"nine parts", nine, []string{"parts"}},
		{"no delivery", nine[1:3], []string{"parts"}},
		{"wrong everywhere", []pricing.PlanPart{adjustment("p"), {PlanID: "a b", Role: "TAX"}, delivery("p")},
			[]string{"parts[0].planId", "parts[0].role", "parts[1].planId", "parts[1].role", "parts[2].planId"}},
		{"applies to", []pricing.PlanPart{{PlanID: "a", Role: pricing.RoleDelivery, AppliesTo: []string{"b"}}, adjustment("b", "c"), generation("c")},
			[]string{"parts[0].appliesTo", "parts[1].appliesTo[0]"}},
	} {
		if got := wrongFields(t, storage.Validate(composed("org", "p", tt.parts...))); !slices.Equal(got, tt.want) {
			t.Errorf("%s: wrong are %v, want %v", tt.name, got, tt.want)
		}
	}
	both := storagetest.RatePlan("org", "p", 0.1)
	both.Parts = []pricing.PlanPart{delivery("a"), generation("b")}
	if got := wrongFields(t, storage.Validate(both)); !slices.Equal(got, []string{"parts"}) {
		t.Errorf("a tariff and parts: wrong are %v", got)
	}
}

func partsStore(t *testing.T) *storage.Store {
	t.Helper()
	s, _, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	storagetest.Put(t, s, &storage.Organization{ID: "org", Name: "Org"}, &storage.Organization{ID: "other", Name: "Other"},
		storagetest.RatePlan("org", "own", 0.1), storagetest.RatePlan("org", "free", 0.1), storagetest.RatePlan("other", "theirs", 0.1),
		storagetest.RatePlan(storage.Shared, "shared", 0.1), storagetest.RatePlan(storage.Shared, "both", 0.1), storagetest.RatePlan("org", "both", 0.1),
		composed("org", "composed", delivery("own"), generation("shared"), adjustment("both")))
	return s
}

func TestCheckComposed(t *testing.T) {
	s := partsStore(t)
	for _, tt := range []struct {
		name string
		plan *storage.RatePlan
		want []string
	}{
		{"own and shared parts", composed("org", "p", delivery("own"), generation("shared")), nil},
		{"another organization's part", composed("org", "p", delivery("own"), generation("theirs")), []string{"parts[1].planId"}},
		{"shared plan of an organization's part", composed(storage.Shared, "p", delivery("own"), generation("shared")), []string{"parts[0].planId"}},
		{"nested", composed("org", "p", delivery("composed"), generation("missing")), []string{"parts[0].planId", "parts[1].planId"}},
		{"a part that gets parts", composed("org", "own", delivery("free"), generation("shared")), []string{"parts"}},
		{"parts in the place of a shared part", composed("org", "shared", delivery("own"), generation("free")), []string{"parts"}},
		{"invalid identifiers", composed("org", "p", delivery("a b"), generation("own")), nil},
	} {
		var p storage.Problems
		err := s.View(func(v storage.View) error { return storage.CheckComposed(&p, v, tt.plan) })
		if got := wrongFields(t, cmp.Or(err, p.Err())); !slices.Equal(got, tt.want) {
			t.Errorf("%s: wrong are %v, want %v", tt.name, got, tt.want)
		}
	}
}

// A part of another plan cannot be deleted, unless a shared plan takes its place.
func TestDelete_PartOfPlan(t *testing.T) {
	s := partsStore(t)
	for _, tt := range []struct {
		owner, id string
		inUse     bool
	}{
		{"org", "own", true},
		{storage.Shared, "shared", true},
		{"org", "free", false},
		{"other", "theirs", false},
		{"org", "both", false},
		{storage.Shared, "both", true}, // the organization's own plan is gone
		{"org", "composed", false},
		{"org", "own", false},
		{storage.Shared, "shared", false},
	} {
		err := s.Delete(t.Context(), storage.KindRatePlan.Ref(tt.owner, tt.id))
		var inUse *storage.PlanInUseError
		if errors.As(err, &inUse) != tt.inUse || err != nil && inUse == nil {
			t.Errorf("deleting %s of %s: %v", tt.id, tt.owner, err)
		}
		if inUse != nil && inUse.By != storage.KindRatePlan.Ref("org", "composed") {
			t.Errorf("%s is a part of %s", tt.id, inUse.By)
		}
	}
}

// A home on a shared composed plan has the prices of its organization's own plan in the place
// of a shared part.
func TestUsesPlan_OwnPlanHidesPart(t *testing.T) {
	s := partsStore(t)
	storagetest.Put(t, s, composed(storage.Shared, "bundle", delivery("shared"), generation("both")))
	for _, tt := range []struct {
		org, home string
		plan      storage.Ref
		want      bool
	}{
		{"org", "bundle", storage.KindRatePlan.Ref("org", "both"), true},
		{"org", "bundle", storage.KindRatePlan.Ref(storage.Shared, "both"), false},
		{"org", "bundle", storage.KindRatePlan.Ref(storage.Shared, "shared"), true},
		{"other", "bundle", storage.KindRatePlan.Ref(storage.Shared, "both"), true},
		{"other", "bundle", storage.KindRatePlan.Ref("org", "both"), false},
		{"org", "composed", storage.KindRatePlan.Ref("org", "own"), true},
		{"org", "both", storage.KindRatePlan.Ref(storage.Shared, "both"), false},
		{"org", "", storage.KindRatePlan.Ref("org", "own"), false},
	} {
		err := s.View(func(v storage.View) error {
			got, err := storage.UsesPlan(v, storage.KindRatePlan.Ref(tt.org, tt.home), tt.plan)
			if got != tt.want {
				t.Errorf("a home of %s on %q uses %s: %t", tt.org, tt.home, tt.plan, got)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
