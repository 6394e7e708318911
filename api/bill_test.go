package api_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/pricing/bill"
	"github.com/gridhook/gridhook/pricing/bill/billtest"
)

const billPath = "/v1/homes/home1/bill"

// billHome pays 0.20 $/kWh and 10 $ a month, and gets 0.05 $/kWh for exports.
func (e *env) billHome() string {
	e.load(
		`{"resource":"organization","id":"acme","name":"A"}`,
		`{"resource":"ratePlan","id":"plan1","tariff":{"energyratestructure":[[{"rate":0.2,"sell":0.05}]],"fixedchargefirstmeter":10}}`,
		`{"resource":"ratePlan","id":"power","tariff":{"energyratestructure":[[{"rate":0.1}]],"flatdemandstructure":[[{"rate":5}]]}}`,
		`{"resource":"ratePlan","id":"hourly","tariff":{"market":{"node":"N","market":"REAL_TIME"},"energyratestructure":[[{"rate":0}]]}}`,
		`{"resource":"home","organizationId":"acme","id":"home1","ratePlanId":"plan1","timezone":"America/Chicago","zipcode":"60614"}`,
		`{"resource":"home","organizationId":"acme","id":"bare","timezone":"America/Chicago"}`,
		`{"resource":"marketSeries","node":"N","market":"REAL_TIME","timezone":"America/Chicago","stepMinutes":60,"startTime":"2026-07-01T05:00:00Z","prices":`+series(48, 0.03)+`}`,
		`{"resource":"usage","organizationId":"acme","homeId":"home1","assumedMonthlyKwh":1000}`,
	)
	return e.key("acme")
}

func series(steps int, kwh float64) string {
	text, _ := json.Marshal(slices.Repeat([]float64{kwh}, steps))
	return string(text)
}

func TestBill(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key := e.billHome()
	for name, tt := range map[string]struct {
		body   string
		total  float64
		months int
	}{
		"what is assumed of the home":      {``, 120 + 2400, 12},
		"a year's energy":                  {`{"annualKwh":6000}`, 120 + 1200, 12},
		"a metered month":                  {`{"loadKwh":` + series(744, 1) + `,"stepMinutes":60,"start":"2026-07-01"}`, 10 + 148.8, 1},
		"a meter that counts backwards":    {`{"loadKwh":` + series(744, -1) + `,"stepMinutes":60,"start":"2026-07-01"}`, 10 - 37.2, 1},
		"metered generation":               {`{"loadKwh":` + series(744, 1) + `,"generatedKwh":` + series(744, 0.5) + `,"stepMinutes":60,"start":"2026-07-01"}`, 10 + 74.4, 1},
		"another plan, with demand":        {`{"ratePlanId":"power","loadKwh":` + series(8760, 1) + `}`, 876 + 60, 12},
		"a tariff":                         {`{"tariff":{"energyratestructure":[[{"rate":0.5}]]},"annualKwh":1000}`, 500, 12},
		"prices of a market":               {`{"ratePlanId":"hourly","loadKwh":` + series(24, 100) + `,"stepMinutes":60,"start":"2026-07-01"}`, 72, 1},
		"a minimum":                        {`{"annualKwh":12,"minimumCharge":50}`, 600, 12},
		"net metering, settled at a price": {`{"loadKwh":` + series(744, -1) + `,"stepMinutes":60,"start":"2026-07-01","metering":"NET_METERING","surplusRate":0.03}`, 10 - 22.32, 1},
	} {
		got := e.ask(key, billPath, tt.body).ok(t)
		if months := got["months"].([]any); math.Abs(got["total"].(float64)-tt.total) > 0.0601 || len(months) != tt.months || got["currency"] != "USD" {
			t.Errorf("%s: $ %v in %d months, want %v in %d", name, got["total"], len(months), tt.total, tt.months)
		}
	}
	for body, want := range map[string]string{
		`{"ratePlanId":"hourly"}`:                               "ratePlanId",
		`{"loadKwh":[1,2,3]}`:                                   "stepMinutes",
		`{"loadKwh":[1],"stepMinutes":20}`:                      "stepMinutes",
		`{"loadKwh":[1],"generatedKwh":[1,1],"stepMinutes":60}`: "generatedKwh",
		`{"loadKwh":[],"stepMinutes":60}`:                       "loadKwh",
		`{"metering":"NET_BILLING","creditMonths":3}`:           "creditMonths",
		`{"tariff":{"realtimepricing":[0.1]}}`:                  "tariff.realtimepricing",
		`{"tariff":{"startdate":"2030-01-01","energyratestructure":[[{"rate":1}]]},"loadKwh":[1],"stepMinutes":60,"start":"2026-07-01"}`: "ratePlanId",
		`{"loadKwh":[1e308],"stepMinutes":60}`:                       "loadKwh[0]",
		`{"loadKwh":[1],"generatedKwh":[-1000001],"stepMinutes":60}`: "generatedKwh[0]",
		`{"start":"2026-07-01"}`:                                     "start",
		`{"metering":"BARTER"}`:                                      "metering",
		`{"metering":"NET_BILLING","carryOver":"KWH"}`:               "carryOver",
		`{"tariff":{"energyratestructure":[[{"rate":1000}]]}}`:       "tariff.energyratestructure[0][0].rate",
		`{"tariff":{},"ratePlanId":"plan1"}`:                         "ratePlanId",
	} {
		got := e.ask(key, billPath, body)
		if fields := got.fields(t); !slices.Contains(fields, want) || strings.Contains(string(got.body), "bill:") || strings.Contains(string(got.body), "pricing:") {
			t.Errorf("%s: wrong fields %v, want %s, without names of packages\n%s", body, fields, want, got.body)
		}
	}
	for path, want := range map[string]string{"/v1/homes/bare/bill": "ratePlanId"} {
		if fields := e.ask(key, path, `{}`).fields(t); !slices.Contains(fields, want) {
			t.Errorf("%s: wrong fields %v, want %s", path, fields, want)
		}
	}
	e.ask(key, "/v1/homes/nobody/bill", `{}`).expect(t, 404, rest.CodeNotFound)
	e.ask(key, billPath, `{"ratePlanId":"nobodys"}`).expect(t, 404, rest.CodeNotFound)
}

