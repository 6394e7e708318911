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

// pause changes whether an endpoint is enabled.
func (w *world) pause(id string, paused bool) {
	w.t.Helper()
	w.changeEndpoint(id, func(e *storage.WebhookEndpoint) { e.Enabled = !paused })
}

// waiting is how many messages are queued for later.
func (w *world) waiting() int {
	w.bus.mu.Lock()
	defer w.bus.mu.Unlock()
	return len(w.bus.retries)
}

// A paused endpoint has nothing sent to it and nothing queued for it; another one of
// the organization goes on; and what comes after the pause comes as ever.
func TestAPausedEndpointQueuesNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = 2*events.SliceHomes + 5
		w.homes(homes)
		w.endpoint("ep")
		w.worker()
		w.pause("ep", true)
		for _, d := range w.wants(w.trigger(24), outcomes{events.OutcomeNoEndpoint: homes}) {
			if d.EndpointID != "" || d.MessageID != "" || d.Attempt != 0 || !strings.Contains(d.Reason, "no enabled endpoint") {
				t.Fatalf("a home ended as %+v", d)
			}
		}
		w.endpoint("other")
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: homes}) // one outcome a home: the other's
		if len(w.bus.retryPuts) != 0 {
			t.Errorf("%d messages were queued for later", len(w.bus.retryPuts))
		}
		for _, a := range w.partner.got() {
			if a.host == "ep" {
				t.Fatal("the paused endpoint was sent something")
			}
		}
		w.pause("ep", false)
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 2 * homes})
	})
}

// suspend changes whether the organization org is suspended.
func (w *world) suspend(suspended bool) {
	w.t.Helper()
	o := storage.Organization{ID: "org", Name: "Org", Suspended: suspended, Base: storage.Base{OrganizationID: storage.Shared}}
	storagetest.Put(w.t, w.store, &o)
}

// A suspended organization is sent nothing, nothing is queued for it, and what waits for it
// is dropped when it is due. Its neighbour goes on.
func TestSuspendedOrganization(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = 5
		w.homes(homes)
		w.neighbour(homes)
		w.endpoint("ep")
		w.partner.refuses("ep", true)
		w.worker()
		before := w.trigger(24)
		<-time.After(100 * time.Millisecond)
		synctest.Wait()
		if w.waiting() == 0 {
			t.Fatal("nothing waits")
		}
		w.suspend(true)
		w.partner.refuses("ep", false)
		w.wants(w.trigger(24), outcomes{events.OutcomeNoEndpoint: homes})
		if p, _ := w.settled(before); p.Status != events.TriggerCompleted || p.Outcomes[events.OutcomeDelivered] != 0 {
			t.Errorf("the trigger before is %s with %v", p.Status, p.Outcomes)
		}
		w.wants(w.triggerOf("neighbour", 24), outcomes{events.OutcomeDelivered: homes})
		for _, a := range w.partner.got() {
			if a.host == "ep" {
				t.Fatal("the suspended organization was sent something")
			}
		}
		w.suspend(false)
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: homes})
	})
}

// What waits for an endpoint when it is paused is let go when it is due, whether it
// waits home by home or as a parked walk, and stays let go after the pause.
func TestPausingLetsGoOfWhatWaits(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = 20 * events.SliceHomes
		w.homes(homes)
		w.endpoint("ep")
		w.partner.refuses("ep", true)
		w.worker()
		tr := w.trigger(24)
		<-time.After(100 * time.Millisecond)
		synctest.Wait()
		if w.waiting() == 0 {
			t.Fatal("nothing waits")
		}
		w.pause("ep", true)
		w.partner.refuses("ep", false)
		began := time.Now()
		p, list := w.settled(tr)
		if p.Status != events.TriggerCompleted || p.Outcomes[events.OutcomeFailed]+p.Outcomes[events.OutcomeNoEndpoint] != homes || p.Outcomes[events.OutcomeFailed] == 0 {
			t.Errorf("it is %s with %v", p.Status, p.Outcomes)
		}
		if took := time.Since(began); took > 2*gate.LongestBreak {
			t.Errorf("it was let go of after %s", took)
		}
		for _, d := range list {
			if d.Outcome == events.OutcomeFailed && d.Reason != reasonPaused {
				t.Fatalf("a home ended as %+v", d)
			}
		}
		w.pause("ep", false)
		<-time.After(time.Hour)
		if got := len(w.partner.got()); got != 0 {
			t.Errorf("%d webhooks came after all", got)
		}
	})
}

// A slice that waits for its rate limit does not outlast a pause.
func TestPausingEndsASliceThatWaitsForItsLimit(t *testing.T) {
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
		w.pause("ep", true)
		w.wants(tr, outcomes{events.OutcomeDelivered: 3, events.OutcomeFailed: events.SliceHomes - 3})
	})
}
