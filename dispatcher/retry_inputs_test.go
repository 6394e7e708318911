package dispatcher

import (
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// retryManually retries the failed deliveries of a trigger, as a replay does.
func (w *world) retryManually(n *node, t events.Trigger, list []events.Delivery) {
	w.t.Helper()
	given, kept, err := w.ledger.RetryInputs(t.OrganizationID, t.ID, list)
	if err != nil {
		w.t.Fatal(err)
	}
	homes := 0
	for i := range kept {
		homes += len(kept[i].Homes)
		now := time.Now()
		retry, receipt := kept[i].Retry(given, storage.Time{Time: now}, now)
		if _, err := n.conn.PutRetries(w.t.Context(), []events.Retry{retry}); err != nil {
			w.t.Fatal(err)
		}
		if err := n.conn.PutReceipt(w.t.Context(), receipt); err != nil {
			w.t.Fatal(err)
		}
	}
	if homes != len(list) {
		w.t.Fatalf("of %d failed deliveries %d have stored inputs", len(list), homes)
	}
}

// A manual retry sends the same message as the failed delivery. This holds for a first
// attempt, a later attempt and a disabled endpoint, in either format. Later changes of
// the endpoint's settings do not matter.
func TestRetryInputs_ManualRetry(t *testing.T) {
	for name, tt := range map[string]struct {
		patience float64 // seconds
		format   storage.SignalFormat
		gone     bool // the endpoint is disabled during the wait
	}{
		"at once":                    {0, storage.FormatSignal, false},
		"after a while":              {20, storage.FormatSignal, false},
		"in OpenADR":                 {20, storage.FormatOpenADR3, false},
		"with the endpoint disabled": {20, storage.FormatOpenADR3, true},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				const homes = events.SliceHomes + 2
				w.homes(homes)
				var well atomic.Bool
				w.partner.answers(func(*http.Request, arrival) int {
					if well.Load() {
						return http.StatusOK
					}
					return http.StatusServiceUnavailable
				})
				w.endpoint("ep", patience(tt.patience), func(e *storage.WebhookEndpoint) { e.Format = tt.format })
				n := w.worker()
				tr := w.trigger(24)
				if tt.gone {
					w.bus.await(func() bool { return len(w.bus.slices)+len(w.bus.surplus) == 0 && len(w.bus.retryPuts) > 0 })
					w.endpoint("ep", func(e *storage.WebhookEndpoint) { e.Enabled = false })
				}
				list := w.wants(tr, outcomes{events.OutcomeFailed: homes})
				well.Store(true)
				w.endpoint("ep") // enabled, with the default format
				w.retryManually(n, tr, list)
				w.checkDelivered(w.wants(tr, outcomes{events.OutcomeDelivered: homes}), 1)
				for _, a := range w.partner.got() {
					if a.openADR != (tt.format == storage.FormatOpenADR3) {
						t.Fatalf("%s arrived in OpenADR: %v", a.home, a.openADR)
					}
				}
			})
		})
	}
}

// The delivery log shows the error class and the duration of each attempt.
func TestDeliveryLog_ErrorClass(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(2)
		var n atomic.Int64
		w.partner.answers(func(*http.Request, arrival) int {
			<-time.After(50 * time.Millisecond)
			switch came := n.Add(1); {
			case came <= 2:
				return http.StatusNotFound
			case came <= 5:
				return 0 // every connection breaks, open or new
			}
			return http.StatusOK
		})
		w.endpoint("ep")
		w.worker()
		for _, d := range w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 2}) {
			log, err := w.ledger.Delivery("org", d.MessageID)
			if err != nil {
				t.Fatal(err)
			}
			var classes []events.ErrorClass
			for _, a := range log.Attempts {
				classes = append(classes, a.ErrorClass)
				if a.Milliseconds < 50 {
					t.Errorf("duration of attempt %d is %g ms", a.Number, a.Milliseconds)
				}
			}
			if !slices.Equal(classes, []events.ErrorClass{events.ErrorStatus, events.ErrorResponse, ""}) {
				t.Errorf("error classes are %q", classes)
			}
		}
	})
}
