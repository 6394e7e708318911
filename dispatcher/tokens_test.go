package dispatcher

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// tokenServer is a token endpoint that gives tokens one after another.
type tokenServer struct {
	mu     sync.Mutex
	asked  int
	forms  []string
	answer func(n int, w http.ResponseWriter) // what it does instead, if not nil
}

func (a *tokenServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	id, secret, _ := r.BasicAuth()
	a.mu.Lock()
	a.asked++
	n, answer := a.asked, a.answer
	a.forms = append(a.forms, fmt.Sprintf("%s %s %s", id, secret, r.PostForm.Encode()))
	a.mu.Unlock()
	if answer != nil {
		answer(n, w)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"access_token":"token-%d","token_type":"Bearer","expires_in":3600}`, n)
}

func (a *tokenServer) times() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked
}

// asksAt makes an endpoint authorize with tokens from a URL.
func (w *world) asksAt(tokenURL string) func(*storage.WebhookEndpoint) {
	return func(e *storage.WebhookEndpoint) {
		e.Authentication = &storage.Authentication{
			Type: storage.AuthenticationOAuth2, Sealed: w.vault.Seal("org", e.ID, "client-secret"),
			TokenURL: tokenURL, ClientID: "gridhook", Scopes: []string{"hooks", "more"}, Audience: "https://partner.example",
		}
	}
}

// authorized is an endpoint with tokens, made ready to send to over real connections.
func authorized(t *testing.T, a http.Handler, partner http.HandlerFunc) (*sender, *endpoint) {
	t.Helper()
	server, hook := httptest.NewServer(a), httptest.NewServer(partner)
	t.Cleanup(server.Close)
	t.Cleanup(hook.Close)
	e := endpointAt(t, hook.URL, 10*time.Second)
	e.tokens = newTokens(&storage.Authentication{TokenURL: server.URL, ClientID: "gridhook", Scopes: []string{"hooks", "more"}, Audience: "us"}, "client-secret")
	return newTestSender(t), e
}

// A token is asked for once, over a real connection, and used until it ends.
func TestTokensAreShared(t *testing.T) {
	a := &tokenServer{}
	s, e := authorized(t, a, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer token-1" || r.Header.Get("X-Own") != "yes" {
			t.Errorf("it was sent %v", r.Header)
		}
	})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if got := post(t, s, e); judge(got) != delivered {
				t.Errorf("it is %+v", got)
			}
		})
	}
	wg.Wait()
	if a.times() != 1 {
		t.Errorf("a token was asked for %d times", a.times())
	}
	if want := "gridhook client-secret audience=us&grant_type=client_credentials&scope=hooks+more"; a.forms[0] != want {
		t.Errorf("it was asked for with %q, want %q", a.forms[0], want)
	}
}

// A token that the destination refuses is replaced once, within the attempt; where
// the new one is refused as well, nobody asks for more.
func TestARefusedTokenIsReplacedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		good           string
		verdict        verdict
		asked, arrived int // after two attempts
	}{
		"revoked": {good: "Bearer token-2", verdict: delivered, asked: 2, arrived: 3},
		"refused": {good: "", verdict: again, asked: 2, arrived: 3},
	} {
		var mu sync.Mutex
		arrived := 0
		a := &tokenServer{}
		s, e := authorized(t, a, func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			if arrived++; r.Header.Get("Authorization") != c.good {
				w.WriteHeader(http.StatusUnauthorized)
				_, _ = io.WriteString(w, "no")
			}
		})
		for range 2 {
			if got := post(t, s, e); judge(got) != c.verdict || c.verdict == again && (got.status != 401 || got.answer != "no") {
				t.Errorf("%s: it is %+v", name, got)
			}
		}
		if a.times() != c.asked || arrived != c.arrived {
			t.Errorf("%s: %d tokens were asked for and %d requests made, want %d and %d", name, a.times(), arrived, c.asked, c.arrived)
		}
	}
}

// Whatever a token endpoint answers, what is told of it does not repeat what it was
// sent, and the failure is one that is tried again.
func TestWhatTokenEndpointsAnswer(t *testing.T) {
	write := func(status int, kind, body string) func(int, http.ResponseWriter) {
		return func(_ int, w http.ResponseWriter) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, c := range map[string]struct {
		answer func(int, http.ResponseWriter)
		want   string
	}{
		"refused":        {write(401, "application/json", `{"error":"invalid_client","error_description":"client-secret is wrong"}`), "401 Unauthorized: invalid_client"},
		"a strange code": {write(400, "application/json", `{"error":"client-secret: no"}`), "answered 400 Bad Request"},
		"down":           {write(503, "text/html", "<h1>client-secret</h1>"), "503 Service Unavailable"},
		"redirected":     {write(302, "text/html", ""), "302 Found"},
		"not JSON":       {write(200, "application/json", "client-secret"), "holds none"},
		"empty":          {write(200, "application/json", "{}"), "holds none"},
		"a MAC token":    {write(200, "application/json", `{"access_token":"x","token_type":"mac"}`), "no bearer token"},
		"two lines":      {write(200, "application/json", `{"access_token":"x\r\nX-Evil: 1","token_type":"bearer"}`), "does not fit"},
		"a long one":     {write(200, "application/json", `{"access_token":"`+strings.Repeat("x", maxToken+1)+`","token_type":"bearer"}`), "does not fit"},
		"an endless one": {func(_ int, w http.ResponseWriter) {
			for range 3 << 8 {
				_, _ = w.Write(bytes.Repeat([]byte("x"), 4096))
			}
		}, "token endpoint"},
		"a broken one": {func(int, http.ResponseWriter) { panic(http.ErrAbortHandler) }, "EOF"},
	} {
		s, e := authorized(t, &tokenServer{answer: c.answer}, func(http.ResponseWriter, *http.Request) { t.Errorf("%s: a request was made without a token", name) })
		a := post(t, s, e)
		if judge(a) != again || classify(&a) != events.ErrorToken || class(a) != classToken || a.err == nil || !strings.Contains(a.err.Error(), c.want) {
			t.Errorf("%s: it is %v, of the class %s; want %q", name, a.err, classify(&a), c.want)
		}
		if a.err != nil && (strings.Contains(a.err.Error(), "client-secret") || len(a.err.Error()) > 200) {
			t.Errorf("%s: it tells %q", name, a.err)
		}
	}
}

// A token endpoint is dialled under the guard like any destination.
func TestTheGuardHoldsForTokenEndpoints(t *testing.T) {
	a := &tokenServer{}
	_, e := authorized(t, a, func(http.ResponseWriter, *http.Request) {})
	s := newSender(Guard{}, 1)
	defer s.close()
	if got := post(t, s, e); classify(&got) != events.ErrorToken || a.times() != 0 || !strings.Contains(fmt.Sprint(got.err), errNotAllowed.Error()) {
		t.Errorf("it is %v, asked for %d times", got.err, a.times())
	}
}

// A walk whose token endpoint is down is parked, asks rarely, and goes on when it is
// back; a token that nears its end is replaced while it is used.
func TestTokensOfAWalk(t *testing.T) {
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
			t.Errorf("%d requests were made, and a token asked for %d times", got, a.times())
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
				t.Fatalf("a home was delivered as %+v", d)
			}
		}
		if got := a.times() - asked; got != 1 {
			t.Errorf("it was asked for %d tokens when it was back", got)
		}
		<-time.After(time.Hour - 2*time.Minute)
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: homes})
		if a.times()-asked != 1 || len(tokens) != 1 {
			t.Errorf("a token was replaced before its time: %d asked for, %v", a.times()-asked, tokens)
		}
		<-time.After(time.Hour)
		w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: homes})
		if a.times()-asked != 2 || len(tokens) != 2 || tokens[""] != 0 {
			t.Errorf("%d asked for, %v", a.times()-asked, tokens)
		}
		if text := logged.String(); !strings.Contains(text, "walk begins") || strings.Contains(text, "client-secret") || strings.Contains(text, "token-") {
			t.Errorf("it logs %s", text)
		}
	})
}

// What depends on the credentials lives as long as they do: a change of something
// else keeps the token, and one of theirs does not.
func TestTokensOutliveOtherChanges(t *testing.T) {
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
			if _, err := storage.Update(t.Context(), w.store, storage.WebhookEndpointRef("org", "ep"), func(e *storage.WebhookEndpoint) error { change(e); return nil }); err != nil {
				t.Fatal(err)
			}
			w.wants(w.trigger(24), outcomes{events.OutcomeDelivered: 1})
			if want := max(1, i); a.times() != want {
				t.Errorf("after change %d a token was asked for %d times, want %d", i, a.times(), want)
			}
		}
	})
}

// A bearer token is a header like any other.
func TestABearerToken(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.homes(1)
		w.endpoint("ep", func(e *storage.WebhookEndpoint) {
			e.Authentication = &storage.Authentication{Type: storage.AuthenticationBearer, Sealed: w.vault.Seal("org", "ep", "opaque")}
		})
		w.partner.answers(func(r *http.Request, _ arrival) int {
			if got := r.Header["Authorization"]; len(got) != 1 || got[0] != "Bearer opaque" {
				t.Errorf("it was authorized by %q", got)
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
