package eligibility_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/pricing/eligibility"
)

// corrections are overrides in maps.
type corrections struct {
	utilities map[int]eligibility.Utility
	programs  map[int][]string
	areas     map[string]eligibility.Correction
}

func (c corrections) Utility(id int) (eligibility.Utility, bool) { return in(c.utilities, id) }
func (c corrections) Programs(id int) ([]string, bool)           { return in(c.programs, id) }
func (c corrections) Area(code string) eligibility.Correction    { return c.areas[code] }

func in[K comparable, V any](m map[K]V, k K) (V, bool) {
	v, ok := m[k]
	return v, ok
}

func TestOverrides_Apply(t *testing.T) {
	c := checker(t, corrections{
		utilities: map[int]eligibility.Utility{
			15497: {EIAID: 15497, Name: "LUMA Energy", DemandResponseCustomers: 1},
			18280: {EIAID: 18280, Name: "SSVEC"},
		},
		programs: map[int][]string{4110: {"Only This"}},
		areas: map[string]eligibility.Correction{
			"009":   {Utilities: []int{15497}, Timezone: "America/Puerto_Rico", State: "PR"},
			"98101": {Utilities: []int{14328}, Market: "CAISO"},
			"PR":    {Code: "PR", Supported: new(true), Reason: "a pilot"},
			"606":   {Code: "606", Supported: new(false)},
			"60614": {Code: "60614", Supported: new(true)},
			"AK":    {Code: "AK", Supported: new(true)},
		},
	})
	for _, want := range []struct {
		zipcode                     string
		supported, known, corrected bool
		word, program               string
	}{
		{"00901", true, true, true, "a pilot.", "LUMA Energy residential demand response"},
		{"60601", false, true, true, "does not support 606.", "Only This"},
		{"60614", true, true, true, "supports 60614.", "Only This"},
		{"99501", true, true, false, "supports AK.", ""},
		{"85635", false, true, true, "SSVEC (EIA 18280, about 65 %)", ""},
		{"98101", true, true, true, "CAISO", "CAISO Proxy Demand Resource"},
		{"00101", false, false, false, "table", ""},
	} {
		r, _ := c.Check(want.zipcode)
		if r.Supported != want.supported || !strings.Contains(r.Reason, want.word) {
			t.Errorf("%s: %+v", want.zipcode, r)
		}
		if corrected := strings.Contains(r.Reason, "Some of this was set by the operator."); corrected != want.corrected {
			t.Errorf("%s: the reason names the operator as a source: %v, want %v", want.zipcode, corrected, want.corrected)
		}
		if want.program != "" && !slices.Contains(r.DemandResponsePrograms, want.program) {
			t.Errorf("%s: programs %q", want.zipcode, r.DemandResponsePrograms)
		}
		if _, known := c.Area(want.zipcode); known != want.known {
			t.Errorf("%s: known %v", want.zipcode, known)
		}
	}
	if plain, _ := checker(t, nil).Check("60614"); slices.Contains(plain.DemandResponsePrograms, "Only This") {
		t.Error("the overrides of one checker change another")
	}
}

// A utility that an override moves to another state brings no programs of its own states.
func TestOverrides_ProgramsOfStates(t *testing.T) {
	const pacificorp = 14354
	c := checker(t, corrections{areas: map[string]eligibility.Correction{"60614": {Utilities: []int{pacificorp}}, "84101": {Utilities: []int{pacificorp}}}})
	if r, _ := c.Check("60614"); slices.ContainsFunc(r.DemandResponsePrograms, func(name string) bool { return strings.Contains(name, ":") || strings.Contains(name, "Wattsmart") }) {
		t.Errorf("programs of PacifiCorp in Illinois: %q", r.DemandResponsePrograms)
	}
	if r, _ := c.Check("84101"); !slices.ContainsFunc(r.DemandResponsePrograms, func(name string) bool { return strings.HasSuffix(name, "Wattsmart Battery") }) {
		t.Errorf("programs of PacifiCorp in Utah: %q", r.DemandResponsePrograms)
	}
}
