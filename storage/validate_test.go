package storage_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/pricing/savings"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// problems returns the wrong fields of an entity.
func problems(t *testing.T, e storage.Entity) []string {
	t.Helper()
	err := storage.Validate(e)
	if err == nil {
		return nil
	}
	var invalid *storage.InvalidError
	if !errors.As(err, &invalid) || len(invalid.Fields) == 0 {
		t.Fatalf("Validate returned %v, want an *InvalidError", err)
	}
	var fields []string
	for _, f := range invalid.Fields {
		if f.Message == "" || !strings.Contains(err.Error(), f.Field+": "+f.Message) {
			t.Errorf("the problem with %s is missing in %q", f.Field, err)
		}
		fields = append(fields, f.Field)
	}
	return fields
}

// tweak is one change of a valid entity. wrong lists the fields that are then invalid,
// separated by spaces. It is empty if the entity stays valid.
type tweak[T any] struct {
	name   string
	change func(*T)
	wrong  string
}

func check[T any, P storage.PointerTo[T]](t *testing.T, valid func() T, tweaks []tweak[T]) {
	t.Helper()
	e := valid()
	if wrong := problems(t, P(&e)); wrong != nil {
		t.Fatalf("the valid entity has problems with %v", wrong)
	}
	for _, tt := range tweaks {
		t.Run(tt.name, func(t *testing.T) {
			e := valid()
			tt.change(&e)
			if got := strings.Join(problems(t, P(&e)), " "); got != tt.wrong {
				t.Errorf("the invalid fields are %q, want %q", got, tt.wrong)
			}
		})
	}
}

// ids returns tweaks that check that a text must be an identifier.
func ids[T any](field string, set func(*T, string)) []tweak[T] {
	to := func(s string) func(*T) { return func(e *T) { set(e, s) } }
	return []tweak[T]{
		{field + " at its longest", to(strings.Repeat("x", 128)), ""},
		{field + " too long", to(strings.Repeat("x", 129)), field},
		{field + " with a dot", to("a.b"), field},
		{field + " with a wildcard", to("*"), field},
	}
}

func ptr[T any](v T) *T { return &v }

func TestHome_Check(t *testing.T) {
	valid := func() storage.Home { return *storagetest.Home("org", "h", "plan") }
	check(t, valid, slices.Concat(
		ids("id", func(h *storage.Home, s string) { h.ID = s }),
		[]tweak[storage.Home]{
			{"no id", func(h *storage.Home) { h.ID = "" }, "id"},
			{"no rate plan", func(h *storage.Home) { h.RatePlanID = "" }, ""},
			{"no time zone", func(h *storage.Home) { h.Timezone = "" }, ""},
			{"this machine's time zone", func(h *storage.Home) { h.Timezone = "Local" }, "timezone"},
			{"no such time zone", func(h *storage.Home) { h.Timezone = "America/Gotham" }, "timezone"},
			{"a path as a time zone", func(h *storage.Home) { h.Timezone = "../../etc/passwd" }, "timezone"},
			{"no zipcode", func(h *storage.Home) { h.Zipcode = "" }, ""},
			{"a zipcode", func(h *storage.Home) { h.Zipcode = "60614-1234" }, ""},
			{"no intensity", func(h *storage.Home) { h.CarbonSignalIntensity = "" }, "carbonSignalIntensity"},
			{"an intensity in lower case", func(h *storage.Home) { h.CarbonSignalIntensity = "high" }, "carbonSignalIntensity"},
			{"the highest intensity", func(h *storage.Home) { h.CarbonSignalIntensity = storage.CarbonHigh }, ""},
		},
	))
}

func TestOrganization_Check(t *testing.T) {
	valid := func() storage.Organization { return storage.Organization{ID: "org", Name: "Org"} }
	children := func(list ...string) func(*storage.Organization) {
		return func(o *storage.Organization) { o.ChildOrganizationIDs = list }
	}
	check(t, valid, slices.Concat(
		ids("id", func(o *storage.Organization, s string) { o.ID = s }),
		[]tweak[storage.Organization]{
			{"the reserved id", func(o *storage.Organization) { o.ID = storage.Shared }, "id"},
			{"children", children("a", "b"), ""},
			{"its own child", children("a", "org"), "childOrganizationIds[1]"},
			{"the operator as a child", children(storage.Shared), "childOrganizationIds[0]"},
		},
	))
}

