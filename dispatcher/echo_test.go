package dispatcher

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// A receiver that echoes its request exposes no secret in receipts: not in the response to a
// single webhook, in the results of a batch, in the error of an invalid result, nor in the log.
func TestEcho_Masked(t *testing.T) {
	for name, c := range map[string]struct {
		batch  int
		status int
		answer string
	}{
		"response":       {1, 500, "HEADERS QUERY"},
		"results":        {2, 200, `{"results":[{"webhookId":"MESSAGE","status":500,"reason":"HEADERS QUERY"}]}`},
		"invalid result": {2, 200, `{"results":[{"webhookId":"HEADERS QUERY","status":500}]}`},
	} {
		inWorld(t, func(t *testing.T, w *world) {
			w.homes(1)
			w.endpoint("ep", func(e *storage.WebhookEndpoint) {
				e.BatchSize, e.RetryPolicy.GiveUpSeconds = c.batch, 60
				e.URL, e.Headers = e.URL+"?token=SECRETQUERY1", map[string]string{"X-Token": "SECRETHDR1"}
				e.Authentication = &storage.Authentication{Type: storage.AuthenticationBearer, Sealed: w.vault.Seal("org", "ep", "SECRETBEARER")}
				if err := w.vault.SealEndpoint(e, &storage.WebhookEndpoint{}); err != nil {
					t.Fatal(err)
				}
			})
			w.partner.hosts("ep", http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				_, rest, _ := strings.Cut(string(body), `"webhookId":"`)
				message, _, _ := strings.Cut(rest, `"`)
				answer.WriteHeader(c.status)
				_, _ = io.WriteString(answer, strings.NewReplacer("HEADERS", r.Header.Get("Authorization")+" "+r.Header.Get("X-Token"), "QUERY", r.URL.RawQuery, "MESSAGE", message).Replace(c.answer))
			}))
			w.worker()
			w.wants(w.trigger(24), outcomes{events.OutcomeFailed: 1})
			w.bus.mu.Lock()
			defer w.bus.mu.Unlock()
			for _, r := range w.bus.receipts {
				for _, d := range r.Deliveries {
					if text := d.Response + d.Reason; strings.Contains(text, "SECRET") || !strings.Contains(text, storage.Masked) {
						t.Errorf("%s: the delivery is %+v", name, d)
					}
				}
			}
		})
	}
}
