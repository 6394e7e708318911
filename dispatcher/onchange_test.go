package dispatcher

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

func onChange(e *storage.WebhookEndpoint) { e.DeliveryMode = storage.DeliverOnChange }

// An endpoint with onChange gets a home's signal only if it differs from the last
// delivered signal.
func TestOnChange_Unchanged(t *testing.T) {
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
				t.Errorf("outcome of %s is %s", d.HomeID, d.Outcome)
			}
		}
		w.wants(w.trigger(12), outcomes{events.OutcomeDelivered: homes, events.OutcomeUnchanged: homes})
	})
}

// An endpoint with a least change gets every larger change, also one of several small
// steps.
func TestOnChange_LeastChange(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = 3
		w.homes(homes)
		w.endpoint("ep", onChange, func(e *storage.WebhookEndpoint) { e.MinPriceChange = 0.1 })
		w.worker()
		for _, step := range []struct {
			price float64 // 0.25 before
			sent  bool
		}{{0.25, true}, {0.28, false}, {0.34, false}, {0.36, true}, {0.24, true}, {0.2, false}} {
			storagetest.Put(t, w.store, storagetest.RatePlan(storage.Shared, "plan", step.price))
			want := outcomes{events.OutcomeUnchanged: homes}
			if step.sent {
				want = outcomes{events.OutcomeDelivered: homes}
			}
			w.wants(w.trigger(24), want)
		}
	})
}

// An endpoint that was changed gets each signal once more.
func TestOnChange_ChangedEndpoint(t *testing.T) {
	for _, change := range map[string]func(w *world, e *storage.WebhookEndpoint){
		"url": func(_ *world, e *storage.WebhookEndpoint) { e.URL += "/v2" },
		"query": func(w *world, e *storage.WebhookEndpoint) {
			e.SealedURL = w.vault.Seal("org", e.ID, e.URL+"?for=another")
		},
		"format":      func(_ *world, e *storage.WebhookEndpoint) { e.Format = storage.FormatOpenADR3 },
		"description": func(_ *world, e *storage.WebhookEndpoint) { e.Description = "another server" },
	} {
		inWorld(t, func(t *testing.T, w *world) {
			const homes = events.SliceHomes + 1
			w.homes(homes)
			w.endpoint("ep", onChange)
			w.worker()
			w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: homes})
			w.wants(w.trigger(24), outcomes{events.OutcomeUnchanged: homes})
			w.changeEndpoint("ep", func(e *storage.WebhookEndpoint) { change(w, e) })
			w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: homes})
			w.wants(w.trigger(24), outcomes{events.OutcomeUnchanged: homes})
		})
	}
}

// An endpoint that received every signal for a while gets a signal that it knew before,
// because it has received another one since.
func TestOnChange_AfterAlways(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = 3
		w.homes(homes)
		w.endpoint("ep", onChange)
		w.worker()
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: homes})
		w.changeEndpoint("ep", func(e *storage.WebhookEndpoint) { e.DeliveryMode = storage.DeliverAlways })
		w.wants(w.trigger(12), outcomes{events.OutcomeDelivered: homes})
		w.changeEndpoint("ep", onChange)
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: homes})
	})
}

// Only OpenADR events contain emissions, so only they change with a home's location.
func TestOnChange_Emissions(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(2)
		w.endpoint("openadr", onChange, func(e *storage.WebhookEndpoint) { e.Format = storage.FormatOpenADR3 })
		w.endpoint("signals", onChange)
		w.worker()
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 4})
		w.changeHome(homeID(0), func(h *storage.Home) { h.Zipcode = "94105" })
		for _, d := range w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 1, events.OutcomeUnchanged: 3}) {
			if sent := d.Outcome == events.OutcomeDelivered; sent != (d.EndpointID == "openadr" && d.HomeID == homeID(0)) {
				t.Errorf("outcome of %s at %s is %s", d.HomeID, d.EndpointID, d.Outcome)
			}
		}
	})
}

// A home gets its signal again if its last delivery is uncertain.
func TestOnChange_UncertainDelivery(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(3)
		w.endpoint("changes", onChange, patience(3600))
		w.worker()
		first := w.trigger(24)
		w.wants(first, outcomes{events.OutcomeDelivered: 3})
		// The next signal differs. It fails for one home, and a retry delivers it.
		w.partner.answers(failing(500, 1, homeID(1)))
		w.wants(w.trigger(12), outcomes{events.OutcomeDelivered: 3})
		// The first signal again: the retried home must not count as unchanged.
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 3})
		w.wants(w.trigger(24), outcomes{events.OutcomeUnchanged: 3})
	})
}

// A retry can arrive after a newer signal. The home gets the newer signal again.
func TestOnChange_LateRetry(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(1)
		w.endpoint("changes", onChange)
		w.partner.answers(failing(500, 1, ""))
		w.worker()
		older := w.trigger(24)
		<-time.After(500 * time.Millisecond)
		newer := w.trigger(12) // it does not cover the older window
		w.wants(newer, outcomes{events.OutcomeDelivered: 1})
		w.wants(older, outcomes{events.OutcomeDelivered: 1})
		w.wants(w.trigger(12), outcomes{events.OutcomeDelivered: 1})
	})
}