// A bill of a metered time has the events of the home's plan.
func TestBill_Events(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key := e.billHome()
	e.load(`{"resource":"planEvent","planId":"power","kind":"CRITICAL_PEAK","from":"2026-07-02T21:00:00Z","to":"2026-07-03T02:00:00Z","adder":0.6}`)
	body := `,"loadKwh":` + series(48, 1) + `,"stepMinutes":60,"start":"2026-07-01"}`
	for plan, want := range map[string]float64{"power": 4.8 + 3, "plan1": 9.6} {
		if got := e.ask(key, billPath, `{"ratePlanId":"`+plan+`"`+body).ok(t); math.Abs(got["energy"].(float64)-want) > 1e-6 {
			t.Errorf("%s: energy $ %v, want %v", plan, got["energy"], want)
		}
	}
}

// The market pays for the exports of a home that bids, as in its signal.
func TestBill_Bids(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key := e.billHome()
	e.load(
		`{"resource":"home","organizationId":"acme","id":"bids","ratePlanId":"plan1","timezone":"America/Chicago","zipcode":"60614","energyMarketBiddingEnabled":true}`,
		`{"resource":"homeMarket","organizationId":"acme","homeId":"bids","node":"N","market":"REAL_TIME"}`,
	)
	load := slices.Concat(slices.Repeat([]float64{1}, 24), slices.Repeat([]float64{-1}, 24))
	body, _ := json.Marshal(map[string]any{"loadKwh": load, "stepMinutes": 60, "start": "2026-07-01"})
	for home, want := range map[string]float64{"bids": 24 * 0.03, "home1": 24 * 0.05} {
		if got := e.ask(key, "/v1/homes/"+home+"/bill", string(body)).ok(t); math.Abs(got["credit"].(float64)-want) > 1e-6 {
			t.Errorf("%s: credit $ %v, want %v", home, got["credit"], want)
		}
	}
}

