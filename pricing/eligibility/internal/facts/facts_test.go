package facts_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/pricing/eligibility/internal/facts"
	"github.com/gridhook/gridhook/pricing/eligibility/internal/gen/pack"
)

func sample(zips []facts.Zip) *facts.Facts {
	return &facts.Facts{
		Tables: facts.Tables{
			Zones: []string{"America/Chicago", "America/New_York"}, Cities: []string{"A", "B"},
			Counties: []facts.County{{State: "IL", Name: "Cook"}}, Markets: []facts.Market{{}, {Name: "PJM", Programs: []string{"p"}}},
			Authorities: []string{""}, Utilities: []facts.Utility{{EIAID: 4110, Name: "ComEd"}}, Territories: [][]int{{}, {0}}, Shares: [][]int{{}, {100}},
		},
		Zips: zips,
	}
}

func TestFacts_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		code := 0
		zips := rapid.SliceOf(rapid.Custom(func(t *rapid.T) facts.Zip {
			code += rapid.IntRange(1, 500).Draw(t, "step")
			return facts.Zip{
				Code: code, City: rapid.IntRange(0, 1).Draw(t, "city"), Zone: rapid.IntRange(0, 1).Draw(t, "zone"),
				Lat: rapid.IntRange(-9000, 9000).Draw(t, "lat"), Lon: rapid.IntRange(-18000, 18000).Draw(t, "lon"), Height: rapid.IntRange(-100, 4000).Draw(t, "height"),
				Territory: rapid.IntRange(0, 1).Draw(t, "territory"), Market: rapid.IntRange(0, 1).Draw(t, "market"),
				Basis: facts.Basis(rapid.IntRange(0, 3).Draw(t, "basis")),
			}
		})).Draw(t, "zips")
		packed, err := pack.Encode(sample(zips))
		if err != nil {
			t.Fatal(err)
		}
		got, err := facts.Decode(packed)
		if err != nil {
			t.Fatal(err)
		}
		want := sample(zips)
		if len(zips) == 0 {
			got.Zips, want.Zips = nil, nil
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

func TestFacts_Damaged(t *testing.T) {
	good := facts.Zip{Code: 1}
	for name, zips := range map[string][]facts.Zip{
		"order":     {{Code: 2}, good},
		"twice":     {good, good},
		"city":      {{Code: 1, City: 2}},
		"county":    {{Code: 1, County: -1}},
		"zone":      {{Code: 1, Zone: 9}},
		"territory": {{Code: 1, Territory: 2}},
		"market":    {{Code: 1, Market: 2}},
		"authority": {{Code: 1, Authority: 1}},
	} {
		packed, err := pack.Encode(sample(zips))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := facts.Decode(packed); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	packed, err := pack.Encode(sample([]facts.Zip{good}))
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(packed) {
		if _, err := facts.Decode(packed[:cut]); err == nil {
			t.Errorf("accepted with %d of %d bytes", cut, len(packed))
		}
	}
}
