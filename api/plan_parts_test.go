package api_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/api/rest"
)

const composedPlan = `{"id":"cca-home","parts":[{"planId":"delivery","role":"DELIVERY"},{"planId":"mce","role":"GENERATION"},` +
	`{"planId":"pcia","role":"ADJUSTMENT"},{"planId":"care","role":"ADJUSTMENT","appliesTo":["delivery","mce"]}]}`

// composedHome is a home with the delivery of a utility, the generation of an aggregator,
// the PCIA and CARE's discount of 35 %.
func (e *env) composedHome() string {
	e.load(
		`{"resource":"organization","id":"acme","name":"A"}`,
		`{"resource":"ratePlan","id":"cca-home",`+strings.TrimPrefix(composedPlan, `{"id":"cca-home",`),
		`{"resource":"ratePlan","id":"delivery","tariff":{"name":"Delivery","energyratestructure":[[{"rate":0.2}]],"fixedchargefirstmeter":10}}`,
		`{"resource":"ratePlan","id":"mce","tariff":{"name":"MCE","energyratestructure":[[{"rate":0.1}],[{"rate":0.14}]],"energyweekdayschedule":`+afternoons+`,"energyweekendschedule":`+afternoons+`}}`,
		`{"resource":"ratePlan","id":"pcia","tariff":{"name":"PCIA 2019","energyratestructure":[[{"rate":0.012}]]}}`,
		`{"resource":"ratePlan","id":"care","tariff":{"name":"CARE","energyratestructure":[[{"rate":0}]],"riders":[{"name":"CARE","rate":-35,"unit":"%"}]}}`,
		`{"resource":"home","organizationId":"acme","id":"home1","ratePlanId":"cca-home","timezone":"America/Los_Angeles"}`,
	)
	return e.key("acme")
}

// afternoons has period 1 from noon on.
var afternoons = func() string {
	day := "[" + strings.Repeat("0,", 12) + strings.Repeat("1,", 11) + "1]"
	return "[" + strings.Repeat(day+",", 11) + day + "]"
}()

func TestComposedPlan_SignalAndExplanation(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key := e.composedHome()
	got := e.ask(key, "/v1/homes/home1/price_signal", `{"startTime":"2026-07-02T18:45:00Z","endTime":"2026-07-02T19:15:00Z","explain":true}`).ok(t)
	for i, want := range []float64{0.65*0.3 + 0.012, 0.65*0.34 + 0.012} {
		if price := got["import"].([]any)[i].(float64); math.Abs(price-want) > 1e-9 {
			t.Errorf("interval %d: %v, want %v", i, price, want)
		}
	}
	if source := got["metadata"].(map[string]any)["importSource"]; source != "Delivery + MCE + PCIA 2019 + CARE" {
		t.Errorf("the source is %v", source)
	}
	reason := got["explanation"].([]any)[1].(map[string]any)
	var sections []string
	for _, part := range reason["parts"].([]any) {
		p := part.(map[string]any)
		first := p["import"].([]any)[len(p["import"].([]any))-1].(map[string]any)
		sections = append(sections, fmt.Sprintf("%v %v %v: %v %.6g", p["kind"], p["name"], p["rate"], first["kind"], first["rate"]))
	}
	want := []string{"DELIVERY delivery 0.2: ENERGY 0.2", "GENERATION mce 0.14: ENERGY 0.14", "ADJUSTMENT pcia 0.012: ENERGY 0.012", "ADJUSTMENT care -0.119: TAX -0.119"}
	if !slices.Equal(sections, want) {
		t.Errorf("the sections are %q", sections)
	}
}

func TestComposedPlan_Bill(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key := e.composedHome()
	got := e.ask(key, billPath, `{"loadKwh":`+series(744, 1)+`,"stepMinutes":60,"start":"2026-07-01"}`).ok(t)
	const kwh = 744
	want := map[string]float64{"delivery": 10 + 0.2*kwh, "mce": 0.12 * kwh, "pcia": 0.012 * kwh, "care": -0.35 * 0.32 * kwh}
	total := 0.0
	for _, part := range got["parts"].([]any) {
		p := part.(map[string]any)
		if math.Abs(p["total"].(float64)-math.Round(100*want[p["planId"].(string)])/100) > 1e-9 {
			t.Errorf("part %v, want %v", p, want[p["planId"].(string)])
		}
		total += p["total"].(float64)
	}
	if math.Abs(total-got["total"].(float64)) > 1e-9 || len(got["parts"].([]any)) != 4 {
		t.Errorf("the total is %v, and the parts %v", got["total"], got["parts"])
	}
}

