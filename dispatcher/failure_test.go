package dispatcher

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// overwrite stores an invalid record, as a faulty or foreign writer may.
func (w *world) overwrite(ref storage.Ref, value string) {
	w.t.Helper()
	var current storage.Record
	err := w.store.View(func(v storage.View) (err error) {
		current, err = v.Get(ref)
		return err
	})
	if err == nil {
		_, err = w.log.Append(w.t.Context(), storage.Write{Ref: ref, Expect: current.Revision, First: current.First, At: time.Now(), Value: []byte(value)})
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// An undecodable home ends with one outcome that gives the reason. The other homes are
// delivered without delay.
func TestWalk_OneBrokenHomeHarmsNobody(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = 16 * events.SliceHomes
		w.homes(homes)
		w.endpoint("ep")
		w.overwrite(storage.KindHome.Ref("org", homeID(70)), `{"enabled":tru`)
		w.worker()
		began := time.Now()
		for _, d := range w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: homes - 1, events.OutcomeUnpriceable: 1}) {
			if broken := d.HomeID == homeID(70); broken != (d.Outcome == events.OutcomeUnpriceable) || broken && !strings.Contains(d.Reason, "cannot be decoded") {
				t.Errorf("delivery of %s is %+v", d.HomeID, d)
			}
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("walk took %s", took)
		}
		if len(w.bus.dead) != 0 || w.bus.redelivered != 0 {
			t.Errorf("%d dead letters, %d redeliveries", len(w.bus.dead), w.bus.redelivered)
		}
	})
}

// An undecodable rate plan affects only the homes on that plan.
func TestWalk_OneBrokenPlanHarmsItsHomesAlone(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(100)
		w.endpoint("ep")
		other := func(h *storage.Home) { h.RatePlanID = "broken" }
		w.plan("broken")
		for i := range 10 {
			w.changeHome(homeID(10*i), other)
		}
		w.overwrite(storage.KindRatePlan.Ref(storage.Shared, "broken"), `[]`)
		w.worker()
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 90, events.OutcomeUnpriceable: 10})
	})
}

// An undecodable endpoint fails only its own deliveries. The organization's other
// endpoints get every signal.
func TestWalk_OneBrokenEndpointHarmsNobody(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = events.SliceHomes + 3
		w.homes(homes)
		w.endpoint("bad")
		w.endpoint("good")
		w.overwrite(storage.KindWebhookEndpoint.Ref("org", "bad"), `{"url":1}`)
		w.worker()
		for _, d := range w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: homes, events.OutcomeFailed: homes}) {
			if (d.EndpointID == "bad") != (d.Outcome == events.OutcomeFailed) || d.EndpointID == "bad" && !strings.Contains(d.Reason, `the stored endpoint "bad" cannot be used`) {
				t.Fatalf("delivery of %s is %+v", d.HomeID, d)
			}
		}
	})
}

// A slice that fails by itself is retried a few times, with a delay. Then its homes
// fail, and the slice becomes a dead letter. The rest of its walk continues. A home that the
// trigger does not select, or a deleted one without a plan, has no outcome.
func TestSlice_DeadLetter(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes, failed = 3*events.SliceHomes + 1, events.SliceHomes - 2
		w.homes(homes)
		w.plan("other")
		w.changeHome(homeID(events.SliceHomes+5), func(h *storage.Home) { h.RatePlanID = "other" })
		w.overwrite(storage.KindHome.Ref("org", homeID(events.SliceHomes+6)), `{"enabled":tru`)
		w.endpoint("ep", func(e *storage.WebhookEndpoint) { e.DeliveryMode = storage.DeliverOnChange })
		w.bus.refuse = func(name, detail string) error {
			if name == "known" && strings.HasSuffix(detail, ".1") { // of the second slice
				return errors.New("bad")
			}
			return nil
		}
		n := w.worker()
		began := time.Now()
		trigger := w.triggerOf("org", 24, "plan")
		w.delete(storage.KindHome.Ref("org", homeID(events.SliceHomes+7)))
		for _, d := range w.wants(trigger, outcomes{events.OutcomeDelivered: homes - events.SliceHomes, events.OutcomeFailed: failed}) {
			if second := d.HomeID >= homeID(events.SliceHomes) && d.HomeID < homeID(2*events.SliceHomes); second != (d.Outcome == events.OutcomeFailed) || second && !strings.Contains(d.Reason, "5 times: bad") {
				t.Fatalf("delivery of %s is %+v", d.HomeID, d)
			}
		}
		if took := time.Since(began); took < 10*time.Second || took > time.Minute {
			t.Errorf("slice failed after %s", took)
		}
		if len(w.bus.dead) != 1 || w.bus.redelivered != 0 {
			t.Fatalf("dead letters are %+v, with %d redeliveries", w.bus.dead, w.bus.redelivered)
		}
		d := w.bus.dead[0]
		if d.ID != trigger.ID+"."+(&events.Slice{Number: 1}).Key() || d.Kind != "slice" || d.OrganizationID != "org" || d.TriggerID != trigger.ID ||
			d.Reason != "bad" || d.At.Before(began) || !strings.Contains(string(d.Body), `"number":1`) {
			t.Errorf("dead letter is %+v", d)
		}
		if m := n.metrics(t); m["gridhook_messages_failed_total"] != maxFailures || m["gridhook_dead_letters_total"] != 1 || m["gridhook_deliveries_total"] != homes-2 {
			t.Errorf("metrics are %v", m)
		}
	})
}

