package dispatcher

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

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

// Those that wait in a crowd get room in the order in which they came.
func TestCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{most: 2}
		if c.enter(); c.full() || !c.await(t.Context(), time.Second) {
			t.Error("there was room")
		}
		c.enter()
		got := make(chan int, maxWaitingEach)
		for i := range maxWaitingEach {
			go func() {
				if c.await(t.Context(), time.Minute) {
					got <- i
				}
			}()
			synctest.Wait()
		}
		if !c.full() || c.await(t.Context(), time.Minute) {
			t.Error("one more waits than may")
		}
		for want := range 2 {
			c.leave()
			if i := <-got; i != want {
				t.Errorf("the room went to %d, and not to %d", i, want)
			}
			c.enter()
		}
		<-time.After(2 * time.Minute)
		select {
		case i := <-got:
			t.Errorf("%d got room that there was not", i)
		default:
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if c.await(ctx, time.Minute) || len(c.waiting) != 0 {
			t.Error("who does not wait any more is still waited for")
		}
	})
}

// A slice that waits holds its slot where there is room often, and nowhere else.
func TestCrowdHolds(t *testing.T) {
	for every, want := range map[time.Duration]time.Duration{
		slowAfter / 2: 4 * slowAfter, 2 * slowAfter: 4 * slowAfter, 3 * slowAfter: 0,
	} {
		synctest.Test(t, func(t *testing.T) {
			c := &crowd{most: 3}
			c.enter()
			c.enter()
			if c.leave(); c.hold() != 0 {
				t.Error("of one nothing is known")
			}
			<-time.After(every)
			if c.leave(); c.hold() != want {
				t.Errorf("with room every %s a slot is held for %s, want %s", every, c.hold(), want)
			}
		})
	}
}
