package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
)

func progress(status, outcomes string) answer {
	return ok(fmt.Sprintf(`{"triggerId":"trg_1","organizationId":"acme","status":%q,"homes":3,"walked":3,"createdAt":"2026-07-01T00:00:00.000Z","outcomes":{%s}}`, status, outcomes))
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
			[]answer{progress("RUNNING", ``), progress("COMPLETED", `"DELIVERED":1,"FAILED":1,"UNPRICEABLE":2`)},
			exitFailure, "gridhook: not every home was reached: 2 UNPRICEABLE, see gridhook delivery list --org acme --trigger trg_1 --outcome UNPRICEABLE\n",
		},
		{
			"no endpoint selects any of the homes",
			[]answer{progress("COMPLETED", ``)},
			exitFailure, "gridhook: not every home was reached: no endpoint selects any of the homes: see gridhook endpoint list --org acme\n",
		},
		{
			"a restart of the server",
			append(slices.Repeat([]answer{{503, `{"error_code":"UNAVAILABLE","message":"Not now."}`}}, 5), progress("RUNNING", ``), progress("COMPLETED", `"DELIVERED":3`)),
			0, "",
		},
		{
			"refused",
			[]answer{{403, `{"error_code":"FORBIDDEN","message":"No."}`}},
			exitFailure, "The trigger continues: gridhook trigger get trg_1 --org acme\ngridhook: No\n",
		},
		{
			"nobody to ask any more",
			append([]answer{progress("RUNNING", ``)}, slices.Repeat([]answer{{500, `{"error_code":"INTERNAL","message":"Something went wrong."}`}}, pollTries)...),
			exitFailure, "The trigger continues: gridhook trigger get trg_1 --org acme\ngridhook: Something went wrong\n",
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
			if n := len(f.requests); n != 3+len(test.looks) {
				t.Errorf("%d requests, want %d", n, 3+len(test.looks))
			}
			if completed := strings.Contains(got.out, "COMPLETED"); completed != strings.Contains(test.looks[len(test.looks)-1].body, "COMPLETED") {
				t.Errorf("it shows\n%s", got.out)
			}
		})
	}
}

// Without a terminal a watch prints lines with the progress and why it takes long: the
// breakers that are not closed, the reasons of retries, or that no slice is finished.
func TestWatch_Lines(t *testing.T) {
	open := strings.Replace(endpointJSON, `{`, `{"breaker":{"state":"OPEN","since":"2026-07-01T00:00:00.000Z","nextProbeAt":"2026-07-01T00:01:00.000Z","workers":1},"health":{"lastFailure":"it timed out"},`, 1)
	const down = "endpoint ep_1: breaker OPEN since 2026-07-01T00:00:00Z, next probe 2026-07-01T00:01:00Z: it timed out"
	for name, test := range map[string]struct{ endpoint, status, outcomes, want string }{
		"retries":     {endpointJSON, "RUNNING", `"RETRYING":2`, "0 delivered, 2 retrying until 2026-07-02T00:00:00Z at the latest; the endpoint responded 401; it timed out\n"},
		"no worker":   {endpointJSON, "ACCEPTED", ``, "0 delivered; no worker has finished a slice\n"},
		"parked walk": {open, "ACCEPTED", ``, "0 delivered; " + down + "\n"},
		"both":        {open, "RUNNING", `"RETRYING":2`, "0 delivered, 2 retrying until 2026-07-02T00:00:00Z at the latest; " + down + "; the endpoint responded 401\n"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.on("/v1/webhook/price_signal/trigger", ok(`{"triggerId":"trg_1","organizationId":"acme","status":"ACCEPTED","homes":3}`))
			f.on("/v1/webhook/endpoints/list", ok(data(test.endpoint)))
			f.on("/v1/webhook/price_signal/trigger/trg_1/get", progress(test.status, test.outcomes), progress("COMPLETED", `"DELIVERED":3`))
			refused := `{"homeId":"h1","outcome":"RETRYING","reason":"the endpoint responded 401"}`
			f.on("/v1/webhook/deliveries/list", ok(data(refused, refused, `{"homeId":"h2","outcome":"RETRYING","reason":"it timed out"}`)))
			got := runWith(t, f, "", []string{"trigger", "--org", "acme", "--watch"}, func(g *globals) { g.progressEvery = 0 })
			if want := "3 of 3 homes walked; deliveries: " + test.want; got.code != 0 || got.err != want {
				t.Errorf("exit %d; it says\n%swant\n%s", got.code, got.err, want)
			}
		})
	}
}

func TestWatch_Timeout(t *testing.T) {
	f := newFake(t)
	f.on("/v1/webhook/price_signal/trigger", ok(`{"triggerId":"trg_1","organizationId":"acme","status":"ACCEPTED","homes":3}`))
	f.on("/v1/webhook/endpoints/list", ok(data(endpointJSON)))
	f.on("/v1/webhook/price_signal/trigger/trg_1/get", progress("RUNNING", `"RETRYING":3`))
	got := runWith(t, f, "", []string{"trigger", "--org", "acme", "--watch", "--timeout", "2s", "--json"}, func(g *globals) { g.pollEvery = 10 * time.Millisecond })
	want := "The trigger continues: gridhook trigger get trg_1 --org acme\ngridhook: not every home was reached within 2s: deliveries: 0 delivered, 3 retrying until 2026-07-02T00:00:00Z at the latest\n"
	if got.code != exitFailure || got.err != want || !strings.Contains(got.out, `"RETRYING": 3`) {
		t.Errorf("exit %d; it says\n%swant\n%s; it prints\n%s", got.code, got.err, want, got.out)
	}
}

