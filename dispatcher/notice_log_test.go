package dispatcher

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// The delivery log has each notice with its outcome at each endpoint, also if it ended because
// the endpoint no longer receives it. None stays RETRYING.
func TestNotice_DeliveryLog(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		for _, id := range []string{"good", "later", "paused", "deleted", "damaged", "other"} {
			w.endpoint(id)
		}
		w.endpoint("never", patience(60))
		w.endpoint("signals", only(storage.EventPriceSignalUpdated))
		var refused atomic.Int64
		w.partner.answers(taking(func(a arrival) int {
			if a.host == "good" || a.host == "later" && refused.Add(1) > 1 {
				return http.StatusOK
			}
			return http.StatusInternalServerError
		}))
		w.worker()
		n, err := events.FlexAlertNotice(events.FlexAlert{OrganizationID: "org", RatePlanID: "plan", EventID: "flex-1", From: storage.Time{Time: time.Now()}}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		w.putNotice(n)
		<-time.After(time.Second) // the first attempts are over
		w.pause("paused", true)
		w.delete(storage.KindWebhookEndpoint.Ref("org", "deleted"))
		w.overwrite(storage.KindWebhookEndpoint.Ref("org", "damaged"), "{")
		w.changeEndpoint("other", only(storage.EventTriggerCompleted))
		w.rest(time.Hour)
		defer w.running(w.follow)()
		<-time.After(time.Second)
		list, _, err := w.ledger.Deliveries("org", events.DeliveryQuery{Events: true, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		reasons := map[string]string{
			"good": "DELIVERED ", "later": "DELIVERED ", "paused": "FAILED " + reasonPaused, "deleted": "FAILED " + reasonDeleted,
			"damaged": `FAILED the stored endpoint "damaged" cannot be used`, "other": "FAILED the endpoint no longer receives flex_alert", "never": "FAILED the ",
		}
		for _, d := range list {
			want, wanted := reasons[d.EndpointID]
			if got := fmt.Sprint(d.Outcome, " ", d.Reason); !wanted || !strings.HasPrefix(got, want) || d.EventType != n.Type || d.TriggerID != n.ID {
				t.Errorf("the delivery to %s is %s, want %q: %+v", d.EndpointID, got, want, d)
			}
			if log, err := w.ledger.Delivery("org", n.MessageID(d.EndpointID)); err != nil || log.Outcome != d.Outcome || len(log.Attempts) == 0 || log.Attempts[0].Number != 1 {
				t.Errorf("the log of %s is %+v, %v", d.EndpointID, log, err)
			}
			delete(reasons, d.EndpointID)
		}
		if len(reasons) > 0 {
			t.Errorf("no delivery to %v", reasons)
		}
	})
}

// The delivery log has each message to a channel, under the channel's owner. So has the
// channel's health.
func TestChannel_DeliveryLog(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.chat("org", "good")
		later, deleted := w.chat("org", "later"), w.chat("org", "deleted")
		paused := w.chat(storage.Shared, "paused")
		for _, c := range []*chat{later, deleted, paused} {
			c.status.Store(http.StatusServiceUnavailable)
		}
		worker := w.worker()
		n := quotaNotice("org", "01JZ2E6K8M0000000000000000")
		w.putNotice(n)
		<-time.After(time.Second) // the first attempts are over
		later.status.Store(http.StatusOK)
		w.delete(storage.KindChannel.Ref("org", "deleted"))
		_, err := storage.Update(t.Context(), w.store, storage.KindChannel.Ref(storage.Shared, "paused"), func(c *storage.Channel) error { c.Enabled = false; return nil })
		if err != nil {
			t.Fatal(err)
		}
		w.rest(time.Hour)
		// A channel that its owner ended has no failed attempt to alert about.
		if n := worker.metrics(t)["gridhook_channel_attempts_total"]; n != 5 {
			t.Errorf("%v attempts are counted, want one at each channel and the second at one", n)
		}
		defer w.running(w.follow)()
		<-time.After(time.Second)
		for owner, want := range map[string]map[string]string{
			"org": {
				"good": "DELIVERED HEALTHY ", "later": "DELIVERED HEALTHY the channel responded 503", "deleted": "FAILED FAILING the channel responded 503",
			},
			storage.Shared: {"paused": "FAILED FAILING the channel responded 503"},
		} {
			list, _, err := w.ledger.Deliveries(owner, events.DeliveryQuery{Events: true, Limit: 100})
			if err != nil || len(list) != len(want) {
				t.Fatalf("%s has the deliveries %+v, %v", owner, list, err)
			}
			for _, d := range list {
				h, err := w.ledger.Health(owner, d.EndpointID)
				if got := fmt.Sprint(d.Outcome, " ", h.State, " ", h.LastFailure); !strings.HasPrefix(got, want[d.EndpointID]) || d.EventType != n.Type || err != nil {
					t.Errorf("the delivery to %s is %s, want %q: %+v, %v", d.EndpointID, got, want[d.EndpointID], d, err)
				}
			}
		}
	})
}
