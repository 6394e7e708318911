package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

const replayJSON = `{"id":"rpl_1","endpointId":"ep_1","since":"2026-07-01T00:00:00.000Z","outcomes":["FAILED"],"status":"COMPLETED","found":9,"retried":7,"superseded":1,"lost":1}`

func TestReplay(t *testing.T) {
	f := newFake(t)
	f.on("/v1/webhook/endpoints/ep_1/replay", ok(strings.Replace(replayJSON, "COMPLETED", "ACCEPTED", 1)))
	f.on("/v1/webhook/replays/rpl_1/get", ok(replayJSON))
	args := strings.Fields("endpoint replay ep_1 --org acme --since 2026-07-01T00:00:00Z --outcome failed,Expired")
	got := run(t, f, "", args)
	if r := f.last(); got.code != 0 || !strings.Contains(got.out, "status      ACCEPTED\n") || !sameJSON(t, r.body, `{"since":"2026-07-01T00:00:00.000Z","outcomes":["FAILED","EXPIRED"]}`) {
		t.Errorf("exit %d, %s; it sent %s and shows\n%s", got.code, got.err, r.body, got.out)
	}
	want := "replay      rpl_1\nendpoint    ep_1\nsince       2026-07-01T00:00:00Z\nstatus      COMPLETED\nfound       9\nqueued      7\nsuperseded  1\nlost        1\n"
	if got := run(t, f, "", append(args, "--watch")); got.code != 0 || got.out != want {
		t.Errorf("exit %d, %s; it shows\n%s\nwant\n%s", got.code, got.err, got.out, want)
	}
	f.on("/v1/webhook/replays/rpl_1/get", answer{503, `{"error_code":"UNAVAILABLE","message":"Not now."}`}, ok(replayJSON))
	if got := run(t, f, "", append(args, "--watch")); got.code != 0 || got.out != want {
		t.Errorf("after a restart of the server: exit %d, %s; it shows\n%s", got.code, got.err, got.out)
	}
	f.on("/v1/webhook/replays/rpl_1/get", answer{403, `{"error_code":"FORBIDDEN","message":"Revoked."}`})
	if got := run(t, f, "", append(args, "--watch")); got.code != exitFailure || !strings.HasPrefix(got.out, "replay      rpl_1\n") || got.err != "gridhook: Revoked\n" {
		t.Errorf("after an error: exit %d, %s; it shows\n%s", got.code, got.err, got.out)
	}
	for args, says := range map[string]string{
		"endpoint replay ep_1 --org acme":                   "--since must be given",
		"endpoint replay ep_1 --org acme --since yesterday": "--since must be a time",
	} {
		if got := run(t, nil, "", strings.Fields(args)); got.code != exitUsage || !strings.HasPrefix(got.err, "gridhook: "+says) {
			t.Errorf("%s: exit %d, %s", args, got.code, got.err)
		}
	}
}

// A duration of --since is before now, with and without its sign.
func TestReplay_Since(t *testing.T) {
	f := newFake(t)
	f.on("/v1/webhook/endpoints/ep_1/replay", ok(replayJSON))
	for _, since := range []string{"2h", "-2h"} {
		got := run(t, f, "", strings.Fields("endpoint replay ep_1 --org acme --since "+since))
		var sent struct{ Since time.Time }
		if err := json.Unmarshal([]byte(f.last().body), &sent); err != nil || got.code != 0 {
			t.Fatalf("exit %d, %s; %v", got.code, got.err, err)
		}
		if ago := time.Since(sent.Since).Round(time.Hour); ago != 2*time.Hour {
			t.Errorf("%s is %s ago", since, ago)
		}
	}
}

func TestReplays(t *testing.T) {
	f := newFake(t)
	f.on("/v1/webhook/replays/list", ok(data(replayJSON)))
	f.on("/v1/webhook/replays/rpl_1/get", ok(replayJSON))
	want := "ID     ENDPOINT  SINCE                 STATUS     FOUND  QUEUED  CREATED  COMPLETED\nrpl_1  ep_1      2026-07-01T00:00:00Z  COMPLETED  9      7       -        -\n"
	if got := run(t, f, "", strings.Fields("endpoint replays list --org acme")); got.code != 0 || got.out != want {
		t.Errorf("exit %d, %s; it lists\n%swant\n%s", got.code, got.err, got.out, want)
	}
	if got := run(t, f, "", strings.Fields("endpoint replays get rpl_1 --org acme")); got.code != 0 || !strings.HasPrefix(got.out, "replay      rpl_1\n") || f.last().org != "acme" {
		t.Errorf("exit %d, %s; it shows\n%s", got.code, got.err, got.out)
	}
}

func TestDeliveryRetry(t *testing.T) {
	f := newFake(t)
	f.on("/v1/webhook/deliveries/msg_1/retry", ok(`{"id":"msg_1","status":"ACCEPTED","createdAt":"2026-07-01T00:00:00.000Z"}`))
	got := run(t, f, "", strings.Fields("delivery retry msg_1 --org acme"))
	if want := "msg_1 is queued for a retry: see gridhook delivery get msg_1 --org acme\n"; got.code != 0 || got.out != want || f.last().org != "acme" {
		t.Errorf("exit %d, %s; it shows %q", got.code, got.err, got.out)
	}
}
