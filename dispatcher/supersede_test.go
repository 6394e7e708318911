package dispatcher

import (
	"net/http"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Where triggers come faster than an endpoint takes their walks, the last homes are sent
// signals all the same: a walk that waits because the endpoint is slow does not give way
// to those behind it. Some homes of a slice may, to one that has come to it meanwhile.
func TestASlowEndpointStarvesNoHome(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes, triggers = 16 * events.SliceHomes, 16
		w.homes(homes)
		w.endpoint("ep", only(storage.EventPriceSignalUpdated))
		w.partner.answers(func(*http.Request, arrival) int {
			<-time.After(time.Second) // with 8 at once that is two minutes for a walk
			return http.StatusOK
		})
		w.worker()
		for range triggers {
			w.trigger(24)
			<-time.After(time.Minute)
		}
		had := map[string]bool{}
		for _, a := range w.partner.got() {
			had[a.home] = true
		}
		if len(had) < homes*95/100 {
			t.Errorf("%d of %d homes were sent any of %d triggers", len(had), homes, triggers)
		}
	})
}

// An endpoint that asks to wait after a number of requests a minute does not starve the
// last homes either.
func TestRetryAfter_StarvesNoHome(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes, triggers, quota = 32 * events.SliceHomes, 12, 2 * events.SliceHomes
		w.homes(homes)
		w.endpoint("ep", only(storage.EventPriceSignalUpdated))
		var since time.Time
		n := 0
		w.partner.answers(func(*http.Request, arrival) int {
			if now := time.Now(); now.Sub(since) >= time.Minute {
				since, n = now, 0
			}
			if n++; n > quota {
				return http.StatusTooManyRequests
			}
			return http.StatusOK
		})
		w.partner.server.Handler = withHeader(w.partner, "Retry-After", "60")
		w.worker()
		for range triggers {
			w.trigger(24)
			<-time.After(5 * time.Minute)
		}
		had := map[string]bool{}
		for _, a := range w.partner.got() {
			had[a.home] = true
		}
		if len(had) < homes*82/100 { // each walk begins at random homes
			t.Errorf("%d of %d homes were sent any of %d triggers", len(had), homes, triggers)
		}
	})
}

// A message system that hangs in the middle of a slice holds up none of its requests
// for long: they were in their turn when it was last asked.
// hang is how long the partner takes while the message system hangs.
const hang = 50 * time.Millisecond

func TestTurnsDoNotWaitForAMessageSystemThatHangs(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(events.SliceHomes)
		w.endpoint("ep", only(storage.EventPriceSignalUpdated))
		w.partner.answers(func(*http.Request, arrival) int {
			w.bus.mu.Lock()
			w.bus.hangs = true
			w.bus.mu.Unlock()
			<-time.After(2 * hang)
			return http.StatusOK
		})
		w.options.EndpointConcurrency = 1
		w.worker()
		began := time.Now()
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: events.SliceHomes})
		if took, attempts := time.Since(began), events.SliceHomes*2*hang; took > 2*attempts {
			t.Errorf("it took %s", took)
		}
	})
}

// An endpoint that takes its time is kept as busy as it may be: what is for it waits for
// room, and not for longer.
func TestASlowEndpointIsKeptBusy(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes, took = 24 * events.SliceHomes, 200 * time.Millisecond
		w.homes(homes)
		w.endpoint("ep", only(storage.EventPriceSignalUpdated))
		w.partner.answers(func(*http.Request, arrival) int {
			<-time.After(took)
			return http.StatusOK
		})
		w.worker()
		began := time.Now()
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: homes})
		least := took * time.Duration(homes/w.options.EndpointConcurrency)
		if walk := time.Since(began); walk > least*11/10 {
			t.Errorf("the walk took %s, where so many at once can take %s", walk, least)
		}
	})
}