// The solar of a home generates as in a typical year, unless the request says otherwise.
func TestBill_SolarOfHome(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key := e.billHome()
	e.load(`{"resource":"solar","organizationId":"acme","homeId":"home1","solarSystemSizeKw":6}`)
	own := e.ask(key, billPath, `{}`).ok(t)
	double := e.ask(key, billPath, `{"solarSystemSizeKw":12}`).ok(t)
	none := e.ask(key, billPath, `{"solarSystemSizeKw":0}`).ok(t)
	if total := none["total"].(float64); math.Abs(total-2520) > 0.5 || none["metering"] != nil {
		t.Errorf("without solar $ %v", total)
	}
	if own["metering"] != "NET_BILLING" || own["sun"] == nil || own["credit"].(float64) < 500 || double["credit"].(float64) <= own["credit"].(float64) {
		t.Errorf("6 kW save $ %v by %v under %v, 12 kW %v", own["credit"], own["metering"], own["sun"], double["credit"])
	}
}

// A bill is settled by the regime of the home's solar, unless the request names another.
func TestBill_Regime(t *testing.T) {
	e := newEnv(t, rest.Options{})
	key := e.billHome()
	e.load(
		`{"resource":"ratePlan","id":"pge","tariff":{"eiaid":14328,"dgrules":"Net Metering","energyratestructure":[[{"rate":0.2,"sell":0.05}]]}}`,
		`{"resource":"home","organizationId":"acme","id":"sf","ratePlanId":"pge","timezone":"America/Los_Angeles","zipcode":"94103"}`,
	)
	for _, tt := range []struct{ solar, body, regime, metering string }{
		{`"applicationDate":"2020-05-01"`, `{}`, "NEM 2.0", "NET_METERING"},
		{`"applicationDate":"2024-05-01"`, `{}`, "Net Billing Tariff", "NET_BILLING"},
		{`"applicationDate":"2024-05-01"`, `{"metering":"FEED_IN"}`, "Net Billing Tariff", "FEED_IN"},
		{`"applicationDate":"2020-05-01","isNonNetMetered":true`, `{}`, "NEM 2.0", "NET_BILLING"},
		{`"connectionYear":2021`, `{}`, "NEM 2.0", "NET_METERING"},
		{`"connectionYear":2018`, `{}`, "NEM 1.0 or NEM 2.0", "NET_METERING"},
		{`"connectionYear":2024`, `{}`, "unknown", "NET_METERING"},
	} {
		e.load(`{"resource":"solar","organizationId":"acme","homeId":"sf","solarSystemSizeKw":5,` + tt.solar + `}`)
		got := e.ask(key, "/v1/homes/sf/bill", tt.body).ok(t)
		if name := got["regime"].(map[string]any)["name"]; name != tt.regime || got["metering"] != tt.metering {
			t.Errorf("%s %s: %v by %v, want %s by %s", tt.solar, tt.body, name, got["metering"], tt.regime, tt.metering)
		}
		if doubted := strings.Contains(fmt.Sprint(got["caveats"]), "only the first credits"); doubted != strings.Contains(tt.regime, " or ") {
			t.Errorf("%s: the caveats are %v", tt.solar, got["caveats"])
		}
	}
	e.load(`{"resource":"solar","organizationId":"acme","homeId":"sf","solarSystemSizeKw":5,"applicationDate":"2024-05-01"}`)
	e.load(`{"resource":"ratePlan","id":"unpaid","tariff":{"eiaid":44372,"energyratestructure":[[{"rate":0.1}]]}}`)
	got := e.ask(key, "/v1/homes/sf/bill", `{"ratePlanId":"unpaid","annualKwh":5000}`).ok(t)
	if caveats := got["caveats"].([]any); len(caveats) != 1 || !strings.Contains(caveats[0].(string), "exports earn nothing") {
		t.Errorf("the caveats of a plan without an export price are %v", caveats)
	}
	paid := e.ask(key, "/v1/homes/sf/bill", `{"ratePlanId":"power","annualKwh":5000}`).ok(t)
	if caveats := paid["caveats"].([]any); len(caveats) != 0 || paid["credit"].(float64) < got["credit"].(float64)+100 {
		t.Errorf("the utility pays $ %v, nobody $ %v, with the caveats %v", paid["credit"], got["credit"], caveats)
	}
	e.load(`{"resource":"ratePlan","id":"nbt","tariff":{"eiaid":14328,"exportvalues":"PG&E NBT26","energyratestructure":[[{"rate":0.2}]]}}`)
	for applied, want := range map[string]string{"2024-05-01": "[]", "2027-05-01": "[the export values PG&E NBT27 of the home's vintage are not available: PG&E NBT26 is used]"} {
		e.load(`{"resource":"solar","organizationId":"acme","homeId":"sf","solarSystemSizeKw":5,"applicationDate":"` + applied + `"}`)
		if got := e.ask(key, "/v1/homes/sf/bill", `{"ratePlanId":"nbt","annualKwh":5000}`).ok(t); fmt.Sprint(got["caveats"]) != want {
			t.Errorf("applied %s: the caveats are %v, want %s", applied, got["caveats"], want)
		}
	}
	for zipcode, want := range map[string]string{"94103": "Net Billing Tariff", "75201": "unknown", "00000": "unknown"} {
		got := e.ask(key, "/v1/onboarding/eligibility/check", `{"zipcode":"`+zipcode+`"}`).ok(t)
		if name := got["netMetering"].(map[string]any)["name"]; name != want {
			t.Errorf("%s: the regime is %v, want %s", zipcode, name, want)
		}
	}
}

