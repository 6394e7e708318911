package main

import (
	"strings"
	"testing"
)

const explainedJSON = `{"homeId":"h1","startTime":"2026-07-01T00:00:00.000Z","endTime":"2026-07-01T00:45:00.000Z","data":[
	{"startTime":"2026-07-01T00:00:00.000Z","endTime":"2026-07-01T00:15:00.000Z","price":0.2,"import":0.2,"export":0.05,"confidence":1},
	{"startTime":"2026-07-01T00:15:00.000Z","endTime":"2026-07-01T00:30:00.000Z","price":0.2,"import":0.2,"export":0.05,"confidence":1},
	{"startTime":"2026-07-01T00:30:00.000Z","endTime":"2026-07-01T00:45:00.000Z","price":0.4,"import":0.4,"export":0.05,"confidence":1}],
	"prices":[0.2,0.2,0.4],"export":[0.05,0.05,0.05],"import":[0.2,0.2,0.4],
	"explanation":[
	{"startTime":"2026-07-01T00:00:00.000Z","day":"weekday","period":"off-peak","tier":"1 of 2, at 10 kWh of the month","import":[{"kind":"ENERGY","name":"off-peak","rate":0.2}],"export":[{"kind":"SELL","name":"off-peak","rate":0.05}],"price":0.2,"confidence":1},
	{"startTime":"2026-07-01T00:15:00.000Z","day":"weekday","period":"off-peak","tier":"1 of 2, at 11 kWh of the month","import":[{"kind":"ENERGY","name":"off-peak","rate":0.2}],"export":[{"kind":"SELL","name":"off-peak","rate":0.05}],"price":0.2,"confidence":1},
	{"startTime":"2026-07-01T00:30:00.000Z","day":"weekday","period":"peak","import":[{"kind":"ENERGY","name":"peak","rate":0.3},{"kind":"EVENT","name":"heat","rate":0.1}],"export":[{"kind":"SELL","name":"peak","rate":0.05}],"price":0.4,"confidence":1}],
	"metadata":{"exportCompensation":{"type":"NET_BILLING","description":"Paid by the hour."},"importSource":"Co: Flat","sequence":7}}`

func TestSignal_Explain(t *testing.T) {
	f := newFake(t)
	f.on("/v1/homes/h1/get", ok(homeJSON))
	f.on("/v1/homes/h1/price_signal", ok(explainedJSON))
	got := run(t, f, "", []string{"signal", "h1", "--org", "acme", "--explain"})
	want := "FROM                  TO                    PRICE $/kWh  IMPORT   EXPORT   WHY\n" +
		"2026-07-01T00:00:00Z  2026-07-01T00:30:00Z  0.20000      0.20000  0.05000  weekday: off-peak, tier 1 of 2, at 10 kWh of the month 0.2; export: sell off-peak 0.05\n" +
		"2026-07-01T00:30:00Z  2026-07-01T00:45:00Z  0.40000      0.40000  0.05000  weekday: peak 0.3, event heat 0.1; export: sell peak 0.05\n\n" +
		"import: Co: Flat\nexport: NET_BILLING, Paid by the hour.\n"
	if got.code != 0 || got.out != want || !sameJSON(t, f.last().body, `{"explain":true}`) {
		t.Errorf("exit %d, request %s, output\n%s%s", got.code, f.last().body, got.out, got.err)
	}
	if got := run(t, f, "", []string{"signal", "h1", "--org", "acme", "--explain", "--plot"}); !strings.Contains(got.out, "┤") || !strings.Contains(got.out, "event heat") {
		t.Errorf("with a plot it shows\n%s", got.out)
	}
}

func TestSignal_OpenADR(t *testing.T) {
	f := newFake(t)
	f.on("/v1/homes/h1/price_signal", ok(`[{"objectType":"EVENT"}]`))
	got := run(t, f, "", []string{"signal", "h1", "--org", "acme", "--openadr"})
	if got.code != 0 || !sameJSON(t, got.out, `[{"objectType":"EVENT"}]`) || !sameJSON(t, f.last().body, `{"format":"openadr3"}`) {
		t.Errorf("exit %d, request %s, output\n%s%s", got.code, f.last().body, got.out, got.err)
	}
}
