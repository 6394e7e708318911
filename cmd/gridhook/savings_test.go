package main

import (
	"encoding/json"
	"strings"
	"testing"
)

const (
	savingsJSON = `{"homeId":"h1","type":"annual","currency":"USD","baselineCost":30,"optimizedCost":24,"savings":6,"savingsPercent":20,"baselineKwh":200,"optimizedKwh":201.5,
		"uncertainty":{"savingsLow":4,"savingsHigh":8,"basis":"b"},
		"months":[{"year":2026,"month":7,"baselineCost":20,"optimizedCost":15,"savings":5,"savingsPercent":25,"baselineKwh":100,"optimizedKwh":101},
			{"year":2026,"month":8,"baselineCost":10,"optimizedCost":9,"savings":1,"savingsPercent":10,"baselineKwh":100,"optimizedKwh":100.5}],
		"assumptions":{"weather":{"station":"Ohare","state":"IL","source":"TMY3","distanceKm":24},"prices":{"least":0.1,"mean":0.15,"greatest":0.4},"devices":[],"notes":[]},
		"devices":[{"deviceId":"d1","baselineCost":30,"optimizedCost":24,"savings":6,"savingsPercent":20,"baselineKwh":200,"optimizedKwh":201.5}]}`
	runJSON = `{"deviceId":"d1","lastOptimizationRunData":{"runAt":"2026-07-01T00:00:00.000Z","type":"annual","day":{"deviceId":"d1","date":"2026-07-04",
		"startTime":"2026-07-04T05:00:00.000Z","tempUnits":"F","price":[0.1,0.4],"outdoor":[80,81],"minTemp":[65,65],"maxTemp":[78,78],
		"baseline":{"temperature":[75,75],"kw":[1,1],"cost":0.5},"optimized":{"temperature":[74,77],"kw":[2,0],"cost":0.2}}}}`
)

func TestSavings(t *testing.T) {
	f := newFake(t)
	f.on("/v1/homes/h1/hvac/estimate_savings", ok(savingsJSON))
	got := run(t, f, "", []string{"savings", "h1", "--org", "acme", "--annual", "--month", "7", "--days", "62"})
	const want = `home     h1
before   $30.00  200.0 kWh
after    $24.00  201.5 kWh
saved    $6.00   20.0 %, between $4.00 and $8.00
weather  Ohare, IL, 24 km away, a typical year

MONTH    BEFORE  AFTER   SAVED  %
2026-07  $20.00  $15.00  $5.00  25.0
2026-08  $10.00  $9.00   $1.00  10.0

DEVICE  BEFORE  AFTER   SAVED  %
d1      $30.00  $24.00  $6.00  20.0
`
	if got.code != 0 || got.out != want {
		t.Errorf("exit %d, %s\n%s\nwant\n%s", got.code, got.err, got.out, want)
	}
	if sent := f.last(); sent.org != "acme" || sent.body != `{"days":62,"start":{"month":7},"type":"annual"}` {
		t.Errorf("sent %+v", sent)
	}
	got = run(t, f, "", []string{"savings", "h1", "--org", "acme", "--date", "2026-07-01", "--json", "--plot"})
	if sent := f.last(); sent.body != `{"start":{"date":"2026-07-01"},"type":"monthly"}` || !json.Valid([]byte(got.out)) {
		t.Errorf("sent %+v, and printed %s", sent, got.out)
	}
}

func TestSavings_Plot(t *testing.T) {
	f := newFake(t)
	f.on("/v1/homes/h1/hvac/estimate_savings", ok(savingsJSON))
	f.on("/v1/devices/hvac/d1/get", ok(runJSON), ok(`{"deviceId":"d1","lastOptimizationRunData":{"day":{"price":[1]}}}`), ok(`{"deviceId":"d1"}`))
	got := run(t, f, "", []string{"savings", "h1", "--org", "acme", "--plot"})
	for _, part := range []string{"saved", "2026-07-04  d1  $0.50 becomes $0.20", "78.0 F |", "$0.100 to $0.400 a kWh", "up to 2.0 kW"} {
		if !strings.Contains(got.out, part) {
			t.Errorf("exit %d %s: %q is not in\n%s", got.code, got.err, part, got.out)
		}
	}
	for range 2 { // an imported run has no day
		if got := run(t, f, "", []string{"savings", "h1", "--org", "acme", "--plot"}); got.code != 1 || !strings.Contains(got.err, "no stored day to plot") {
			t.Errorf("exit %d, %s", got.code, got.err)
		}
	}
}
