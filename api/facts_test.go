package api_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/api/rest"
)

// TestFacts_Override imports a row that replaces a published one, and deletes it.
func TestFacts_Override(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.load(`{"resource":"organization","id":"acme","name":"A"}`)
	acme := e.key("acme")
	check := func(zipcode string) (got struct {
		Supported, TariffData bool
		Programs              []any
		Reason                string
	}) {
		t.Helper()
		o := e.ask(acme, "/v1/onboarding/eligibility/check", `{"zipcode":"`+zipcode+`"}`).ok(t)
		got.Supported, got.TariffData, got.Reason = o["supported"].(bool), o["tariffData"].(bool), o["reason"].(string)
		got.Programs = o["demandResponsePrograms"].([]any)
		return got
	}
	before := check("60614")
	if island := check("00901"); island.Supported || !before.Supported {
		t.Fatalf("before: 00901 is %+v, 60614 %+v", island, before)
	}
	lines := []string{
		`{"resource":"utility","eiaId":15497,"name":"Island Electric","programs":["Island Peak Savers"]}`,
		`{"resource":"demandResponse","eiaId":4110,"programs":["Only This"]}`,
		`{"resource":"area","area":"009","supported":true,"reason":"a pilot","utilities":[15497],"timezone":"America/Puerto_Rico","state":"PR"}`,
		`{"resource":"area","area":"60614","supported":false,"reason":"not yet"}`,
		`{"resource":"home","organizationId":"acme","id":"island","zipcode":"00901"}`,
	}
	e.load(lines...)
	if again := e.importLines(strings.Join(lines, "\n")).ok(t); again["unchanged"] != 5.0 {
		t.Errorf("the second import: %v", again)
	}
	if got := check("00901"); !got.Supported || !strings.Contains(got.Reason, "a pilot") || !strings.Contains(got.Reason, "Island Electric") || !slices.Contains(got.Programs, any("Island Peak Savers")) {
		t.Errorf("00901 is %+v", got)
	}
	if got := check("60614"); got.Supported || !strings.Contains(got.Reason, "not yet") || !slices.Contains(got.Programs, any("Only This")) {
		t.Errorf("60614 is %+v", got)
	}
	if home := e.operate("/v1/admin/homes/island/get", `{"organizationId":"acme"}`).ok(t); home["timezone"] != "America/Puerto_Rico" {
		t.Errorf("a home of the new area: %v", home)
	}
	for kind, id := range map[string]string{"utilities": "15497", "demand_response": "4110", "areas": "60614"} {
		list := e.operate("/v1/admin/"+kind+"/list", "").ok(t)["data"].([]any)
		if len(list) == 0 {
			t.Errorf("%s are not listed", kind)
		}
		e.operate("/v1/admin/"+kind+"/"+id+"/delete", "").ok(t)
		e.operate("/v1/admin/"+kind+"/"+id+"/delete", "").expect(t, 404, rest.CodeNotFound)
	}
	if got := check("60614"); !got.Supported || !slices.Equal(got.Programs, before.Programs) {
		t.Errorf("after the deletion 60614 is %+v, before %+v", got, before)
	}
}

func TestFacts_Invalid(t *testing.T) {
	e := newEnv(t, rest.Options{})
	for line, want := range map[string]string{
		`{"resource":"utility"}`:                                                       "eiaId name",
		`{"resource":"utility","eiaId":"1","name":"A"}`:                                "eiaId",
		`{"resource":"utility","eiaId":1,"name":"A","organizationId":"acme"}`:          "organizationId",
		`{"resource":"demandResponse","eiaId":0,"programs":[""]}`:                      "eiaId programs[0]",
		`{"resource":"area","area":"606"}`:                                             "supported",
		`{"resource":"area","area":"6.6","supported":true}`:                            "area",
		`{"resource":"area","area":"606","utilities":[1],"timezone":"Local","x":null}`: "timezone x",
	} {
		a := e.importLines(line).ok(t)
		var fields []string
		for _, f := range a["errors"].([]any)[0].(map[string]any)["fields"].([]any) {
			fields = append(fields, f.(map[string]any)["field"].(string))
		}
		if slices.Sort(fields); strings.Join(fields, " ") != want {
			t.Errorf("%s: fields %v, want %s", line, fields, want)
		}
	}
}

// TestCatalog_Plans checks that the catalog needs no import.
func TestCatalog_Plans(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.load(`{"resource":"organization","id":"acme","name":"A"}`)
	deps := e.deps
	deps.Registerer, deps.Tariffs = nil, map[int]bool{4110: true}
	e.public = e.serve(publicAPI(deps, rest.Options{}))
	if got := e.ask(e.key("acme"), "/v1/onboarding/eligibility/check", `{"zipcode":"60614"}`).ok(t); got["tariffData"] != true {
		t.Errorf("answered %v", got)
	}
	if len(deps.Tariffs) != 1 {
		t.Error("the caller's options changed")
	}
}

func TestHomes_PlaceFromZipcode(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.load(`{"resource":"organization","id":"acme","name":"A"}`)
	for fields, want := range map[string][2]string{
		`"zipcode":"60614"`: {"America/Chicago", "Chicago"},
		`"zipcode":"2138"`:  {"America/New_York", "Cambridge"},
		`"zipcode":"60614","timezone":"America/Denver","city":"Elsewhere"`: {"America/Denver", "Elsewhere"},
		`"zipcode":"606"`:                  {"America/Chicago", ""},
		`"zipcode":"00000"`:                {"", ""},
		`"city":"Nowhere"`:                 {"", "Nowhere"},
		`"zipcode":"60614","country":"DE"`: {"", ""},
	} {
		made := e.operate("/v1/admin/homes/create", `{"organizationId":"acme",`+fields+`}`).ok(t)
		e.load(`{"resource":"home","organizationId":"acme","id":"imported",` + fields + `}`)
		imported := e.operate("/v1/admin/homes/imported/get", `{"organizationId":"acme"}`).ok(t)
		for how, home := range map[string]map[string]any{"created": made, "imported": imported} {
			if home["timezone"] != want[0] || home["city"] != want[1] {
				t.Errorf("%s with %s: in %q, %q, want %q", how, fields, home["timezone"], home["city"], want)
			}
		}
	}
}