// A slice that is walked again does not take the stored position of its walk back. A
// worker that starts later knows only the stored position.
func TestSlice_PositionNeverFallsBack(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = 9 * events.SliceHomes
		w.homes(homes)
		w.endpoint("ep", onChange)
		var failures atomic.Int64
		w.bus.refuse = func(name, detail string) error {
			if name == "known" && strings.HasSuffix(detail, ".1") && failures.Add(1) == 1 {
				return errors.New("bad")
			}
			return nil
		}
		w.worker()
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: homes})
		if failures.Load() != 2 {
			t.Fatalf("slice 1 was walked %d times, want 2", failures.Load())
		}
		at := events.WalkPosition{Slice: -1}
		for _, p := range w.bus.positions {
			if p.Slice < at.Slice || at.Last {
				t.Errorf("position %+v replaces %+v", p, at)
			}
			at = p
		}
		if !at.Last {
			t.Errorf("stored position is %+v", at)
		}
	})
}

// A retry that fails by itself becomes a dead letter, and can be replayed.
func TestRetry_DeadLetter(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(3)
		w.endpoint("ep")
		w.partner.answers(failing(500, 3, ""))
		w.bus.spoil = func(r *events.Retry) {
			if r.Failures == 0 {
				r.Homes[0].Curve = 7
			}
		}
		n := w.worker()
		tr := w.trigger(24)
		list := w.wants(tr, outcomes{events.OutcomeFailed: 3})
		for _, d := range list {
			if !strings.Contains(d.Reason, "5 times: home") || d.Attempt != 1 {
				t.Fatalf("delivery of %s is %+v", d.HomeID, d)
			}
		}
		if len(w.bus.dead) != 1 || w.bus.dead[0].Kind != "retry" || w.bus.dead[0].TriggerID != tr.ID {
			t.Errorf("dead letters are %+v", w.bus.dead)
		}
		if failures := n.metrics(t)["gridhook_messages_failed_total"]; failures != maxFailures {
			t.Errorf("%g failures are counted, want %d", failures, maxFailures)
		}
		_, inputs, err := w.ledger.RetryInputs("org", tr.ID, list)
		if err != nil || len(inputs) != 1 || len(inputs[0].Homes) != 2 { // all but the spoiled one
			t.Errorf("inputs of a replay are %+v, %v", inputs, err)
		}
	})
}

// A retry that can never be stored is a failed delivery. No webhook is repeated.
func TestRecord_UnstorableRetry(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(5)
		w.endpoint("ep")
		w.partner.answers(failing(500, 2, ""))
		w.bus.refuse = func(name, _ string) error {
			if name == "put retries" {
				return errors.New("maximum payload exceeded")
			}
			return nil
		}
		w.worker()
		for _, d := range w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 3, events.OutcomeFailed: 2}) {
			if d.Outcome == events.OutcomeFailed && !strings.Contains(d.Reason, "the retry cannot be stored: maximum payload exceeded") {
				t.Errorf("delivery of %s is %+v", d.HomeID, d)
			}
		}
		if n := len(w.partner.got()); n != 5 {
			t.Errorf("%d webhooks arrived, want 5", n)
		}
	})
}
