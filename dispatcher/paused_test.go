package dispatcher

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gridhook/gridhook/dispatcher/gate"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// pause disables or enables an endpoint.
func (w *world) pause(id string, paused bool) {
	w.t.Helper()
	w.changeEndpoint(id, func(e *storage.WebhookEndpoint) { e.Enabled = !paused })
}

// waiting returns the number of waiting retry messages.
func (w *world) waiting() int {
	w.bus.mu.Lock()
	defer w.bus.mu.Unlock()
	return len(w.bus.retries)
}

// A paused endpoint gets no request, and nothing is queued for it. Another endpoint of
// the organization continues. Triggers after the pause are delivered normally.
func TestPausedEndpoint_QueuesNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = 2*events.SliceHomes + 5
		w.homes(homes)
		w.endpoint("ep")
		w.worker()
		w.pause("ep", true)
		for _, d := range w.wants(w.trigger(24), outcomes{events.OutcomeNoEndpoint: homes}) {
			if d.EndpointID != "" || d.MessageID != "" || d.Attempt != 0 || !strings.Contains(d.Reason, "no enabled endpoint") {
				t.Fatalf("delivery is %+v", d)
			}
		}
		w.endpoint("other")
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: homes}) // one outcome per home, of the other endpoint
		if len(w.bus.retryPuts) != 0 {
			t.Errorf("queued %d retries, want none", len(w.bus.retryPuts))
		}
		for _, a := range w.partner.got() {
			if a.host == "ep" {
				t.Fatal("paused endpoint got a webhook")
			}
		}
		w.pause("ep", false)
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 2 * homes})
	})
}

// suspend suspends or resumes the organization org.
func (w *world) suspend(suspended bool) {
	w.t.Helper()
	o := storage.Organization{ID: "org", Name: "Org", Suspended: suspended, Base: storage.Base{OrganizationID: storage.Shared}}
	storagetest.Put(w.t, w.store, &o)
}

// refused starts a worker and returns a trigger whose deliveries the endpoint ep refuses, so that
// they wait for a retry.
func (w *world) refused() events.Trigger {
	w.t.Helper()
	w.endpoint("ep")
	w.partner.refuses("ep", true)
	w.worker()
	t := w.trigger(24)
	<-time.After(100 * time.Millisecond)
	synctest.Wait()
	if w.waiting() == 0 {
		w.t.Fatal("no retry waits")
	}
	return t
}

// withoutWebhook checks that the endpoint ep got no webhook.
func (w *world) withoutWebhook() {
	w.t.Helper()
	for _, a := range w.partner.got() {
		if a.host == "ep" {
			w.t.Fatal("the organization got a webhook")
		}
	}
}

// A suspended organization gets no webhook, and nothing is queued for it. Its waiting
// retries are dropped when they are due. A neighbor continues.
func TestSuspendedOrganization_SendsNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = 5
		w.homes(homes)
		w.neighbor(homes)
		before := w.refused()
		w.suspend(true)
		w.partner.refuses("ep", false)
		w.wants(w.trigger(24), outcomes{events.OutcomeNoEndpoint: homes})
		if p, _ := w.settled(before); p.Status != events.TriggerCompleted || p.Outcomes[events.OutcomeDelivered] != 0 {
			t.Errorf("earlier trigger is %s with %v", p.Status, p.Outcomes)
		}
		w.wants(w.triggerOf("neighbor", 24), outcomes{events.OutcomeDelivered: homes})
		w.withoutWebhook()
		w.suspend(false)
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: homes})
	})
}

// A walk of a deleted organization ends: it has no more homes and no endpoint, and its
// waiting retries are dropped when they are due. A neighbor continues.
func TestDeletedOrganization_SendsNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = 20 * events.SliceHomes
		w.suspend(false) // creates the organization
		w.homes(homes)
		w.neighbor(5)
		tr := w.refused()
		if _, err := w.store.EraseOrganization(t.Context(), "org"); err != nil {
			t.Fatal(err)
		}
		w.partner.refuses("ep", false)
		if p, _ := w.settled(tr); p.Status != events.TriggerCompleted || p.Outcomes[events.OutcomeDelivered] != 0 {
			t.Errorf("the trigger is %s with %v", p.Status, p.Outcomes)
		}
		w.wants(w.triggerOf("neighbor", 24), outcomes{events.OutcomeDelivered: 5})
		<-time.After(25 * time.Hour)
		if n := w.waiting(); n != 0 {
			t.Errorf("%d retries wait after a day", n)
		}
		w.withoutWebhook()
	})
}

