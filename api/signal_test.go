package api_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// stageOfSignals creates an organization with a home on a plan of two prices.
func stageOfSignals(t *testing.T) (e *env, key string) {
	e = newEnv(t, rest.Options{})
	e.load(
		`{"resource":"organization","id":"acme","name":"Acme"}`,
		`{"resource":"ratePlan","id":"plan","tariff":{"name":"Flat","energyratestructure":[[{"rate":0.20,"sell":0.05}]]}}`,
		`{"resource":"ratePlan","id":"hourly","tariff":{"name":"Hourly","market":{"node":"COMED","market":"REAL_TIME"},"energyratestructure":[[{"rate":0}]]}}`,
		`{"resource":"home","organizationId":"acme","id":"h","ratePlanId":"plan","zipcode":"60614","carbonSignalIntensity":"HIGH"}`,
		`{"resource":"home","organizationId":"acme","id":"market","ratePlanId":"hourly","timezone":"America/Chicago"}`,
	)
	return e, e.key("acme")
}

// priced is the part of a signal that these tests read.
type priced struct {
	Import, Export, Prices []float64
	Metadata               struct{ Sequence uint64 }
	Explanation            []struct {
		Day, Period, Doubt string
		Import, Export     []struct {
			Kind, Name string
			Rate       float64
		}
		Price, ExportChance, Carbon, Confidence float64
	}
}

func (e *env) signal(key, home, body string) (p priced) {
	e.t.Helper()
	a := e.ask(key, "/v1/homes/"+home+"/price_signal", body)
	a.ok(e.t)
	must(e.t, json.Unmarshal(a.body, &p))
	return p
}

// counted returns the counts of an import's response.
func (e *env) counted(lines ...string) string {
	e.t.Helper()
	o := e.importLines(strings.Join(lines, "\n")).ok(e.t)
	return fmt.Sprint(o["created"], o["updated"], o["unchanged"], o["failed"])
}

// The response names the stored data of which the home cannot be priced.
func TestSignal_UnusableHome(t *testing.T) {
	e, key := stageOfSignals(t)
	storagetest.Put(t, e.store, &storage.Solar{HomeID: "h", Base: storage.Base{OrganizationID: "acme"}}) // without a size
	a := e.ask(key, "/v1/homes/h/price_signal", `{}`).expect(t, 500, rest.CodeInternal)
	if message, _ := a.object(t)["message"].(string); message != "The home cannot be priced: the home's solar cannot be used: correct its size, array or assumed use of energy." {
		t.Errorf("the message is %q", message)
	}
}

func TestSignal_Explanation(t *testing.T) {
	e, key := stageOfSignals(t)
	e.ask(key, "/v1/homes/solar/create", `{"homeId":"h","solarSystemSizeKw":8,"tilt":30,"azimuth":190,"losses":10}`).ok(t)
	got := e.signal(key, "h", `{"explain":true}`)
	if len(got.Explanation) != 96 || got.Explanation[0].Day != "weekday" || got.Explanation[0].Carbon == 0 {
		t.Fatalf("the explanation is %+v", got.Explanation)
	}
	for i, r := range got.Explanation {
		sum := 0.0
		for _, p := range append(r.Import, r.Export...) {
			sum += p.Rate
		}
		expected := r.ExportChance*got.Export[i] + (1-r.ExportChance)*got.Import[i] + r.Carbon
		if math.Abs(sum-got.Import[i]-got.Export[i]) > 1e-6 || math.Abs(expected-got.Prices[i]) > 2e-6 || r.Price != got.Prices[i] {
			t.Fatalf("interval %d has the explanation %+v; import %v, export %v, price %v", i, r, got.Import[i], got.Export[i], got.Prices[i])
		}
	}
	if plain := e.signal(key, "h", `{}`); plain.Explanation != nil {
		t.Error("the signal is explained without a request")
	}
	if got := e.ask(key, "/v1/homes/h/price_signal", `{"explain":true,"format":"openadr3"}`).fields(t); fmt.Sprint(got) != "[explain]" {
		t.Errorf("an explanation in OpenADR: wrong fields %v", got)
	}
}

func TestSignal_OpenADR(t *testing.T) {
	e, key := stageOfSignals(t)
	a := e.ask(key, "/v1/homes/h/price_signal", `{"format":"openadr3"}`)
	var events []wire.OpenADREvent
	must(t, json.Unmarshal(a.body, &events))
	if a.status != http.StatusOK || len(events) != 1 || events[0].ProgramID != "plan" || len(events[0].Intervals) != 96 || events[0].Intervals[0].Payloads[0].Values[0] != 0.2 {
		t.Errorf("%d %s", a.status, a.body)
	}
	endpoint := e.ask(key, "/v1/webhook/endpoints/create", `{"url":"https://acme.example/","format":"openadr3"}`).ok(t)
	if endpoint["format"] != "openadr3" {
		t.Errorf("the endpoint is %v", endpoint)
	}
	if got := e.ask(key, "/v1/webhook/endpoints/create", `{"url":"https://acme.example/"}`).ok(t)["format"]; got != "signal" {
		t.Errorf("an endpoint without a format has %v", got)
	}
	if got := e.ask(key, "/v1/webhook/endpoints/create", `{"url":"https://acme.example/","format":"xml"}`).fields(t); fmt.Sprint(got) != "[format]" {
		t.Errorf("xml: wrong fields %v", got)
	}
}