// A trigger without an endpoint prints a warning at once.
func TestTrigger_WarnsWithoutEndpoint(t *testing.T) {
	for endpoints, want := range map[string]string{
		data(): "warning: no endpoint, so each home ends as NO_ENDPOINT: register one with gridhook endpoint create --org acme --url URL\n",
		data(strings.Replace(endpointJSON, `"enabled":true`, `"enabled":false`, 1)): "warning: no enabled endpoint, so each home ends as NO_ENDPOINT: see gridhook endpoint list --org acme\n",
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

// A trigger of a suspended organization prints a warning.
func TestTrigger_WarnsSuspended(t *testing.T) {
	f := newFake(t)
	f.on("/v1/admin/organizations/acme/get", ok(`{"id":"acme","suspended":true}`))
	f.on("/v1/webhook/price_signal/trigger", ok(`{"triggerId":"trg_1","status":"ACCEPTED","homes":3}`))
	want := "warning: acme is suspended, so each home ends as NO_ENDPOINT: gridhook org update acme --suspended=false resumes it\n"
	if got := run(t, f, "", []string{"trigger", "--org", "acme"}); got.code != 0 || got.err != want {
		t.Errorf("exit %d; it says\n%swant\n%s", got.code, got.err, want)
	}
}

// A trigger without homes prints a warning, such as for a misspelled plan.
func TestTrigger_WarnsWithoutHomes(t *testing.T) {
	for plan, want := range map[string]string{
		"nope": "warning: no home has the rate plan nope: see gridhook home list --org acme\n",
		"":     "warning: the organization has no homes: see gridhook import --help\n",
	} {
		f := newFake(t)
		args, plans := []string{"trigger", "--org", "acme"}, "[]"
		if plan != "" {
			args, plans = append(args, "--plan", plan), `["`+plan+`"]`
		}
		f.on("/v1/webhook/price_signal/trigger", ok(`{"triggerId":"trg_1","status":"ACCEPTED","homes":0,"ratePlanIds":`+plans+`}`))
		f.on("/v1/webhook/endpoints/list", ok(data(endpointJSON)))
		if got := run(t, f, "", args); got.code != 0 || got.err != want {
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

func TestProgressLine(t *testing.T) {
	for name, test := range map[string]struct {
		line progressLine
		want string
	}{
		"on a terminal":      {progressLine{terminal: true}, "\r  0%  x and y\r 50%  x      \r       \r"},
		"elsewhere":          {progressLine{}, "0%  x and y\n50%  x\n"},
		"elsewhere, no time": {progressLine{every: time.Hour, last: time.Now()}, ""},
	} {
		var w strings.Builder
		test.line.w = &w
		test.line.show("x and y", 0, 200)
		test.line.show("x", 100, 200)
		test.line.end()
		if w.String() != test.want {
			t.Errorf("%s: it shows %q, want %q", name, w.String(), test.want)
		}
	}
}

// A watched command prints only what has changed, and outlasts a server that does not
// respond. An error that a repetition cannot change ends it.
func TestWatchable(t *testing.T) {
	f := newFake(t)
	first, down := ok(data(endpointJSON)), answer{503, `{"error_code":"UNAVAILABLE","message":"The store is full."}`}
	f.on("/v1/webhook/endpoints/list", first, first, down, down, ok(data()), ok(data()), answer{403, `{"error_code":"FORBIDDEN","message":"Revoked."}`})
	got := run(t, f, "", []string{"endpoint", "list", "--org", "acme", "--watch"})
	if got.code != exitFailure || strings.Count(got.out, "ep_1") != 1 || strings.Count(got.out, "There are no endpoints.") != 1 || strings.Contains(got.out, "\x1b") {
		t.Errorf("exit %d, it prints\n%s", got.code, got.out)
	}
	if strings.Count(got.err, "The store is full") != 1 || strings.Count(got.err, "Revoked") != 1 {
		t.Errorf("its errors are\n%s", got.err)
	}
	f.on("/readyz", ok(`{"status":"ok"}`), answer{503, `{"reason":"starting"}`})
	f.on("/v1/webhook/price_signal/trigger/list", ok(data()))
	f.on("/v1/webhook/endpoints/list", ok(data()), ok(data()), answer{403, `{"error_code":"FORBIDDEN","message":"Revoked."}`})
	got = run(t, f, "", []string{"status", "--org", "acme", "--watch"})
	if !strings.Contains(got.out, "yes") || !strings.Contains(got.out, "no: starting") {
		t.Errorf("status prints\n%s%s", got.out, got.err)
	}
}
