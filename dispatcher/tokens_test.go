package dispatcher

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// asksAt sets the token URL of an endpoint.
func (w *world) asksAt(tokenURL string) func(*storage.WebhookEndpoint) {
	return func(e *storage.WebhookEndpoint) {
		e.Authentication = &storage.Authentication{
			Type: storage.AuthenticationOAuth2, Sealed: w.vault.Seal("org", e.ID, "client-secret"),
			TokenURL: tokenURL, ClientID: "gridhook", Scopes: []string{"hooks", "more"}, Audience: "https://partner.example",
		}
	}
}

// A walk whose token endpoint is down is parked, requests tokens rarely, and continues
// after the recovery. A token is replaced shortly before it expires.
func TestTokens_Walk(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const homes = 20 * events.SliceHomes
		w.homes(homes)
		w.endpoint("ep", w.asksAt("http://auth.example/token"))
		var logged lockedBuffer
		w.logger = slog.New(slog.NewTextHandler(&logged, nil))
		a := &tokenServer{answer: func(_ int, w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) }}
		w.partner.hosts("auth", a)
		var mu sync.Mutex
		tokens := map[string]int{}
		w.partner.answers(func(r *http.Request, _ arrival) int {
			mu.Lock()
			defer mu.Unlock()
			tokens[r.Header.Get("Authorization")]++
			return http.StatusOK
		})
		w.worker()
		tr := w.trigger(24)
		<-time.After(5 * time.Minute)
		if got := len(w.partner.got()); got != 0 || a.times() == 0 || a.times() > 60 {
			t.Errorf("%d webhooks and %d token requests", got, a.times())
		}
		if w.waiting() > 40 {
			t.Errorf("%d messages wait", w.waiting())
		}
		asked := a.times()
		a.mu.Lock()
		a.answer = nil
		a.mu.Unlock()
		for _, d := range w.wants(tr, outcomes{events.OutcomeDelivered: homes}) {
			if d.ErrorClass != "" {
				t.Fatalf("delivery is %+v", d)
			}
		}
		if got := a.times() - asked; got != 1 {
			t.Errorf("%d token requests after the recovery", got)
		}
		<-time.After(time.Hour - 2*time.Minute)
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: homes})
		if a.times()-asked != 1 || len(tokens) != 1 {
			t.Errorf("token was replaced too early: %d token requests, %v", a.times()-asked, tokens)
		}
		<-time.After(time.Hour)
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: homes})
		if a.times()-asked != 2 || len(tokens) != 2 || tokens[""] != 0 {
			t.Errorf("%d token requests, %v", a.times()-asked, tokens)
		}
		if text := logged.String(); !strings.Contains(text, "walk began") || strings.Contains(text, "client-secret") || strings.Contains(text, "token-") {
			t.Errorf("log is %s", text)
		}
	})
}

// A token stays in use until its credentials change. Other changes of the endpoint keep
// the token.
func TestTokens_OtherChanges(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(1)
		w.endpoint("ep", w.asksAt("http://auth.example/token"))
		a := &tokenServer{}
		w.partner.hosts("auth", a)
		w.worker()
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 1})
		for i, change := range []func(*storage.WebhookEndpoint){
			func(e *storage.WebhookEndpoint) { e.Description = "other" },
			func(e *storage.WebhookEndpoint) { e.Authentication.Sealed = w.vault.Seal("org", e.ID, "client-secret") },
			func(e *storage.WebhookEndpoint) { e.Authentication.Sealed = w.vault.Seal("org", e.ID, "another") },
			func(e *storage.WebhookEndpoint) { e.Authentication.Scopes = nil },
		} {
			if _, err := storage.Update(t.Context(), w.store, storage.KindWebhookEndpoint.Ref("org", "ep"), func(e *storage.WebhookEndpoint) error { change(e); return nil }); err != nil {
				t.Fatal(err)
			}
			w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 1})
			if want := max(1, i); a.times() != want {
				t.Errorf("%[2]d token requests after change %[1]d, want %[3]d", i, a.times(), want)
			}
		}
	})
}

// The token request goes to the token URL with its query, which is stored sealed.
func TestTokenURL_SealedQuery(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(1)
		w.endpoint("ep", func(e *storage.WebhookEndpoint) {
			w.asksAt("http://auth.example/token?tenant=7")(e)
			if err := w.vault.SealEndpoint(e, &storage.WebhookEndpoint{}); err != nil || strings.Contains(e.Authentication.TokenURL, "tenant") {
				t.Fatalf("stored endpoint is %+v (%v)", e.Authentication, err)
			}
		})
		queries := make(chan string, 10)
		w.partner.hosts("auth", http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
			queries <- r.URL.RawQuery
			(&tokenServer{}).ServeHTTP(answer, r)
		}))
		w.worker()
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 1})
		if query := <-queries; query != "tenant=7" {
			t.Errorf("query of the token request is %q", query)
		}
	})
}

// A bearer token is sent like any other header.
func TestTokens_Bearer(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(1)
		w.endpoint("ep", func(e *storage.WebhookEndpoint) {
			e.Authentication = &storage.Authentication{Type: storage.AuthenticationBearer, Sealed: w.vault.Seal("org", "ep", "opaque")}
		})
		w.partner.answers(func(r *http.Request, _ arrival) int {
			if got := r.Header["Authorization"]; len(got) != 1 || got[0] != "Bearer opaque" {
				t.Errorf("Authorization is %q", got)
			}
			return http.StatusOK
		})
		w.worker()
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 1})
	})
}

// lockedBuffer is a buffer for several writers.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