func TestKey_Check(t *testing.T) {
	valid := func() storage.Key { k, _ := storage.NewKey("org", storagetest.Start); return k }
	check(t, valid, slices.Concat(
		ids("id", func(k *storage.Key, s string) { k.ID = s }),
		[]tweak[storage.Key]{
			{"one scope", func(k *storage.Key) { k.Scopes = []storage.Scope{storage.ScopeRead} }, ""},
		},
	))
}

func TestHVACDevice_Check(t *testing.T) {
	valid := func() storage.HVACDevice {
		d := storage.NewHVACDevice("org")
		d.ID, d.HomeID = "dev", "h"
		return d
	}
	check(t, valid, slices.Concat(
		[]tweak[storage.HVACDevice]{
			{"Celsius", func(d *storage.HVACDevice) { d.Details.TempUnits = savings.Celsius }, ""},
			{"Kelvin", func(d *storage.HVACDevice) { d.Details.TempUnits = "K" }, "systemDetails.tempUnits"},
			{"no mode", func(d *storage.HVACDevice) { d.Details.DefaultMode = "" }, "systemDetails.defaultMode"},
		},
	))
}

func TestOnboarding_Check(t *testing.T) {
	valid := func() storage.Onboarding {
		return storage.Onboarding{ID: "o", HomeID: "h", Status: storage.OnboardingNotStarted, EligibilityStatus: storage.Eligible}
	}
	check(t, valid, slices.Concat(
		ids("id", func(o *storage.Onboarding, s string) { o.ID = s }),
		[]tweak[storage.Onboarding]{
			{"a status", func(o *storage.Onboarding) { o.Status = storage.OnboardingError }, ""},
			{"no status", func(o *storage.Onboarding) { o.Status = "" }, "status"},
			{"no eligibility", func(o *storage.Onboarding) { o.EligibilityStatus = "maybe" }, "eligibilityStatus"},
			{"a zipcode", func(o *storage.Onboarding) { o.Zipcode = "60614" }, ""},
			{"a step", func(o *storage.Onboarding) { o.Step = 1 }, ""},
		},
	))
}

func TestRatePlan_Check(t *testing.T) {
	valid := func() storage.RatePlan { return *storagetest.RatePlan("org", "plan", 0.1) }
	node := func(name, kind string) string { return fmt.Sprintf(`,"market":{"node":%q,"market":%q}`, name, kind) }
	versions := func(first, second string) []byte {
		const version = `{"name":"T","utility":"U","startdate":%q,"energyratestructure":[[{"rate":0.1}]]%s}`
		return []byte("[" + fmt.Sprintf(version, "2026-01-01", first) + "," + fmt.Sprintf(version, "2027-01-01", second) + "]")
	}
	check(t, valid, slices.Concat(
		ids("id", func(p *storage.RatePlan, s string) { p.ID = s }),
		[]tweak[storage.RatePlan]{
			{"no tariff", func(p *storage.RatePlan) { p.Tariff = nil }, "tariff"},
			{"not a tariff", func(p *storage.RatePlan) { p.Tariff = []byte(`[`) }, "tariff"},
			{"versions at two nodes", func(p *storage.RatePlan) { p.Tariff = versions(node("COMED", "REAL_TIME"), node("HUB", "REAL_TIME")) }, "tariff"},
			{"versions of two markets", func(p *storage.RatePlan) { p.Tariff = versions(node("HUB", "DAY_AHEAD"), node("HUB", "REAL_TIME")) }, "tariff"},
			{"versions at one node", func(p *storage.RatePlan) { p.Tariff = versions(node("HUB", "REAL_TIME"), node("HUB", "REAL_TIME")) }, ""},
			{"a version without a market", func(p *storage.RatePlan) { p.Tariff = versions("", node("HUB", "REAL_TIME")) }, ""},
		},
	))
	const uncredited = `,"riders":[{"name":"Tax","rate":10,"unit":"%","credited":false}]`
	p := valid()
	p.Tariff = []byte(`{"name":"T","utility":"U","energyratestructure":[[{"rate":"x"}]]}`)
	wrong := problems(t, &p)
	if len(wrong) != 1 || !strings.HasPrefix(wrong[0], "tariff.energyratestructure[0][0]") {
		t.Errorf("a wrong rate is at %v", wrong)
	}
	for _, tariff := range [][]byte{versions(uncredited, ""), versions("", uncredited)} {
		p.Tariff = tariff
		if wrong := problems(t, &p); len(wrong) != 1 || !strings.HasPrefix(wrong[0], "tariff.riders") {
			t.Errorf("a percentage without credit is refused at %v", wrong)
		}
	}
	p.Tariff = []byte(`{"name":"T","utility":"U","energyratestructure":[[{"rate":0.1}]]}`)
	if err := storage.Validate(&p); err != nil || p.Name != "T" || p.Utility != "U" {
		t.Errorf("name and utility of the tariff are %q, %q (%v)", p.Name, p.Utility, err)
	}
	p.Name = "Mine"
	if err := storage.Validate(&p); err != nil || p.Name != "Mine" {
		t.Errorf("a given name becomes %q (%v)", p.Name, err)
	}
}

