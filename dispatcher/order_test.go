package dispatcher

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// apart is how far the clocks of the two workers are from one another.
const apart = 5 * time.Minute

// race is a script for two workers whose clocks are apart, and how they are played.
type race struct {
	chaos
	turn int // how many workers were started
}

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
		s := drawRace(rt)
		c := &complaints{}
		synctest.Test(t, func(t *testing.T) {
			c.TB = t
			w := newWorld(c)
			defer w.end()
			(&race{chaos: chaos{world: w, script: s, changed: map[string]bool{}, dies: map[string]int{}}}).run()
		})
		if len(c.list) > 0 {
			rt.Fatalf("%+v:\n%s", s, strings.Join(c.list[:min(5, len(c.list))], "\n"))
		}
	})
}

// start starts the next worker, whose clock is wrong the other way round.
func (r *race) start(i int) {
	off := apart / 2
	if r.turn++; r.turn%2 == 0 {
		off = -off
	}
	r.clock = func() time.Time { return time.Now().Add(off) }
	r.workers[i] = r.worker(r.diesAt)
}

func (r *race) revive() {
	for i, n := range r.workers {
		if n.conn.isDead() {
			n.stop()
			r.start(i)
		}
	}
}

func (r *race) run() {
	r.homes(r.script.Homes)
	for i := range r.script.Endpoints {
		r.endpoint(fmt.Sprint("ep", i), only(storage.EventPriceSignalUpdated), func(e *storage.WebhookEndpoint) {
			e.TimeoutSeconds = 1
			e.RetryPolicy = storage.RetryPolicy{InitialSeconds: 1, Multiplier: 2, MaxSeconds: 8, GiveUpSeconds: 7200}
		})
	}
	var n atomic.Int64
	r.partner.answers(func(req *http.Request, a arrival) int {
		r.mu.Lock()
		half := r.mode == "half"
		r.mu.Unlock()
		if half && n.Add(1)%2 == 0 {
			return http.StatusBadGateway
		}
		return r.answer(req, a)
	})
	r.start(0)
	r.start(1)
	bystander := &node{conn: &busConn{bus: r.bus, die: func() {}}}
	stop := r.running(r.newResumer(bystander).Run, r.follow)
	r.act(step{What: "trigger"})
	for _, s := range r.script.Steps {
		<-time.After(s.After)
		r.revive()
		r.act(s)
	}
	r.revive()
	r.set("")
	r.setDies("", 0)
	for i := range r.script.Endpoints {
		r.partner.refuses(fmt.Sprint("ep", i), false)
	}
	for _, t := range r.triggers {
		r.await(t)
		r.revive()
	}
	r.bus.await(r.bus.idleLocked)
	stop()
	r.checkOrder()
}

// checkOrder compares every signal that the partner accepted with those before.
func (r *race) checkOrder() {
	newest := r.triggers[len(r.triggers)-1].Sequence
	places := map[string][]arrival{}
	for _, a := range r.partner.got() {
		if a.status == http.StatusOK && a.kind == storage.EventPriceSignalUpdated {
			place := a.home + " at " + a.host
			places[place] = append(places[place], a)
		}
	}
	if want := r.script.Homes * r.script.Endpoints; len(places) != want {
		r.t.Errorf("%d homes at endpoints have a signal, want %d", len(places), want)
	}
	for place, list := range places {
		best := uint64(0)
		for _, a := range list {
			best = max(best, a.sequence)
			for _, b := range list {
				if b.sequence > a.sequence && a.at.Sub(b.answered) > newestFor+turnFor {
					r.t.Errorf("%s was sent %d again %s after it had accepted %d", place, a.sequence, a.at.Sub(b.answered), b.sequence)
				}
			}
		}
		if best != newest {
			r.t.Errorf("%s has the signal %d, and the newest is %d", place, best, newest)
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
