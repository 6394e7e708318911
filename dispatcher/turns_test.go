package dispatcher

import (
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
)

// An organization with many running triggers does not delay the trigger of another
// organization: the slots go to organizations in turn.
func TestTurns_GreedyOrganization(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const slices, walks = 8, 30
		w.endpoint("ep")
		w.homes(slices * events.SliceHomes)
		w.neighbor(slices * events.SliceHomes)
		w.partner.answers(func(*http.Request, arrival) int {
			<-time.After(time.Millisecond)
			return http.StatusOK
		})
		w.options.Concurrency, w.options.EndpointConcurrency = 256, 64
		w.worker()
		for i := range walks {
			w.trigger(walks - i) // none covers an older one
		}
		<-time.After(50 * time.Millisecond)
		began := time.Now()
		neighbor := w.triggerOf("neighbor", 4)
		w.bus.await(func() bool {
			done := 0
			for _, r := range w.bus.receipts {
				if r.TriggerID == neighbor.ID {
					done++
				}
			}
			return done == slices
		})
		var last time.Time
		for _, a := range w.partner.got() {
			if a.host == "next-door" && a.at.After(last) {
				last = a.at
			}
		}
		between := 0
		for _, a := range w.partner.got() {
			if a.host == "ep" && a.at.After(began) && a.at.Before(last) {
				between++
			}
		}
		// Each organization has half of the slots. A few more slices run at the
		// beginning and the end.
		if most := 3 * slices * events.SliceHomes; between > most {
			t.Errorf("%d webhooks of the greedy organization before the neighbor's last, want at most %d", between, most)
		}
	})
}

// An organization at its limit of uncompleted triggers does not delay the trigger of
// another organization: its slices have a queue of their own.
func TestTurns_FullQueue(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const triggers, allowed = 2000, 200
		w.endpoint("ep")
		w.homes(1)
		w.neighbor(1)
		w.partner.answers(func(*http.Request, arrival) int {
			<-time.After(10 * time.Millisecond)
			return http.StatusOK
		})
		w.worker()
		w.trigger(1) // the endpoint is known to respond quickly
		w.bus.await(func() bool { return len(w.bus.receipts) == 1 })
		for i := range triggers {
			w.trigger(triggers - i) // none covers an older one
		}
		<-time.After(100 * time.Millisecond) // all walks have begun
		began := len(w.partner.got())
		w.triggerOf("neighbor", 4)
		w.bus.await(func() bool {
			return slices.ContainsFunc(w.bus.receipts, func(r events.Receipt) bool { return r.OrganizationID == "neighbor" })
		})
		if between := len(w.partner.got()) - began; between > allowed {
			t.Errorf("%d webhooks of the greedy organization before the neighbor's, want at most %d", between, allowed)
		}
	})
}

// A slice for many endpoints takes as many slots as its requests in flight need.
func TestTurns_ManyEndpoints(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.options.Slices, w.options.Concurrency = 16, 64
		const homes, endpoints = 4 * events.SliceHomes, 10
		w.homes(homes)
		for i := range endpoints {
			w.endpoint(fmt.Sprint("ep", i))
		}
		w.worker()
		w.wants(w.trigger(1), outcomes{events.OutcomeDelivered: homes * endpoints}) // all endpoints are known to respond
		var inFlight, most atomic.Int64
		w.partner.answers(func(*http.Request, arrival) int {
			n := inFlight.Add(1)
			defer inFlight.Add(-1)
			for have := most.Load(); n > have && !most.CompareAndSwap(have, n); have = most.Load() {
			}
			<-time.After(time.Millisecond)
			return http.StatusOK
		})
		w.wants(w.trigger(2), outcomes{events.OutcomeDelivered: homes * endpoints})
		if n := most.Load(); n != 2*endpoints {
			t.Errorf("%d requests were in flight, want those of two slices: %d", n, 2*endpoints)
		}
	})
}