// The operation reproduces every published bill of OpenStudio-HPXML to the dollar.
func TestBill_OpenStudioHPXML(t *testing.T) {
	e := newEnv(t, rest.Options{Rate: 1e6, Burst: 1e6})
	key := e.billHome()
	for _, c := range billtest.HPXML(t) {
		var tariff any // the decoder refuses the duplicate key of a rate
		must(t, json.Unmarshal(c.Rate, &tariff))
		body := map[string]any{
			"tariff": tariff, "loadKwh": c.Load, "calendarYear": 2007, "tierRule": "PRORATED",
			"metering": strings.ToUpper(strings.TrimSuffix(c.Metering, "_tariff")), "feedInRate": c.FeedIn,
			"surplusRate": c.SellRate, "surplusRetail": c.Sellback == "retail", "gridFee": c.Fee + c.FeePerKW*c.PVKW,
		}
		if c.PVColumn != "" {
			body["generatedKwh"] = c.Generated
		}
		text, err := json.Marshal(body)
		must(t, err)
		b := e.ask(key, billPath, string(text)).ok(t)
		for what, want := range map[string]float64{"fixed": c.Expected.Fixed, "energy": c.Expected.Energy, "credit": -c.Expected.Credit} {
			if got := b[what].(float64); !(math.Abs(got-want) <= c.Tolerance) {
				t.Errorf("%s: %s: $ %.2f, want %.2f", c.Name, what, got, want)
			}
		}
	}
}

// The operation reproduces every bill of SAM to the dollar.
func TestBill_SAM(t *testing.T) {
	e := newEnv(t, rest.Options{Rate: 1e6, Burst: 1e6})
	key := e.billHome()
	for _, c := range billtest.SAM(t) {
		text, err := json.Marshal(struct {
			bill.Request
			Tariff json.RawMessage `json:"tariff"`
		}{c.Request, c.Tariff})
		must(t, err)
		b := e.ask(key, billPath, string(text)).ok(t)
		if got := b["total"].(float64); math.Abs(got-c.Want) > 1 {
			t.Errorf("%s: $ %.2f, want %.2f", c.Name, got, c.Want)
		}
	}
}

// TestBill_Payer checks that the bills of a channel partner share the partner's queue.
func TestBill_Payer(t *testing.T) {
	e := newEnv(t, rest.Options{})
	e.billHome()
	e.load(`{"resource":"organization","id":"channel","name":"C","childOrganizationIds":["acme"]}`)
	d := e.deps
	d.Registerer, d.Estimates = nil, api.NewEstimates(1, nil)
	url := e.serve(publicAPI(d, rest.Options{})).URL + billPath
	d.Estimates.FillQueue("channel")
	header := http.Header{rest.KeyHeader: {e.key("channel")}, rest.OrganizationHeader: {"acme"}}
	e.send(request{url: url, header: header}).expect(t, 429, rest.CodeRateLimited)
	e.send(request{url: url, header: http.Header{rest.KeyHeader: {e.key("acme")}}}).ok(t)
}