// findPlan returns the owner of the plan that an organization's homes get.
func findPlan(t *testing.T, s *storage.Store, org string) (owner string, err error) {
	t.Helper()
	err = s.View(func(v storage.View) error {
		r, err := storage.FindShared(v, storage.KindRatePlan.Ref(org, "p"))
		owner = r.Org
		return err
	})
	return owner, err
}

func TestFindShared_OwnFirst(t *testing.T) {
	s, _, _, _ := newStore(t)
	if _, err := findPlan(t, s, "a"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("no plan: %v", err)
	}
	storagetest.Put(t, s, storagetest.RatePlan(storage.Shared, "p", 0.1), storagetest.RatePlan("a", "p", 0.2))
	for org, want := range map[string]string{"a": "a", "b": storage.Shared} {
		if got, err := findPlan(t, s, org); got != want || err != nil {
			t.Errorf("%s gets the plan of %q (%v), want %q", org, got, err, want)
		}
	}
	if err := s.Delete(t.Context(), storage.KindRatePlan.Ref("a", "p")); err != nil {
		t.Fatal(err)
	}
	if got, err := findPlan(t, s, "a"); got != storage.Shared || err != nil {
		t.Errorf("after the deletion of its own plan it gets the plan of %q (%v)", got, err)
	}
	if err := s.Delete(t.Context(), storage.KindRatePlan.Ref(storage.Shared, "p")); err != nil {
		t.Fatal(err)
	}
	if _, err := findPlan(t, s, "b"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("all deleted: %v", err)
	}
}

func TestKinds_Complete(t *testing.T) {
	entities := []storage.Entity{
		&storage.Organization{}, &storage.Key{}, &storage.Home{}, &storage.Solar{}, &storage.RatePlan{},
		&storage.HVACDevice{}, &storage.UserPreferences{}, &storage.Onboarding{}, &storage.WebhookEndpoint{},
		&storage.Schedule{}, &storage.Replay{}, &storage.KeyUse{}, &storage.OperatorKey{}, &storage.Channel{}, &storage.Source{}, &storage.SourceState{},
		&storage.Utility{}, &storage.DemandResponse{}, &storage.Area{},
		&storage.PlanEvents{}, &storage.MarketSeries{}, &storage.MarketPrices{}, &storage.Usage{}, &storage.MeasuredLoad{}, &storage.HomeMarket{},
	}
	got := map[storage.Kind]bool{storage.KindVault: true, storage.KindSchema: true, storage.KindErasure: true}
	for _, o := range storage.OpenADRTypes() {
		entities = append(entities, &storage.OpenADRObject{Type: o})
	}
	for _, e := range entities {
		got[e.Ref().Kind] = true
	}
	want := map[storage.Kind]bool{}
	for _, k := range storage.Kinds() {
		want[k] = true
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the entities have the kinds %v, Kinds returns %v", got, want)
	}
}