func TestPlans_Events(t *testing.T) {
	e, key := stageOfSignals(t)
	before := e.signal(key, "h", "{}")
	peak := `{"resource":"planEvent","planId":"plan","kind":"CRITICAL_PEAK","from":"2026-07-01T13:00:00Z","to":"2026-07-01T14:00:00Z","adder":0.6}`
	rebate := `{"resource":"planEvent","planId":"plan","id":"save","kind":"PEAK_REBATE","from":"2026-07-01T14:00:00.000123Z","to":"2026-07-01T15:00:00Z","adder":0.3}`
	for i, tt := range []struct {
		lines []string
		want  string // created, updated, unchanged and failed
	}{
		{[]string{peak, rebate, peak}, "2 0 1 0"},
		{[]string{peak, rebate}, "0 0 2 0"},
		{[]string{strings.Replace(rebate, "0.3", "0.4", 1)}, "0 1 0 0"},
		{[]string{strings.Replace(peak, `"plan"`, `"none"`, 1), strings.Replace(peak, `0.6`, `"much"`, 1)}, "0 0 0 2"},
	} {
		if got := e.counted(tt.lines...); got != tt.want {
			t.Errorf("import %d: %s, want %s", i, got, tt.want)
		}
	}
	got := e.signal(key, "h", "{}")
	if got.Import[3] != 0.2 || got.Import[4] != 0.8 || got.Import[8] != 0.6 || got.Import[12] != 0.2 || got.Metadata.Sequence <= before.Metadata.Sequence {
		t.Errorf("the prices are %v, sequence %d after %d", got.Import[:13], got.Metadata.Sequence, before.Metadata.Sequence)
	}
	made := e.operate("/v1/admin/plan_events/create", `{"planId":"plan","id":"save","kind":"CRITICAL_PEAK","name":"heat","from":"2026-07-01T14:00:00Z","to":"2026-07-01T15:00:00Z","price":1.5}`).ok(t)
	if made["id"] != "save" || e.signal(key, "h", "{}").Import[8] != 1.5 {
		t.Errorf("created %v, and the price is %v", made, e.signal(key, "h", "{}").Import[8])
	}
	if list := e.operate("/v1/admin/plan_events/list", `{"planId":"plan"}`).ok(t)["data"].([]any); len(list) != 2 {
		t.Errorf("the events are %v", list)
	}
	e.operate("/v1/admin/plan_events/save/delete", `{"planId":"plan"}`).ok(t)
	e.operate("/v1/admin/plan_events/save/delete", `{"planId":"plan"}`).expect(t, 404, rest.CodeNotFound)
	e.operate("/v1/admin/plan_events/create", `{"planId":"none","kind":"CRITICAL_PEAK","from":"2026-07-01T14:00:00Z","to":"2026-07-01T15:00:00Z","price":1.5}`).expect(t, 404, rest.CodeNotFound)
	if last := e.signal(key, "h", "{}"); last.Import[8] != 0.2 || last.Import[4] != 0.8 {
		t.Errorf("without the event, the prices are %v", last.Import[:13])
	}
	e.operate("/v1/admin/plans/plan/delete", `{}`).ok(t)
	e.load(`{"resource":"ratePlan","id":"plan","tariff":{"name":"New","energyratestructure":[[{"rate":0.25}]]}}`)
	if last := e.signal(key, "h", "{}"); last.Import[4] != 0.25 {
		t.Errorf("a new plan with the name of a deleted one has its events: %v", last.Import[:13])
	}
}

