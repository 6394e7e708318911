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

// seenAfter is how soon a worker acts on what was accepted.
const seenAfter = 2*walks.Lead + 10*time.Millisecond

// apart is how far the clocks of the two workers are from one another.
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

// Whatever two workers do whose clocks are five minutes apart, however they race, die
// and come back, and however the partner fails: no attempt of an older signal begins
// once a newer one of the home was accepted, beyond the moment for which a worker
// remembers which trigger is the newest; and the newest one reaches every home.
func TestNoOlderSignalAfterANewerOne(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		playing(t, rt, drawRace(rt), (*chaos).race)
	})
}

// race plays a script for two workers whose clocks are apart.
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

// checkOrder compares every signal that the partner accepted with those before.
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
		c.t.Errorf("%d homes at endpoints have a signal, want %d", len(places), want)
	}
	for place, list := range places {
		best := uint64(0)
		for _, a := range list {
			best = max(best, a.sequence)
			for _, b := range list {
				if b.sequence > a.sequence && a.at.Sub(b.answered) > seenAfter {
					c.t.Errorf("%s was sent %d again %s after it had accepted %d", place, a.sequence, a.at.Sub(b.answered), b.sequence)
				}
			}
		}
		if best != newest {
			c.t.Errorf("%s has the signal %d, and the newest is %d", place, best, newest)
		}
	}
}

// A walk that begins after a newer one has come by sends nothing, though it is its
// first time; one that the newer has not reached goes on.
func TestAWalkThatWasOvertaken(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = events.SliceHomes + 1
		w.homes(homes)
		w.endpoint("ep", only(storage.EventPriceSignalUpdated))
		older := w.trigger(24)
		w.bus.mu.Lock()
		held := w.bus.triggers
		w.bus.triggers = nil // whoever starts it is slow
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
			t.Errorf("%d webhooks were sent, want %d", n, homes)
		}
		// Accepted together, the older one leads.
		first, second := w.trigger(24), w.trigger(24)
		w.wants(first, outcomes{events.OutcomeDelivered: homes})
		w.wants(second, outcomes{events.OutcomeDelivered: homes})
	})
}
