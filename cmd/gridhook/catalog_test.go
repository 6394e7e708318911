package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/pricing/catalog"
)

func TestPlanCatalog_Offline(t *testing.T) {
	got := run(t, nil, "", []string{"plan", "catalog", "--utility", "pacific gas", "--search", "ev2"})
	if want := "ID         STATE  UTILITY                    NAME   AS OF       NEWER  CAVEATS\npge-ev2-a  CA     Pacific Gas & Electric Co  EV2-A  2026-03-01  -      -\n"; got.code != 0 || got.out != want {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.err)
	}
	var all []catalog.Plan
	if got := run(t, nil, "", []string{"plan", "catalog", "--json"}); json.Unmarshal([]byte(got.out), &all) != nil || len(all) != len(catalog.All()) {
		t.Errorf("%d plans of %d", len(all), len(catalog.All()))
	}
	rates := 0
	for _, e := range all {
		if strings.HasPrefix(e.Source, "US Utility Rate Database") && e.Caveat != "" {
			rates++
		}
	}
	if rates < 321 {
		t.Errorf("%d rates of the database, want 321", rates)
	}
	if got := run(t, nil, "", []string{"plan", "catalog", "--utility", "no such"}); got.out != "There are no matching plans.\n" {
		t.Errorf("it shows %q", got.out)
	}
}

func TestPlanAdd(t *testing.T) {
	f := newFake(t)
	f.on("/v1/admin/plans/import", ok(planJSON))
	for args, want := range map[string]string{
		"plan add pge-e-elec":                `{"id":"pge-e-elec","catalogId":"pge-e-elec"}`,
		"plan add pge-e-elec --id e --org o": `{"id":"e","organizationId":"o","catalogId":"pge-e-elec"}`,
	} {
		if got := run(t, f, "", strings.Fields(args)); got.code != 0 || !sameJSON(t, f.last().body, want) {
			t.Errorf("%s: exit %d, sent %s, want %s", args, got.code, f.last().body, want)
		}
	}
}
