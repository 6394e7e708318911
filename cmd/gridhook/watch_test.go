package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
)

func progress(status, outcomes string) answer {
	return ok(fmt.Sprintf(`{"triggerId":"trg_1","organizationId":"acme","status":%q,"homes":3,"outcomes":{%s}}`, status, outcomes))
}

func TestWatch(t *testing.T) {
	tests := []struct {
		name  string
		looks []answer
		code  int
		says  string
	}{
		{
			"all reached",
			[]answer{progress("ACCEPTED", ``), progress("RUNNING", `"DELIVERED":1,"RETRYING":2`), progress("COMPLETED", `"DELIVERED":1,"UNCHANGED":1,"SUPERSEDED":1`)},
			0, "",
		},
		{
			"some not",
			[]answer{progress("RUNNING", ``), progress("COMPLETED", `"DELIVERED":1,"UNPRICEABLE":2`)},
			exitFailure, "gridhook: not every home was reached: see gridhook delivery list --org acme --trigger trg_1 --outcome UNPRICEABLE (2 of them)\n",
		},
		{
			"nobody to ask any more",
			[]answer{progress("RUNNING", ``), {500, `{"error_code":"INTERNAL","message":"Something went wrong."}`}},
			exitFailure, "The trigger goes on: gridhook trigger get trg_1 --org acme\ngridhook: Something went wrong\n",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(t)
			f.on("/v1/webhook/price_signal/trigger", ok(`{"triggerId":"trg_1","organizationId":"acme","status":"ACCEPTED","homes":3}`))
			f.on("/v1/webhook/endpoints/list", ok(data(endpointJSON)))
			f.on("/v1/webhook/price_signal/trigger/trg_1/get", test.looks...)
			got := run(t, f, "", []string{"trigger", "--org", "acme", "--watch"})
			if got.code != test.code || got.err != test.says {
				t.Errorf("exit %d, want %d; it says\n%swant\n%s", got.code, test.code, got.err, test.says)
			}
			if n := len(f.requests); n != 2+len(test.looks) {
				t.Errorf("it asked %d times, want %d", n, 2+len(test.looks))
			}
			if completed := strings.Contains(got.out, "COMPLETED"); completed != strings.Contains(test.looks[len(test.looks)-1].body, "COMPLETED") {
				t.Errorf("it shows\n%s", got.out)
			}
		})
	}
}

// Without a terminal a watch tells in lines how far it is, and why deliveries are retried.
func TestWatch_TellsInLines(t *testing.T) {
	f := newFake(t)
	f.on("/v1/webhook/price_signal/trigger", ok(`{"triggerId":"trg_1","organizationId":"acme","status":"ACCEPTED","homes":3}`))
	f.on("/v1/webhook/endpoints/list", ok(data(endpointJSON)))
	f.on("/v1/webhook/price_signal/trigger/trg_1/get", progress("RUNNING", `"RETRYING":2`), progress("COMPLETED", `"DELIVERED":3`))
	refused := `{"homeId":"h1","outcome":"RETRYING","reason":"the endpoint responded 401"}`
	f.on("/v1/webhook/deliveries/list", ok(data(refused, refused, `{"homeId":"h2","outcome":"RETRYING","reason":"it timed out"}`)))
	got := runWith(t, f, "", []string{"trigger", "--org", "acme", "--watch"}, func(g *globals) { g.tellEvery = 0 })
	want := "0 of 3 homes walked: 0 delivered, 2 retrying: the endpoint responded 401; it timed out\n"
	if got.code != 0 || got.err != want {
		t.Errorf("exit %d; it says\n%swant\n%s", got.code, got.err, want)
	}
}

func TestWatch_Timeout(t *testing.T) {
	f := newFake(t)
	f.on("/v1/webhook/price_signal/trigger", ok(`{"triggerId":"trg_1","organizationId":"acme","status":"ACCEPTED","homes":3}`))
	f.on("/v1/webhook/endpoints/list", ok(data(endpointJSON)))
	f.on("/v1/webhook/price_signal/trigger/trg_1/get", progress("RUNNING", `"RETRYING":3`))
	got := run(t, f, "", []string{"trigger", "--org", "acme", "--watch", "--timeout", "50ms"})
	want := "The trigger goes on: gridhook trigger get trg_1 --org acme\ngridhook: not every home was reached within 50ms: 0 delivered, 3 retrying\n"
	if got.code != exitFailure || got.err != want {
		t.Errorf("exit %d; it says\n%swant\n%s", got.code, got.err, want)
	}
}