func TestComposedPlan_Lifecycle(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.composedHome()
	plan := e.operate("/v1/admin/plans/cca-home/get", `{}`).ok(t)
	if parts := plan["parts"].([]any); len(parts) != 4 || plan["tariff"] != nil || plan["name"] != "cca-home" {
		t.Errorf("the plan is %v", plan)
	}
	if again := e.importLines(`{"resource":"ratePlan","id":"cca-home",` + strings.TrimPrefix(composedPlan, `{"id":"cca-home",`)).ok(t); again["unchanged"] != 1.0 {
		t.Errorf("imported again: %v", again)
	}
	refused := e.operate("/v1/admin/plans/mce/delete", `{}`).expect(t, 409, rest.CodeConflict)
	if !strings.Contains(string(refused.body), `is a part of the plan \"cca-home\"`) {
		t.Errorf("refused with %s", string(refused.body))
	}
	event := `{"planId":"cca-home","kind":"CRITICAL_PEAK","from":"2026-07-02T14:00:00Z","to":"2026-07-02T15:00:00Z","adder":1}`
	if got := e.operate("/v1/admin/plan_events/create", event).expect(t, 400, rest.CodeValidationFailed).fields(t); !slices.Equal(got, []string{"planId"}) {
		t.Errorf("an event: wrong are %v", got)
	}
	e.operate("/v1/admin/plan_events/create", strings.Replace(event, "cca-home", "mce", 1)).ok(t)
	e.operate("/v1/admin/plans/cca-home/delete", `{}`).ok(t)
	e.operate("/v1/admin/plans/mce/delete", `{}`).ok(t)
}

// TestComposedPlan_PartsOfEachOther checks that an import does not make two plans parts of
// each other, and that the same import again has the same outcome.
func TestComposedPlan_PartsOfEachOther(t *testing.T) {
	e := newEnv(t, rest.Options{})
	for _, id := range []string{"a", "b", "c"} {
		e.load(`{"resource":"ratePlan","id":"` + id + `","tariff":{"name":"N","energyratestructure":[[{"rate":0.2}]]}}`)
	}
	const parts = `"parts":[{"planId":%q,"role":"DELIVERY"},{"planId":"c","role":"GENERATION"}]}`
	a, b := `{"resource":"ratePlan","id":"a",`+fmt.Sprintf(parts, "b"), `{"resource":"ratePlan","id":"b",`+fmt.Sprintf(parts, "a")
	for _, stored := range []string{"updated", "unchanged"} {
		if got := e.importLines(a + "\n" + b).ok(t); got[stored] != 1.0 || got["failed"] != 1.0 {
			t.Errorf("the import returned %v, want 1 %s and 1 failed", got, stored)
		}
	}
}

func TestComposedPlan_Invalid(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.composedHome()
	for body, want := range map[string][]string{
		`{"id":"p","parts":[]}`: {"tariff"},
		`{"id":"p","parts":[{"planId":"delivery","role":"DELIVERY"}]}`:                                                         {"parts"},
		`{"id":"p","parts":[{"planId":"delivery","role":"DELIVERY"},{"planId":"none","role":"GENERATION"}]}`:                   {"parts[1].planId"},
		`{"id":"p","parts":[{"planId":"delivery","role":"DELIVERY"},{"planId":"cca-home","role":"TAX"}]}`:                      {"parts[1].planId", "parts[1].role"},
		`{"id":"mce","parts":[{"planId":"delivery","role":"DELIVERY"},{"planId":"care","role":"ADJUSTMENT"}]}`:                 {"parts"},
		`{"id":"p","catalogId":"pge-e-elec",` + strings.TrimPrefix(composedPlan, `{"id":"cca-home",`):                          {"catalogId"},
		`{"id":"p","tariff":{"energyratestructure":[[{"rate":1}]]},"parts":` + composedPlan[len(`{"id":"cca-home","parts":`):]: {"parts"},
	} {
		got := e.operate("/v1/admin/plans/import", body).expect(t, 400, rest.CodeValidationFailed).fields(t)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: fields %v, want %v", body, got, want)
		}
	}
	line := `{"resource":"ratePlan","id":"p","parts":[{"planId":"delivery","role":"DELIVERY"},{"planId":"none","role":"GENERATION"}]}`
	if got := e.imported(line); got.Failed != 1 || got.Errors[0].Fields[0].Field != "parts[1].planId" {
		t.Errorf("imported a plan with a missing part: %+v", got)
	}
}
