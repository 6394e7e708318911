package dispatcher

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// The supersede check reads only memory. Many waiting triggers for a slow endpoint cause
// no request to the message system, and no walk is parked while the endpoint responds.
func TestSupersede_ReadsOnlyMemory(t *testing.T) {
	for _, triggers := range []int{4, 16, 64} {
		t.Run(fmt.Sprint(triggers), func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				const homes = 16 * events.SliceHomes
				w.homes(homes)
				w.endpoint("ep", only(storage.EventPriceSignalUpdated))
				w.partner.answers(func(*http.Request, arrival) int {
					<-time.After(100 * time.Millisecond)
					return http.StatusOK
				})
				w.worker()
				var newest events.Trigger
				for range triggers {
					newest = w.trigger(2)
					<-time.After(10 * time.Millisecond)
				}
				w.wants(newest, outcomes{events.OutcomeDelivered: homes})
				w.bus.mu.Lock()
				defer w.bus.mu.Unlock()
				parked := 0
				for _, r := range w.bus.retryPuts {
					if r.Walk != nil {
						parked++
					}
				}
				if w.bus.reachedAsks+parked > 0 {
					t.Errorf("worker made %d requests and parked %d walks", w.bus.reachedAsks, parked)
				}
			})
		})
	}
}