// If deliveries of two triggers to the same homes overlap, their order is unknown. The
// known signals of these homes are then dropped.
func TestOnChange_CrossingTriggers(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.options.EndpointConcurrency, w.options.Concurrency = 64, 64 // all requests at once, although the endpoint is new
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
		for _, d := range append(w.wants(one, outcomes{events.OutcomeDelivered: 2}), w.wants(two, outcomes{events.OutcomeDelivered: 2})...) {
			if d.Attempt != 1 {
				t.Fatalf("the deliveries do not overlap: %+v", d)
			}
		}
		known, err := w.nodes[0].conn.Known(context.Background(), "org", "changes", 0)
		if err != nil || len(known.Signals) != 0 {
			t.Errorf("known signals are %v, %v", known.Signals, err)
		}
		<-time.After(time.Minute)
		w.wants(w.trigger(12), outcomes{events.OutcomeDelivered: 2})
	})
}

// changePlan changes the rate plan of the home 0.
func (w *world) changePlan(plan string) {
	w.changeHome(homeID(0), func(h *storage.Home) { h.RatePlanID = plan })
}

// A price that changes back while the other price is delivered is sent, because the
// endpoint no longer has it.
func TestOnChange_RevertedDuringDelivery(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(2)
		storagetest.Put(t, w.store, storagetest.RatePlan(storage.Shared, "wrong", 9))
		w.endpoint("changes", onChange)
		w.worker()
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 2})

		w.changePlan("wrong")
		arrived, release := make(chan struct{}), make(chan struct{})
		w.partner.answers(func(*http.Request, arrival) int { arrived <- struct{}{}; <-release; return http.StatusOK })
		wrong := w.trigger(24)
		<-arrived
		w.partner.answers(func(*http.Request, arrival) int { return http.StatusOK })
		w.changePlan("plan")
		corrected := w.trigger(24)
		<-time.After(time.Second)
		close(release)
		w.wants(wrong, outcomes{events.OutcomeDelivered: 1, events.OutcomeUnchanged: 1})
		w.wants(corrected, outcomes{events.OutcomeDelivered: 1, events.OutcomeUnchanged: 1})
	})
}

// A worker that dies after a delivery leaves no known signal that the endpoint had
// before.
func TestOnChange_RevertedAfterDeath(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(2)
		storagetest.Put(t, w.store, storagetest.RatePlan(storage.Shared, "wrong", 9))
		w.endpoint("changes", onChange)
		dying := w.worker()
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 2})

		w.changePlan("wrong")
		w.partner.answers(func(*http.Request, arrival) int { dying.conn.kill(); return http.StatusOK })
		w.trigger(24)
		w.bus.await(dying.conn.isDead)
		w.partner.answers(func(*http.Request, arrival) int { return http.StatusOK })
		w.changePlan("plan")
		corrected := w.trigger(24)
		w.worker()
		w.wants(corrected, outcomes{events.OutcomeDelivered: 1, events.OutcomeUnchanged: 1})
	})
}

// The known signals of a slice do not include homes that new homes moved to another
// slice. Otherwise they would grow beyond the size of a message.
func TestOnChange_MovedHomes(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = 2 * events.SliceHomes
		w.homes(homes)
		w.endpoint("changes", onChange)
		w.worker()
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: homes})
		for i := range events.SliceHomes {
			storagetest.Put(t, w.store, storagetest.Home("org", fmt.Sprintf("a_new_home_%04d", i), "plan"))
		}
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: homes + events.SliceHomes})
		w.wants(w.trigger(24), outcomes{events.OutcomeUnchanged: homes + events.SliceHomes})
		for name, known := range w.bus.known {
			if len(known.Signals) != events.SliceHomes {
				t.Errorf("%s has %d known signals, want %d", name, len(known.Signals), events.SliceHomes)
			}
		}
	})
}

// A price that returns while another is being delivered is delivered, although the endpoint
// knew nothing before the first.
func TestOnChange_ReturnsDuringFirstDeliveries(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.options.EndpointConcurrency, w.options.Concurrency = 64, 256
		w.homes(1)
		storagetest.Put(t, w.store, storagetest.RatePlan(storage.Shared, "other", 9))
		w.endpoint("changes", onChange, func(e *storage.WebhookEndpoint) { e.TimeoutSeconds = 30 })
		w.worker()
		responses := []chan struct{}{make(chan struct{}), make(chan struct{})}
		var n atomic.Int64
		w.partner.answers(func(*http.Request, arrival) int {
			if i := int(n.Add(1)) - 1; i < len(responses) {
				<-responses[i]
			}
			return http.StatusOK
		})
		triggers := []events.Trigger{w.trigger(24)}
		<-time.After(time.Second)
		w.changePlan("other")
		triggers = append(triggers, w.trigger(24))
		<-time.After(100 * time.Millisecond)
		close(responses[0])
		<-time.After(100 * time.Millisecond)
		w.changePlan("plan")
		triggers = append(triggers, w.trigger(24))
		<-time.After(500 * time.Millisecond)
		close(responses[1])
		for _, tr := range triggers {
			w.wants(tr, outcomes{events.OutcomeDelivered: 1})
		}
	})
}

// Known signals that can never be stored count as not known. No delivery is repeated.
func TestOnChange_UnstorableKnown(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(3)
		w.endpoint("changes", onChange)
		w.bus.refuse = func(name, _ string) error {
			if name == "put known" {
				return errors.New("maximum payload exceeded")
			}
			return nil
		}
		w.worker()
		for range 2 {
			w.checkDelivered(w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 3}), 2)
		}
		if n := len(w.partner.got()); n != 6 || len(w.bus.dead) != 0 {
			t.Errorf("%d webhooks arrived, want 6, and %d dead letters", n, len(w.bus.dead))
		}
	})
}
