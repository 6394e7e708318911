package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/api/rest"
)

const savingsPath = "/v1/homes/home1/hvac/estimate_savings"

// savingsHome creates a home with two devices, one of them not linked, on a tariff with
// higher evening prices.
func (e *env) savingsHome() (acme, bolt string) {
	e.load(
		`{"resource":"organization","id":"acme","name":"A"}`, `{"resource":"organization","id":"bolt","name":"B"}`,
		`{"resource":"ratePlan","id":"plan1","tariff":`+eveningTariff+`}`,
		`{"resource":"home","organizationId":"acme","id":"home1","ratePlanId":"plan1","timezone":"America/Chicago","zipcode":"60614"}`,
		`{"resource":"hvacDevice","organizationId":"acme","deviceId":"dev1","homeId":"home1","coolingRate":6,"heatingRate":6,"heatTransferCoefficient":0.05,"irradianceCoefficient":1}`,
		`{"resource":"hvacDevice","organizationId":"acme","deviceId":"dev2","homeId":"home1","linked":false,"coolingRate":6,"heatTransferCoefficient":0.05}`,
	)
	return e.key("acme"), e.key("bolt")
}

// eveningTariff costs four times as much from 16:00 to 20:00.
var eveningTariff = func() string {
	day := "[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,0,0,0,0]"
	year := "[" + day
	for range 11 {
		year += "," + day
	}
	year += "]"
	return `{"energyratestructure":[[{"rate":0.1}],[{"rate":0.4}]],"energyweekdayschedule":` + year + `,"energyweekendschedule":` + year + `}`
}()

func TestSavings(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, bolt := e.savingsHome()
	got := e.ask(acme, savingsPath, `{"type":"monthly","start":{"month":7}}`).ok(t)
	if got["homeId"] != "home1" || got["type"] != "monthly" || got["currency"] != "USD" || got["savings"].(float64) <= 0 || got["optimizedCost"].(float64) >= got["baselineCost"].(float64) {
		t.Errorf("estimated %v", got)
	}
	months := got["months"].([]any)
	if len(months) != 1 || months[0].(map[string]any)["month"] != 7.0 || months[0].(map[string]any)["year"] != 2026.0 {
		t.Errorf("months %v", months)
	}
	if devices := got["devices"].([]any); len(devices) != 1 || devices[0].(map[string]any)["deviceId"] != "dev1" {
		t.Errorf("devices %v", devices)
	}
	year := e.ask(acme, savingsPath, `{"type":"annual","start":{"date":"2026-01-01"},"months":null}`).ok(t)
	if n := len(year["months"].([]any)); n != 12 {
		t.Errorf("a year has %d months", n)
	}
	e.ask(acme, savingsPath, `{"type":"annual","start":{"month":1},"months":[6,7],"days":366,"mode":"COOL","targetTemp":74,"minTemp":70,"maxTemp":78}`).ok(t)
	for _, body := range []string{`{"type":"monthly"}`, `{`, `{}`} {
		foreign := e.ask(bolt, savingsPath, body)
		absent := e.ask(bolt, "/v1/homes/nobody/hvac/estimate_savings", body)
		if anonymous(foreign) != anonymous(absent) {
			t.Errorf("foreign home: %s, unknown home: %s", foreign.body, absent.body)
		}
	}
}

