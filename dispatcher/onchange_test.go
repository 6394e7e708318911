package dispatcher

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

func onChange(e *storage.WebhookEndpoint) { e.DeliveryMode = storage.DeliverOnChange }

// An endpoint that asks for changes is sent a home's signal when it is another
// than the last delivered, and only then.
func TestOnChange(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = 150 // more than a slice
		w.homes(homes)
		w.endpoint("changes", onChange)
		w.endpoint("all")
		w.worker()
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 2 * homes})
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: homes, events.OutcomeUnchanged: homes})
		w.wants(w.trigger(12), outcomes{events.OutcomeDelivered: 2 * homes}) // another window

		storagetest.Put(t, w.store, storagetest.RatePlan(storage.Shared, "other", 0.5))
		moved := storagetest.Home("org", homeID(7), "other")
		storagetest.Put(t, w.store, moved)
		for _, d := range w.wants(w.trigger(12), outcomes{events.OutcomeDelivered: homes + 1, events.OutcomeUnchanged: homes - 1}) {
			if d.EndpointID == "changes" && (d.HomeID == homeID(7)) != (d.Outcome == events.OutcomeDelivered) {
				t.Errorf("%s is %s", d.HomeID, d.Outcome)
			}
		}
		w.wants(w.trigger(12), outcomes{events.OutcomeDelivered: homes, events.OutcomeUnchanged: homes})
	})
}

// A home whose last delivery is not certain is sent its signal.
func TestOnChangeForgetsWhatIsNotCertain(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(3)
		w.endpoint("changes", onChange, patience(3600))
		w.worker()
		first := w.trigger(24)
		w.wants(first, outcomes{events.OutcomeDelivered: 3})
		// The next signal, another one, fails at first for one home and comes
		// by a retry.
		w.partner.answers(failing(500, 1, homeID(1)))
		w.wants(w.trigger(12), outcomes{events.OutcomeDelivered: 3})
		// The first signal again: the home that was retried must not be taken
		// to have it still.
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 3})
		w.wants(w.trigger(24), outcomes{events.OutcomeUnchanged: 3})
	})
}

// Where two triggers' deliveries of the same homes cross, nobody knows which came
// last, and both are forgotten.
func TestOnChangeWhereTwoCross(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(2)
		w.endpoint("changes", onChange)
		arrived, release := make(chan struct{}, 8), make(chan struct{})
		w.partner.answers(func(r *http.Request, _ arrival) int {
			arrived <- struct{}{}
			select {
			case <-release:
			case <-r.Context().Done():
			}
			return http.StatusOK
		})
		w.worker()
		one, two := w.trigger(24), w.trigger(12)
		for range 4 {
			<-arrived
		}
		close(release)
		w.wants(one, outcomes{events.OutcomeDelivered: 2})
		w.wants(two, outcomes{events.OutcomeDelivered: 2})
		known, err := w.nodes[0].conn.Known(context.Background(), "org", "changes", 0)
		if err != nil || len(known.Signals) != 0 {
			t.Errorf("%v is taken to be known, %v", known.Signals, err)
		}
		<-time.After(time.Minute)
		w.wants(w.trigger(12), outcomes{events.OutcomeDelivered: 2})
	})
}
