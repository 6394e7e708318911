package api_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/rest"
)

// measuredLine is an import's line of a measured load, with the same power in every hour.
func measuredLine(org, home string, watts int, months ...string) string {
	var list []any
	for _, month := range months {
		start, _ := time.Parse("2006-01", month)
		kwh := start.AddDate(0, 1, 0).Sub(start).Hours() * float64(watts) / 1000
		list = append(list, map[string]any{"month": month, "kwh": math.Round(kwh*1000) / 1000, "watts": slices.Repeat([]int{watts}, 24)})
	}
	text, _ := json.Marshal(map[string]any{"resource": "measuredLoad", "organizationId": org, "homeId": home, "months": list})
	return string(text)
}

// months are the months of the year before the environment's clock.
func months() (all []string) {
	for month := time.Date(2025, 7, 1, 0, 0, 0, 0, time.UTC); len(all) < 12; month = month.AddDate(0, 1, 0) {
		all = append(all, month.Format("2006-01"))
	}
	return all
}

func TestMeasuredLoad_Import(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.billHome()
	line := measuredLine("acme", "home1", 500, months()...)
	for _, tt := range []struct{ line, want string }{
		{line, "1 0 0 0"},
		{line, "0 0 1 0"}, // again
		{measuredLine("acme", "home1", 500, "2025-08"), "0 0 1 0"},
		{measuredLine("acme", "home1", 900, "2025-08"), "0 1 0 0"}, // corrected
		{strings.Replace(measuredLine("acme", "home1", 100, "2025-08"), `"kwh"`, `"missingHours":5,"kwh"`, 1), "0 0 1 0"},
		{measuredLine("acme", "none", 500, "2025-08"), "0 0 0 1"},
		{measuredLine("acme", "home1", 500, "2040-01"), "0 0 0 1"},
		{measuredLine("acme", "home1", 500, "July"), "0 0 0 1"},
		{measuredLine("acme", "home1", 500, "2025-08", "2025-08"), "0 0 0 1"},
		{strings.Replace(line, "500,", "", 1), "0 0 0 1"}, // 23 hours
		{`{"resource":"measuredLoad","organizationId":"acme","homeId":"home1","months":[]}`, "0 0 0 1"},
	} {
		if got := e.counted(tt.line); got != tt.want {
			t.Errorf("%.150s: %s, want %s", tt.line, got, tt.want)
		}
	}
	two := measuredLine("acme", "bare", 500, "2026-01") + "\n" + measuredLine("acme", "bare", 500, "2026-02") // of one home
	if got := e.counted(two); got != "1 1 0 0" {
		t.Errorf("two lines of a home: %s", got)
	}
	if got := e.counted(measuredLine("acme", "bare", 500, "2026-01", "2026-02")); got != "0 0 1 0" {
		t.Errorf("both months again: %s", got)
	}
	e.operate("/v1/admin/homes/bare/delete", `{"organizationId":"acme"}`).ok(t)
	e.load(`{"resource":"home","organizationId":"acme","id":"bare","timezone":"America/Chicago"}`)
	var shown struct {
		MeasuredMonths []struct {
			Month string
			KWh   float64
			Watts []int
		}
	}
	a := e.operateFor("acme", "/v1/admin/homes/home1/get", `{"organizationId":"acme"}`)
	a.ok(t)
	must(t, json.Unmarshal(a.body, &shown))
	if m := shown.MeasuredMonths; len(m) != 12 || m[0].Month != "2025-07" || m[0].KWh != 372 || m[1].Watts[23] != 900 {
		t.Errorf("the home has %+v", m)
	}
	bare := e.operateFor("acme", "/v1/admin/homes/bare/get", `{"organizationId":"acme"}`)
	if bare.ok(t); strings.Contains(string(bare.body), "measured") {
		t.Errorf("a home without a measured load is %s", bare.body)
	}
}

// The bill of a typical year has the measured energy. A home that is deleted leaves no
// measured load for a new home of its name.
func TestMeasuredLoad_Bill(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key := e.billHome()
	e.load(measuredLine("acme", "home1", 500, months()...))
	got := e.ask(key, billPath, ``).ok(t)
	if want := 120 + 0.2*0.5*8760; math.Abs(got["total"].(float64)-want) > 0.01 || len(got["caveats"].([]any)) != 0 {
		t.Errorf("$ %v, want %v; %v", got["total"], want, got["caveats"])
	}
	if got := e.ask(key, billPath, `{"annualKwh":6000}`).ok(t); math.Abs(got["total"].(float64)-1320) > 0.5 {
		t.Errorf("a given energy of the year costs $ %v, want 1320", got["total"])
	}
	e.operate("/v1/admin/homes/home1/delete", `{"organizationId":"acme"}`).ok(t)
	e.load(`{"resource":"home","organizationId":"acme","id":"home1","ratePlanId":"plan1","timezone":"America/Chicago","zipcode":"60614"}`)
	if got := e.ask(key, billPath, ``).ok(t); math.Abs(got["total"].(float64)-(120+0.2*10791)) > 1 {
		t.Errorf("the new home pays $ %v, want the mean of US homes", got["total"])
	}
	e.load(measuredLine("acme", "home1", 500, "2026-01", "2026-02"))
	if got := e.ask(key, billPath, ``).ok(t); !strings.Contains(fmt.Sprint(got["caveats"]), "the load of 10 months is not measured") {
		t.Errorf("the caveats are %v", got["caveats"])
	}
}

func TestMeasuredLoad_Explanation(t *testing.T) {
	e, key := stageOfSignals(t)
	e.ask(key, "/v1/homes/solar/create", `{"homeId":"h","solarSystemSizeKw":8}`).ok(t)
	e.load(measuredLine("acme", "h", 500, months()...))
	a := e.ask(key, "/v1/homes/h/price_signal", `{"explain":true}`)
	if a.ok(t); !strings.Contains(string(a.body), `"measured":true`) {
		t.Error("no interval says that the load is measured")
	}
}
