package promise

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
)

// This is the night of a clock change in North America: a local day of 25 hours, 100
// intervals of 15 minutes.
const (
	clockChangeFrom = "2026-11-01T00:00:00-04:00"
	clockChangeTo   = "2026-11-02T00:00:00-05:00"
)

// Each webhook equals the operation's response for its home, over a clock change, with
// real tariffs.
func TestDelivery_EqualsOperation(t *testing.T) {
	t.Parallel()
	const homes = 300
	p := start(t, "serve", t.TempDir(), "--rate-limit", "10000", "--rate-burst", "10000", "--max-waiting", "0")
	acme := furnish(t, p, homes)
	r := newReceiver(t)
	r.keep = true
	acme.register(r, nil)
	acme.delivered(acme.trigger(clockChangeFrom, clockChangeTo), homes)
	if repeats := r.check(homes); repeats != 0 {
		t.Errorf("%d deliveries were repeated, want none", repeats)
	}
	got := r.arrivals()
	for i := range homes {
		home := acme.home(i)
		var event struct {
			Type string
			Data map[string]any
		}
		if err := json.Unmarshal(got[home][0].body, &event); err != nil {
			t.Fatal(err)
		}
		own := decode[map[string]any](t, string(acme.call("/v1/homes/"+home+"/price_signal",
			map[string]string{"startTime": clockChangeFrom, "endTime": clockChangeTo})))
		if n := len(own["data"].([]any)); n != 100 {
			t.Fatalf("the day of the clock change has %d intervals, want 100", n)
		}
		for _, name := range []string{"triggerId", "organizationId", "sequence"} {
			if event.Data[name] == nil {
				t.Fatalf("%s: the webhook has no %s", home, name)
			}
			delete(event.Data, name)
		}
		// Only the creation time may differ.
		delete(own["metadata"].(map[string]any), "generatedAt")
		delete(event.Data["metadata"].(map[string]any), "generatedAt")
		if event.Type != "price_signal.updated" || !reflect.DeepEqual(event.Data, own) {
			t.Fatalf("%s: the webhook\n%v\ndiffers from the operation\n%v", home, event.Data, own)
		}
	}
}

// Three kills during a walk lose nothing, and repeat at most the slices in flight. The slices
// of a large organization have more homes.
func TestDelivery_KilledThreeTimes(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]struct{ homes, slice int }{"slices of 64": {2500, 64}, "slices of 256": {10_000, 256}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killThreeTimes(t, size.homes, size.slice)
		})
	}
}

func killThreeTimes(t *testing.T, homes, slice int) {
	t.Helper()
	const (
		slices = 4 + 8 // in slots, and slow ones that gave theirs up
		kills  = 3
	)
	data := t.TempDir()
	p := start(t, "serve", data, "--slices", "4")
	acme := furnish(t, p, homes)
	r := newReceiver(t)
	acme.register(r, nil)
	r.holdAfter(homes / 8)
	trigger := acme.trigger(hour())
	for range kills {
		r.wait("the middle of the walk", func() bool { return r.hold == nil || r.total > r.holdFrom })
		p.kill()
		r.release()
		r.holdAfter(homes / 4)
		p = start(t, "serve", data, "--slices", "4")
	}
	r.release()
	acme.api = p.api
	acme.delivered(trigger, homes)
	repeats := r.check(homes)
	t.Logf("%d kills, %d homes: %d deliveries repeated, at most %d allowed", kills, homes, repeats, kills*slices*slice)
	if repeats > kills*slices*slice {
		t.Errorf("%d deliveries were repeated, more than %d slices in flight account for", repeats, kills*slices)
	}
}

// A home whose endpoint responds 500 twice is delivered at the third attempt, although
// the process restarts in between.
func TestDelivery_ThirdAttemptAfterRestart(t *testing.T) {
	t.Parallel()
	const homes = 200
	data := t.TempDir()
	p := start(t, "serve", data)
	acme := furnish(t, p, homes)
	r := newReceiver(t)
	r.answer = func(_, _ string, n int) int {
		if n <= 2 {
			return http.StatusInternalServerError
		}
		return http.StatusOK
	}
	acme.register(r, map[string]any{"initialSeconds": 2, "multiplier": 2, "maxSeconds": 8, "giveUpSeconds": 600})
	trigger := acme.trigger(hour())
	r.wait("the first attempt of every home", func() bool { return len(r.got) >= homes })
	p.stop()
	stopped := time.Now()
	p = start(t, "serve", data)
	acme.api = p.api
	acme.delivered(trigger, homes)
	r.check(homes)
	looked := 0
	for home, list := range r.arrivals() {
		if len(list) != 3 {
			t.Fatalf("%s had %d attempts, want 3", home, len(list))
		}
		if looked++; looked <= 50 { // each is a request, and requests are limited
			acme.pauses(list[0].id, stopped)
		}
	}
}

// pauses checks that the second attempt was due at most 2 seconds after the worker
// stopped that made the first, and that no attempt came before it was due. How soon a
// worker computes a due time after a response depends on the machine.
func (p *partner) pauses(messageID string, stopped time.Time) {
	p.t.Helper()
	log := decode[events.DeliveryLog](p.t, string(p.call("/v1/webhook/deliveries/"+messageID+"/get", map[string]any{})))
	tried := slices.DeleteFunc(log.Attempts, func(a events.Attempt) bool { return !a.Tried() })
	if len(tried) != 3 {
		p.t.Fatalf("%s has %d attempts, want 3: %+v", messageID, len(tried), log.Attempts)
	}
	if due := tried[0].NextAt; due.After(stopped.Add(2 * time.Second)) {
		p.t.Errorf("%s: the worker stopped at %s, and the second attempt was due at %s, want at most 2 s later", messageID, stopped, due)
	}
	for i, next := range tried[1:] {
		if next.At.Before(tried[i].NextAt.Time) {
			p.t.Errorf("%s: attempt %d came at %s, before it was due at %s", messageID, next.Number, next.At, tried[i].NextAt)
		}
	}
}

// After a graceful stop no delivery is repeated.
func TestDelivery_GracefulStop(t *testing.T) {
	t.Parallel()
	const homes = 3000
	data := t.TempDir()
	p := start(t, "serve", data)
	acme := furnish(t, p, homes)
	r := newReceiver(t)
	acme.register(r, nil)
	trigger := acme.trigger(hour())
	r.wait("the middle of the walk", func() bool { return r.total >= homes/4 })
	p.stop()
	p = start(t, "serve", data)
	acme.api = p.api
	acme.delivered(trigger, homes)
	if repeats := r.check(homes); repeats != 0 {
		t.Errorf("%d deliveries were repeated after a graceful stop, want none", repeats)
	}
}