// Whoever triggers without an endpoint hears it at once.
func TestTrigger_WarnsWithoutEndpoint(t *testing.T) {
	for endpoints, want := range map[string]string{
		data(): "warning: there is no endpoint, so each home ends as NO_ENDPOINT: gridhook endpoint create --org acme --url URL registers one\n",
		data(strings.Replace(endpointJSON, `"enabled":true`, `"enabled":false`, 1)): "warning: no endpoint is enabled, so each home ends as NO_ENDPOINT: see gridhook endpoint list --org acme\n",
		data(endpointJSON): "",
	} {
		f := newFake(t)
		f.on("/v1/webhook/price_signal/trigger", ok(`{"triggerId":"trg_1","status":"ACCEPTED","homes":3}`))
		f.on("/v1/webhook/endpoints/list", ok(endpoints))
		if got := run(t, f, "", []string{"trigger", "--org", "acme"}); got.code != 0 || got.err != want {
			t.Errorf("exit %d; it says\n%swant\n%s", got.code, got.err, want)
		}
	}
}

func TestOutcomeLine(t *testing.T) {
	p := events.Progress{Outcomes: map[events.Outcome]int{
		events.OutcomeDelivered: 5, events.OutcomeRetrying: 2, events.OutcomeFailed: 1, events.OutcomeExpired: 1, events.OutcomeUnchanged: 9,
	}}
	if got, want := outcomeLine(p), "5 delivered, 2 not delivered, 2 retrying"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

func TestBarLine(t *testing.T) {
	tests := []struct {
		done, total int64
		want        string
	}{
		{0, 200, strings.Repeat("░", 30) + "   0% of 200 homes  x"},
		{100, 200, strings.Repeat("█", 15) + strings.Repeat("░", 15) + "  50% of 200 homes  x"},
		{300, 200, strings.Repeat("█", 30) + " 100% of 200 homes  x"},
		{7, 0, "7 homes  x"},
	}
	if got, want := barLine("", 50, 100, "x"), strings.Repeat("█", 15)+strings.Repeat("░", 15)+"  50%  x"; got != want {
		t.Errorf("a share of nothing in particular is %q, want %q", got, want)
	}
	for _, test := range tests {
		if got := barLine("homes", test.done, test.total, "x"); got != test.want {
			t.Errorf("%d of %d is %q, want %q", test.done, test.total, got, test.want)
		}
	}
}

func TestBarKeepsQuietWhereNobodyLooks(t *testing.T) {
	var w strings.Builder
	b := newBar(&w, "homes", 3)
	b.show(1, "x")
	b.end()
	if w.Len() > 0 {
		t.Errorf("it wrote %q", w.String())
	}
}

func TestBarClearsItsLine(t *testing.T) {
	var w strings.Builder
	b := &bar{w: &w, what: "homes"}
	b.show(1, "long words")
	b.show(2, "x")
	b.end()
	if got, want := w.String(), "\r1 homes  long words\r2 homes  x         \r          \r"; got != want {
		t.Errorf("it wrote %q, want %q", got, want)
	}
}

func TestPace(t *testing.T) {
	if got, want := (pace{time.Now().Add(-10 * time.Second)}).words(1000, "lines", 25, 100), ", 100 lines/s, 30s left"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	if got := (pace{time.Now()}).words(1000, "lines", 25, 100); got != "" {
		t.Errorf("at once it says %q", got)
	}
}

func TestBytesText(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 1536: "1.5 KiB", 5 << 20: "5.0 MiB", 3 << 40: "3.0 TiB"} {
		if got := bytesText(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

// Without a terminal long work tells in lines how far it is.
func TestImport_TellsInLines(t *testing.T) {
	f := newFake(t)
	f.on("/v1/admin/import", imported(1, 1, 0, ""))
	got := runWith(t, f, "{}\n", []string{"import", "-"}, func(g *globals) { g.tellEvery = 0 })
	if want := "1 lines: 1 created, 0 updated, 0 unchanged, 0 wrong\n"; got.code != 0 || got.err != want {
		t.Errorf("exit %d; it says %q, want %q", got.code, got.err, want)
	}
}
