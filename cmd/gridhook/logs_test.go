package main

import (
	"context"
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
