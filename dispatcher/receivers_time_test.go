package dispatcher

import (
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
)

// TestReceivers_OverTime tests receivers over several attempts.
func TestReceivers_OverTime(t *testing.T) {
	t.Run("alternates 200/500", func(t *testing.T) {
		inWorld(t, func(_ *testing.T, w *world) {
			w.endpoint("ep")
			w.homes(20)
			var asked atomic.Int64
			w.partner.answers(func(*http.Request, arrival) int { return []int{500, 200}[asked.Add(1)%2] })
			w.worker()
			w.wants(w.trigger(4), map[events.Outcome]int{events.OutcomeDelivered: 20})
			w.partner.checkMessages(nil)
		})
	})
	t.Run("down for 60 s then up", func(t *testing.T) {
		inWorld(t, func(t *testing.T, w *world) {
			w.endpoint("ep")
			w.homes(20)
			w.partner.refuses("ep", true)
			w.worker()
			began, trigger := time.Now(), w.trigger(4)
			<-time.After(time.Minute)
			w.partner.refuses("ep", false)
			for _, d := range w.wants(trigger, map[events.Outcome]int{events.OutcomeDelivered: 20}) {
				if d.At.Sub(began) < time.Minute {
					t.Errorf("%s was delivered after %s", d.HomeID, d.At.Sub(began))
				}
			}
		})
	})
	t.Run("slow neighbour", func(t *testing.T) { //nolint:misspell // the name of the case in the data
		inWorld(t, func(t *testing.T, w *world) {
			w.endpoint("ep")
			w.homes(2000)
			w.neighbor(500)
			w.partner.answers(func(r *http.Request, a arrival) int {
				if a.host == "ep" {
					<-r.Context().Done() // until the client gives up
					return 0
				}
				<-time.After(10 * time.Millisecond)
				return 200
			})
			w.worker()
			w.trigger(4)
			began := time.Now()
			w.triggerOf("neighbor", 4)
			<-time.After(time.Minute)
			var took []time.Duration
			for _, a := range w.partner.got() {
				if a.host == "next-door" {
					took = append(took, a.at.Sub(began))
				}
			}
			// 500 homes at 8 at once and 10 ms each take 0.63 s without interference.
			slices.Sort(took)
			if len(took) != 500 || took[len(took)*99/100] > 1130*time.Millisecond {
				t.Errorf("%d webhooks arrived, the last after %s", len(took), took[len(took)-1])
			}
		})
	})
}