func TestImport_MarketPrices(t *testing.T) {
	e, key := stageOfSignals(t)
	refused := e.ask(key, "/v1/homes/market/price_signal", "{}").expect(t, 400, rest.CodeValidationFailed)
	if !strings.Contains(string(refused.body), "no market data") {
		t.Errorf("without prices: %s", refused.body)
	}
	line := func(start, prices string) string {
		return `{"resource":"marketSeries","node":"COMED","market":"REAL_TIME","timezone":"America/Chicago","stepMinutes":60,"startTime":"` + start + `","prices":[` + prices + `]}`
	}
	day := strings.TrimSuffix(strings.Repeat("0.03,", 24), ",")
	for i, tt := range []struct {
		lines []string
		want  string
	}{
		{[]string{line("2026-06-29T00:00:00Z", day), line("2026-06-30T00:00:00Z", day), line("2026-07-01T00:00:00Z", day)}, "3 0 0 0"},
		{[]string{line("2026-06-29T00:00:00Z", day), line("2026-07-01T12:00:00Z", "null,0.09")}, "0 1 1 0"},
		{[]string{line("2026-07-01T12:00:00Z", "0.09,51"), line("2026-07-01T12:00:00Z", "0.04")}, "0 1 0 1"},
		{[]string{line("2026-07-01T12:07:00Z", "0.09"), line("2036-07-01T12:00:00Z", "0.09"), strings.Replace(line("2026-07-01T12:00:00Z", "0.09"), "REAL_TIME", "SPOT", 1)}, "0 0 0 3"},
		{[]string{strings.Replace(line("2026-07-01T12:00:00Z", "0.09"), `":60`, `":15`, 1)}, "0 0 0 1"},
		{[]string{line("2026-07-01T12:00:00Z", "0.04"), strings.Replace(line("2026-07-01T12:00:00Z", "0.09"), "Chicago", "Denver", 1)}, "0 0 0 2"},
	} {
		if got := e.counted(tt.lines...); got != tt.want {
			t.Errorf("import %d: %s, want %s", i, got, tt.want)
		}
	}
	got := e.signal(key, "market", `{"explain":true}`)
	if got.Import[0] != 0.04 || got.Import[4] != 0.09 || got.Import[8] != 0.03 || got.Explanation[0].Confidence != 1 || got.Explanation[95].Confidence >= 0.8 || !strings.Contains(got.Explanation[95].Doubt, "forecast") {
		t.Errorf("the prices are %v; the last has the explanation %+v", got.Import, got.Explanation[95])
	}
	list := e.operate("/v1/admin/market_series/list", `{}`).ok(t)["data"].([]any)
	if len(list) != 1 || list[0].(map[string]any)["id"] != "REAL_TIME--COMED" || list[0].(map[string]any)["prices"] != 72.0 {
		t.Errorf("the series are %v", list)
	}
	e.operate("/v1/admin/market_series/REAL_TIME--COMED/delete", `{}`).ok(t)
	e.ask(key, "/v1/homes/market/price_signal", "{}").expect(t, 400, rest.CodeValidationFailed)
}

func TestHomes_DeleteRemovesUsage(t *testing.T) {
	e, key := stageOfSignals(t)
	lines := []string{
		`{"resource":"usage","organizationId":"acme","homeId":"h","assumedMonthlyKwh":900,"billingDay":12}`,
		`{"resource":"homeMarket","organizationId":"acme","homeId":"h","node":"HUB","market":"DAY_AHEAD"}`,
	}
	if got := e.counted(lines...); got != "2 0 0 0" {
		t.Errorf("imported: %s", got)
	}
	if got := e.counted(lines...); got != "0 0 2 0" {
		t.Errorf("imported again: %s", got)
	}
	if got := e.counted(strings.Replace(lines[0], `"h"`, `"none"`, 1), strings.Replace(lines[0], `900`, `-1`, 1)); got != "0 0 0 2" {
		t.Errorf("wrong lines: %s", got)
	}
	e.operate("/v1/admin/homes/h/delete", `{"organizationId":"acme"}`).ok(t)
	e.load(`{"resource":"home","organizationId":"acme","id":"h","ratePlanId":"plan","zipcode":"60614","energyMarketBiddingEnabled":true}`)
	e.signal(key, "h", "{}") // with the market of the line before, it would have no price
}

func TestCatalog_Signals(t *testing.T) {
	e, key := stageOfSignals(t)
	all, after := 0, ""
	for {
		page := e.operate("/v1/admin/plans/catalog/list", `{"limit":200,"after":"`+after+`"}`).ok(t)
		all += len(page["data"].([]any))
		if page["next"] == nil {
			break
		}
		after = page["next"].(string)
	}
	if all < 321 {
		t.Errorf("%d plans", all)
	}
	found := e.operate("/v1/admin/plans/catalog/list", `{"utility":"pacific gas","search":"ev2"}`).ok(t)["data"].([]any)
	if len(found) == 0 || found[0].(map[string]any)["id"] != "pge-ev2-a" {
		t.Fatalf("found %v", found)
	}
	if made := e.operate("/v1/admin/plans/import", `{"id":"ev","catalogId":"pge-ev2-a"}`).ok(t); made["id"] != "ev" || made["utility"] != found[0].(map[string]any)["utility"] {
		t.Errorf("made %v", made)
	}
	if got := e.counted(`{"resource":"ratePlan","catalogId":"pge-e-elec"}`, `{"resource":"home","organizationId":"acme","id":"first","ratePlanId":"pge-e-elec","zipcode":"94103"}`); got != "2 0 0 0" {
		t.Errorf("imported: %s", got)
	}
	if got := e.signal(key, "first", "{}"); got.Import[0] < 0.2 || got.Import[0] > 0.7 {
		t.Errorf("a kWh costs %v", got.Import[0])
	}
	for body, want := range map[string]string{
		`{"id":"x","catalogId":"none"}`:                        "[catalogId tariff]",
		`{"id":"x","catalogId":"pge-e-elec","tariff":{"a":1}}`: "[catalogId",
		`{"id":"x"}`: "[tariff]",
	} {
		if got := e.operate("/v1/admin/plans/import", body).fields(t); !strings.HasPrefix(fmt.Sprint(got), want) {
			t.Errorf("%s: wrong fields %v, want %s", body, got, want)
		}
	}
}
