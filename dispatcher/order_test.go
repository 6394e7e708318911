package dispatcher

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/dispatcher/walks"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// seenAfter is the time until a worker sees an accepted trigger.
const seenAfter = 2*walks.Lead + 10*time.Millisecond

// apart is the difference between the two workers' clocks.
const apart = 5 * time.Minute

func drawRace(rt *rapid.T) script {
	s := script{Homes: rapid.IntRange(1, 2*events.SliceHomes+2).Draw(rt, "homes"), Endpoints: rapid.IntRange(1, 2).Draw(rt, "endpoints")}
	what := rapid.SampledFrom([]string{"trigger", "trigger", "trigger", "fail", "half", "slow", "refuse", "heal", "kill", "die", "lose"})
	after := rapid.SampledFrom([]time.Duration{0, time.Millisecond, 20 * time.Millisecond, 120 * time.Millisecond, 3 * time.Second, 11 * time.Second})
	for range rapid.IntRange(1, 14).Draw(rt, "steps") {
		st := step{After: after.Draw(rt, "after"), What: what.Draw(rt, "what"), N: rapid.IntRange(0, 7).Draw(rt, "n")}
		if st.What == "die" {
			st.Point = rapid.SampledFrom(deathPoints).Draw(rt, "point")
		}
		s.Steps = append(s.Steps, st)
	}
	return s
}

// Two workers have clocks five minutes apart. They race, die and restart, and the
// partner fails. No attempt of an older signal begins later than seenAfter after a newer
// trigger for the home. The newest signal reaches every home.
func TestSupersede_NoOlderSignalAfterNewer(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		playing(t, rt, drawRace(rt), (*chaos).race)
	})
}

// A worker dies after it has put the slices of a walk. Others deliver them, and they supersede
// older signals. The order of goroutines decides whether it matters, so the script runs often.
func TestSupersede_DeathAfterPuttingSlices(t *testing.T) {
	s := script{Homes: 102, Endpoints: 1, Steps: []step{
		{After: 3 * time.Second, What: "trigger"}, {After: 120 * time.Millisecond, What: "die", N: 3, Point: "after put slice"},
		{What: "trigger"}, {What: "slow"}, {What: "lose"}, {What: "trigger"}, {After: 11 * time.Second, What: "half"},
		{After: 20 * time.Millisecond, What: "trigger"}, {After: 3 * time.Second, What: "fail"},
	}}
	for range 20 {
		playing(t, t, s, (*chaos).race)
	}
}

// race runs a script with two workers whose clocks differ.
func (c *chaos) race() {
	c.apart = apart
	c.homes(c.script.Homes)
	for i := range c.script.Endpoints {
		c.endpoint(fmt.Sprint("ep", i), only(storage.EventPriceSignalUpdated), func(e *storage.WebhookEndpoint) {
			e.TimeoutSeconds = 1
			e.RetryPolicy = storage.RetryPolicy{InitialSeconds: 1, Multiplier: 2, MaxSeconds: 8, GiveUpSeconds: 7200}
		})
	}
	var n atomic.Int64
	c.partner.answers(func(req *http.Request, a arrival) int {
		c.mu.Lock()
		half := c.mode == "half"
		c.mu.Unlock()
		if half && n.Add(1)%2 == 0 {
			return http.StatusBadGateway
		}
		return c.answer(req, a)
	})
	stop := c.perform()
	c.bus.await(c.bus.idleLocked)
	stop()
	c.checkOrder()
}

// checkOrder compares each accepted signal with the earlier ones.
func (c *chaos) checkOrder() {
	newest := c.triggers[len(c.triggers)-1].Sequence
	places := map[string][]arrival{}
	for _, a := range c.partner.got() {
		if a.status == http.StatusOK && a.kind == storage.EventPriceSignalUpdated {
			place := a.home + " at " + a.host
			places[place] = append(places[place], a)
		}
	}
	if want := c.script.Homes * c.script.Endpoints; len(places) != want {
		c.t.Errorf("%d pairs of home and endpoint have a signal, want %d", len(places), want)
	}
	for place, list := range places {
		best := uint64(0)
		for _, a := range list {
			best = max(best, a.sequence)
			for _, b := range list {
				if b.sequence > a.sequence && a.at.Sub(b.answered) > seenAfter {
					c.t.Errorf("%s got signal %d again, %s after it accepted %d", place, a.sequence, a.at.Sub(b.answered), b.sequence)
				}
			}
		}
		if best != newest {
			c.t.Errorf("%s has signal %d, the newest is %d", place, best, newest)
		}
	}
}

// A walk that begins after a newer walk has passed sends nothing, not even first
// attempts. A walk that the newer walk has not reached continues.
func TestSupersede_OvertakenWalk(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = events.SliceHomes + 1
		w.homes(homes)
		w.endpoint("ep", only(storage.EventPriceSignalUpdated))
		older := w.trigger(24)
		w.bus.mu.Lock()
		held := w.bus.triggers
		w.bus.triggers = nil // the walk begins late
		w.bus.mu.Unlock()
		newer := w.trigger(24)
		w.worker()
		w.wants(newer, outcomes{events.OutcomeDelivered: homes})
		<-time.After(2 * walks.Lead)
		w.bus.mu.Lock()
		w.bus.triggers = held
		w.bus.wakeLocked()
		w.bus.mu.Unlock()
		w.wants(older, outcomes{events.OutcomeSuperseded: homes})
		if n := len(w.partner.got()); n != homes {
			t.Errorf("worker sent %d webhooks, want %d", n, homes)
		}
		// Of two triggers accepted together, the older walk leads.
		first, second := w.trigger(24), w.trigger(24)
		w.wants(first, outcomes{events.OutcomeDelivered: homes})
		w.wants(second, outcomes{events.OutcomeDelivered: homes})
	})
}

// A worker that starts after a newer walk passed a waiting slice sends none of its signals,
// although the worker learns of that walk only at its start.
func TestSupersede_OvertakenBeforeStart(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = events.SliceHomes
		w.homes(homes)
		w.endpoint("ep", only(storage.EventPriceSignalUpdated))
		older := w.trigger(24)
		w.bus.mu.Lock()
		w.bus.triggers = nil // its walk has begun
		w.bus.mu.Unlock()
		newer := w.trigger(24)
		n := w.worker()
		w.wants(newer, outcomes{events.OutcomeDelivered: homes})
		n.stop()
		<-time.After(time.Minute)
		if err := n.conn.PutSlice(t.Context(), events.Slice{Trigger: older, Sequence: older.Sequence}); err != nil {
			t.Fatal(err)
		}
		w.worker()
		w.wants(older, outcomes{events.OutcomeSuperseded: homes})
	})
}
