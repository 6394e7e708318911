package main

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/events"
)

// A tail prints each attempt once, oldest first, including late ones.
func TestLogs_Tail(t *testing.T) {
	f := newFake(t)
	at := func(second, attempt, outcome string) string {
		return `{"id":"msg_1","triggerId":"trg_1","homeId":"h` + attempt + `","endpointId":"ep_1","outcome":"` + outcome + `","attempt":` + attempt + `,"at":"2026-07-01T00:00:` + second + `.000Z","status":204,"durationMs":12}`
	}
	f.on("/v1/webhook/deliveries/list", ok(data(at("09", "2", "DELIVERED"), at("08", "1", "RETRYING"))), ok(data(at("09", "2", "DELIVERED"), at("07", "3", "FAILED"),
		`{"id":"msg_2","triggerId":"trg_1","homeId":"h4","endpointId":"ep_1","outcome":"SUPERSEDED","attempt":2,"at":"2026-07-01T00:00:10.000Z","reason":"superseded"}`)))
	var out, errs strings.Builder
	g := &globals{out: &out, err: &errs, pollEvery: time.Microsecond}
	tl := tail{
		g: g, c: &client.Client{BaseURL: f.URL, Key: testKey}, r: deliveries(g), body: fields{},
		from: time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC), seen: map[seenDelivery]time.Time{},
	}
	for range 3 {
		if err := tl.look(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	want := "00:00:08.000 RETRYING h1 ep_1 msg_1 attempt 1, status 204, 12 ms\n00:00:09.000 DELIVERED h2 ep_1 msg_1 attempt 2, status 204, 12 ms\n00:00:07.000 FAILED h3 ep_1 msg_1 attempt 3, status 204, 12 ms\n" +
		"00:00:10.000 SUPERSEDED h4 ep_1 msg_2 superseded\n"
	if out.String() != want {
		t.Errorf("it prints\n%swant\n%s", out.String(), want)
	}
	if len(tl.seen) != 4 {
		t.Errorf("it remembers %d attempts", len(tl.seen))
	}
	late := seenDelivery{trigger: "trg_0", outcome: events.OutcomeFailed}
	tl.seen[late] = time.Date(2026, 6, 30, 0, 0, 0, 0, time.UTC)
	if err := tl.look(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, known := tl.seen[late]; known {
		t.Error("an old attempt is never forgotten")
	}
}

// TestLogs_TailAdvances checks that known deliveries advance the start of the next poll, and
// that a poll has no limit.
func TestLogs_TailAdvances(t *testing.T) {
	f := newFake(t)
	f.on("/v1/webhook/deliveries/list", ok(data(`{"triggerId":"trg_1","outcome":"FAILED","at":"2026-07-01T00:01:00.000Z"}`)))
	begin := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	tl := tail{
		g: &globals{out: io.Discard}, c: &client.Client{BaseURL: f.URL, Key: testKey}, r: deliveries(&globals{}), body: fields{}, from: begin,
		seen: map[seenDelivery]time.Time{{trigger: "trg_1", outcome: events.OutcomeFailed}: begin.Add(time.Minute)},
	}
	if err := tl.look(context.Background()); err != nil {
		t.Fatal(err)
	}
	if want := begin.Add(time.Minute - lateness); !tl.from.Equal(want) {
		t.Errorf("the next poll starts at %s, want %s", tl.from, want)
	}
	if most, bounded := tl.body["limit"].(int); bounded && most > 1000 {
		t.Errorf("the last request has the limit %d", most)
	}
}

// TestLogs_TailRestart checks that a tail outlasts a restart of the server, and that an error
// of its first poll ends it.
func TestLogs_TailRestart(t *testing.T) {
	down := answer{503, `{"error_code":"UNAVAILABLE","message":"Not now."}`}
	refused := answer{403, `{"error_code":"FORBIDDEN","message":"Revoked."}`}
	for name, test := range map[string]struct {
		polls []answer
		says  string
	}{
		"restart":       {[]answer{ok(data()), down, down, ok(data()), refused}, "gridhook: Revoked\n"},
		"down at first": {[]answer{down, refused}, "gridhook: Not now\n"},
	} {
		f := newFake(t)
		f.on("/v1/webhook/deliveries/list", test.polls...)
		if got := run(t, f, "", strings.Fields("logs tail --org acme")); got.code != exitFailure || got.err != test.says {
			t.Errorf("%s: exit %d, %s", name, got.code, got.err)
		}
	}
}

// TestLogs_TailSince checks that --since takes a time or a duration before now, as in other
// commands, and that an empty value means now.
func TestLogs_TailSince(t *testing.T) {
	for since, want := range map[string]time.Duration{"1h": time.Hour, "-1h": time.Hour, time.Now().Add(-2 * time.Hour).Format(time.RFC3339Nano): 2 * time.Hour, "": 0} {
		f := newFake(t)
		f.on("/v1/webhook/deliveries/list", answer{403, `{"error_code":"FORBIDDEN","message":"Revoked."}`})
		got := run(t, f, "", []string{"logs", "tail", "--org", "acme", "--since", since})
		if got.err != "gridhook: Revoked\n" {
			t.Fatalf("since %q: %s", since, got.err)
		}
		var body struct{ Since time.Time }
		if err := json.Unmarshal([]byte(f.last().body), &body); err != nil {
			t.Fatal(err)
		}
		if age := time.Since(body.Since); age < want || age > want+time.Minute {
			t.Errorf("since %q: the first poll starts %s ago, want %s", since, age, want)
		}
	}
}