func TestSavings_Input(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.savingsHome()
	for body, want := range map[string][]string{
		`{}`:                                       {"type"},
		`{"type":"weekly"}`:                        {"type"},
		`{"type":"monthly","start":{}}`:            nil,
		`{"type":"monthly","start":{"month":0}}`:   {"start.month"},
		`{"type":"monthly","start":{"month":13}}`:  {"start.month"},
		`{"type":"monthly","start":{"month":1.5}}`: {"start.month"},
		`{"type":"monthly","start":{"month":1,"date":"2026-01-01"}}`:                                   {"start"},
		`{"type":"monthly","start":{"date":"2026-02-30"}}`:                                             {"start.date"},
		`{"type":"monthly","start":{"date":"July"}}`:                                                   {"start.date"},
		`{"type":"monthly","start":7}`:                                                                 {"start"},
		`{"type":"monthly","days":0}`:                                                                  {"days"},
		`{"type":"monthly","days":1}`:                                                                  nil,
		`{"type":"monthly","days":367}`:                                                                {"days"},
		`{"type":"annual","months":[0,12,13]}`:                                                         {"months[0]", "months[2]"},
		`{"type":"monthly","start":{"month":7},"months":[8]}`:                                          {"months"},
		`{"type":"monthly","mode":"WARM"}`:                                                             {"mode"},
		`{"type":"monthly","targetTemp":200,"minTemp":-50,"maxTemp":"x"}`:                              {"maxTemp", "minTemp", "targetTemp"},
		`{"type":"monthly","targetTemp":"x","days":[],"months":{},"start":{"year":1}}`:                 {"days", "months", "start.year", "targetTemp"},
		`{"type":"monthly","targetHeatSetpoint":80,"minTemp":60,"maxTemp":82,"targetCoolSetpoint":70}`: {"targetCoolSetpoint"},
	} {
		a := e.ask(acme, savingsPath, body)
		if want == nil {
			a.ok(t)
			continue
		}
		got := a.expect(t, 400, rest.CodeValidationFailed).fields(t)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: fields %v, want %v", body, got, want)
		}
	}
}

func TestSavings_IncompleteHomes(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.savingsHome()
	e.load(
		`{"resource":"home","organizationId":"acme","id":"bare","ratePlanId":"plan1","timezone":"America/Chicago","zipcode":"60614"}`,
		`{"resource":"home","organizationId":"acme","id":"nowhere","ratePlanId":"plan1"}`,
		`{"resource":"home","organizationId":"acme","id":"planless","timezone":"America/Chicago","zipcode":"60614"}`,
		`{"resource":"hvacDevice","organizationId":"acme","deviceId":"d1","homeId":"nowhere","coolingRate":6,"heatTransferCoefficient":0.05}`,
		`{"resource":"hvacDevice","organizationId":"acme","deviceId":"d2","homeId":"planless","coolingRate":6,"heatTransferCoefficient":0.05}`,
		`{"resource":"home","organizationId":"acme","id":"unknown","ratePlanId":"plan1","timezone":"America/Chicago","zipcode":"60614"}`,
		`{"resource":"hvacDevice","organizationId":"acme","deviceId":"d3","homeId":"unknown"}`,
	)
	for home, want := range map[string]string{"bare": "devices", "nowhere": "zipcode", "planless": "ratePlanId", "unknown": "devices[0].heatTransferCoefficient"} {
		got := e.ask(acme, "/v1/homes/"+home+"/hvac/estimate_savings", `{"type":"monthly"}`).expect(t, 400, rest.CodeValidationFailed).fields(t)
		if !slices.Contains(got, want) {
			t.Errorf("%s: fields %v, want %s", home, got, want)
		}
	}
}