// Waiting deliveries of a paused endpoint are dropped when they are due, as single homes
// and as a parked walk. They stay dropped after the pause.
func TestPausedEndpoint_DropsWaiting(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = 20 * events.SliceHomes
		w.homes(homes)
		tr := w.refused()
		w.pause("ep", true)
		w.partner.refuses("ep", false)
		began := time.Now()
		p, list := w.settled(tr)
		if p.Status != events.TriggerCompleted || p.Outcomes[events.OutcomeFailed]+p.Outcomes[events.OutcomeNoEndpoint] != homes || p.Outcomes[events.OutcomeFailed] == 0 {
			t.Errorf("trigger is %s with %v", p.Status, p.Outcomes)
		}
		if took := time.Since(began); took > 2*gate.LongestBreak {
			t.Errorf("deliveries were dropped after %s", took)
		}
		for _, d := range list {
			if d.Outcome == events.OutcomeFailed && d.Reason != reasonPaused {
				t.Fatalf("delivery is %+v", d)
			}
		}
		w.pause("ep", false)
		<-time.After(time.Hour)
		if got := len(w.partner.got()); got != 0 {
			t.Errorf("endpoint got %d webhooks after the pause", got)
		}
	})
}

// A slice that waits for the rate limit ends within 10 s after its endpoint was paused or
// deleted, or its organization suspended.
func TestPausedEndpoint_RateLimited(t *testing.T) {
	for reason, end := range map[string]func(*world){
		reasonPaused:                    func(w *world) { w.pause("ep", true) },
		reasonDeleted:                   func(w *world) { w.delete(storage.KindWebhookEndpoint.Ref("org", "ep")) },
		reasonPaused + " by suspension": func(w *world) { w.suspend(true) },
	} {
		inWorld(t, func(t *testing.T, w *world) {
			w.homes(events.SliceHomes)
			w.endpoint("ep", func(e *storage.WebhookEndpoint) { e.RateLimit = 0.01 })
			w.worker()
			tr := w.trigger(24)
			<-time.After(time.Minute)
			end(w)
			began := time.Now()
			for _, d := range w.wants(tr, outcomes{events.OutcomeDelivered: 1, events.OutcomeFailed: events.SliceHomes - 1}) {
				if d.Outcome == events.OutcomeFailed && !strings.HasPrefix(reason, d.Reason) {
					t.Fatalf("the reason is %q, want %q", d.Reason, reason)
				}
			}
			if took := time.Since(began); took > 15*time.Second {
				t.Errorf("%s: the slice ended after %s", reason, took)
			}
		})
	}
}

// A request that waits for the rate limit goes to the URL that the endpoint has then.
func TestEndpoint_MovedWhileRequestsWait(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(events.SliceHomes)
		w.endpoint("ep", func(e *storage.WebhookEndpoint) { e.RateLimit = 1 })
		arrived := make(chan struct{}, events.SliceHomes)
		w.partner.answers(func(*http.Request, arrival) int {
			arrived <- struct{}{}
			return http.StatusOK
		})
		w.worker()
		tr := w.trigger(24)
		for range 3 {
			<-arrived
		}
		w.changeEndpoint("ep", func(e *storage.WebhookEndpoint) { e.URL = "http://moved.example/hooks" })
		w.wants(tr, outcomes{events.OutcomeDelivered: events.SliceHomes})
		got := map[string]int{}
		for _, a := range w.partner.got() {
			got[a.host]++
		}
		if got["ep"] != 3 || got["moved"] != events.SliceHomes-3 {
			t.Errorf("webhooks by host: %v, want 3 for ep and the others for moved", got)
		}
	})
}

// A 410 to a webhook that has waited disables the endpoint at its new URL.
func TestEndpoint_GoneAfterMove(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(6)
		w.endpoint("ep", func(e *storage.WebhookEndpoint) { e.RateLimit = 0.5 })
		w.partner.answers(func(r *http.Request, _ arrival) int {
			if r.URL.Path == "/gone" {
				return http.StatusGone
			}
			return http.StatusOK
		})
		w.worker()
		tr := w.trigger(24)
		<-time.After(3 * time.Second)
		w.changeEndpoint("ep", func(e *storage.WebhookEndpoint) { e.URL = "http://ep.example/gone" })
		w.settled(tr)
		if e, err := storage.Get[storage.WebhookEndpoint](w.store, storage.KindWebhookEndpoint.Ref("org", "ep")); err != nil || e.Enabled {
			t.Errorf("the endpoint is enabled after 410: %v", err)
		}
	})
}