// TestSavings_StoresRunsOnDevice checks that a device shows its last estimate, and that
// an import of the device keeps it.
func TestSavings_StoresRunsOnDevice(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.savingsHome()
	device := func(id string) map[string]any { return e.ask(acme, "/v1/devices/hvac/"+id+"/get", "").ok(t) }
	if d := device("dev1"); d["lastSetPointSchedule"] != nil || d["lastOptimizationRunData"] != nil || d["thermodynamicValuesUpdatedAt"] != "2026-07-01T12:07:30.000Z" {
		t.Errorf("before: %v", d)
	}
	e.pass(time.Hour)
	estimated := e.ask(acme, savingsPath, `{"type":"monthly","start":{"month":7}}`).ok(t)
	after := device("dev1")
	run, _ := after["lastOptimizationRunData"].(map[string]any)
	if run["runAt"] != "2026-07-01T13:07:30.000Z" || run["type"] != "monthly" || run["savings"] != estimated["savings"] {
		t.Errorf("the stored run is %v, of %v", run, estimated["savings"])
	}
	day, _ := run["day"].(map[string]any)
	for _, series := range []string{"price", "outdoor", "minTemp", "maxTemp"} {
		if n := len(day[series].([]any)); n != 96 {
			t.Errorf("%s of the day has %d quarter hours", series, n)
		}
	}
	schedule, _ := after["lastSetPointSchedule"].(map[string]any)
	setpoints, _ := schedule["setpoints"].([]any)
	if schedule["tempUnits"] != "F" || schedule["date"] != day["date"] || len(setpoints) == 0 {
		t.Fatalf("the schedule is %v", schedule)
	}
	first, last := setpoints[0].(map[string]any), setpoints[len(setpoints)-1].(map[string]any)
	if first["startTime"] != day["startTime"] || last["endTime"].(string) <= first["startTime"].(string) {
		t.Errorf("the schedule goes from %v to %v", first, last)
	}
	if d := device("dev1"); d["thermodynamicValuesUpdatedAt"] != "2026-07-01T12:07:30.000Z" {
		t.Errorf("the values became of %v", d["thermodynamicValuesUpdatedAt"])
	}
	if e.ask(acme, "/v1/devices/hvac/dev2/get", "").ok(t)["lastOptimizationRunData"] != nil {
		t.Error("a device that is not linked has savings")
	}
	line := `{"resource":"hvacDevice","organizationId":"acme","deviceId":"dev1","homeId":"home1","coolingRate":6,"heatingRate":6,"heatTransferCoefficient":0.05,"irradianceCoefficient":1`
	if again := e.importLines(line + "}").ok(t); again["unchanged"] != 1.0 {
		t.Errorf("after the second import: %v", again)
	}
	e.importLines(line + `,"lastSetPointSchedule":null,"lastOptimizationRunData":{"mine":1}}`).ok(t)
	if d := device("dev1"); d["lastSetPointSchedule"] != nil || fmt.Sprint(d["lastOptimizationRunData"]) != "map[mine:1]" {
		t.Errorf("an import with other values left %v and %v", d["lastSetPointSchedule"], d["lastOptimizationRunData"])
	}
}

// A device's equipment decides the fuel. A setback is compared on request.
func TestSavings_EquipmentAndSetback(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.savingsHome()
	e.load(`{"resource":"hvacDevice","organizationId":"acme","deviceId":"dev1","homeId":"home1","coolingRate":6,"heatingRate":6,"heatTransferCoefficient":0.05,` +
		`"equipment":{"heatSource":"GAS_FURNACE","afue":0.95,"gasPrice":1.1,"internalGainsKw":0.65}}`)
	got := e.ask(acme, savingsPath, `{"type":"monthly","start":{"month":1},"comparison":"setback","mode":"HEAT"}`).ok(t)
	gas, _ := got["gas"].(map[string]any)
	if gas == nil || gas["optimizedTherms"].(float64) >= gas["baselineTherms"].(float64) || got["comparison"] != "setback" {
		t.Errorf("estimated %v", got)
	}
	if got := e.ask(acme, "/v1/devices/hvac/dev1/get", "").ok(t)["equipment"].(map[string]any); got["afue"] != 0.95 || got["internalGainsKw"] != 0.65 {
		t.Errorf("equipment %v", got)
	}
}

// An estimate whose client disconnects leaves the queue, and is no fault of the server.
func TestSavings_ClientDisconnects(t *testing.T) {
	e := newEnv(t, rest.Options{})
	acme, _ := e.savingsHome()
	d := e.deps
	d.Registerer, d.Estimates = nil, api.NewEstimates(1, nil)
	server := e.serve(publicAPI(d, rest.Options{}))
	done, err := d.Estimates.Hold(t.Context(), "other")
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+savingsPath, strings.NewReader(`{"type":"monthly"}`))
		if err == nil {
			r.Header = http.Header{rest.KeyHeader: {acme}, "Content-Type": {"application/json"}}
			_, err = http.DefaultClient.Do(r) //nolint:bodyclose // it has no response
		}
		ended <- err
	}()
	awaitEntrants(t, d.Estimates, 1)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the request ended with %v", err)
	}
	awaitEntrants(t, d.Estimates, 0)
	server.Close()
	if log := e.log.String(); !strings.Contains(log, `"status":408`) {
		t.Errorf("it counts as a fault of the server: %s", log)
	}
}

// awaitEntrants waits until acme has a number of queued and running estimates.
func awaitEntrants(t *testing.T, e *api.Estimates, want int64) {
	t.Helper()
	timeout := time.After(2 * time.Minute)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for e.Waiting("acme") != want {
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("acme has %d estimates, want %d", e.Waiting("acme"), want)
		}
	}
}
