package send

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gridhook/gridhook/dispatcher/policy"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// tokenServer is a token endpoint with a list of tokens.
type tokenServer struct {
	mu     sync.Mutex
	asked  int
	forms  []string
	answer func(n int, w http.ResponseWriter) // its response instead of a token, if not nil
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

// authorized is an endpoint with tokens, ready to send to over real connections.
func authorized(t *testing.T, a http.Handler, partner http.HandlerFunc) (*Sender, *Destination) {
	t.Helper()
	server, hook := httptest.NewServer(a), httptest.NewServer(partner)
	t.Cleanup(server.Close)
	t.Cleanup(hook.Close)
	e := endpointAt(t, hook.URL, time.Minute)
	e.Tokens = NewTokens(&storage.Authentication{TokenURL: server.URL, ClientID: "gridhook", Scopes: []string{"hooks", "more"}, Audience: "us"}, "client-secret")
	return newTestSender(t), e
}

// A token is requested once, over a real connection, and used until it expires.
func TestTokens_Shared(t *testing.T) {
	a := &tokenServer{}
	s, e := authorized(t, a, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer token-1" || r.Header.Get("X-Own") != "yes" {
			t.Errorf("the request had %v", r.Header)
		}
	})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if got := post(t, s, e); got.Verdict() != policy.Delivered {
				t.Errorf("got %+v", got)
			}
		})
	}
	wg.Wait()
	if a.times() != 1 {
		t.Errorf("a token was requested %d times", a.times())
	}
	if want := "gridhook client-secret audience=us&grant_type=client_credentials&scope=hooks+more"; a.forms[0] != want {
		t.Errorf("the token request was %q, want %q", a.forms[0], want)
	}
}

// A token that the destination refuses is replaced once, within the attempt. If the new
// one is refused too, there is no further request.
func TestTokens_Refused(t *testing.T) {
	for name, c := range map[string]struct {
		good           string
		verdict        policy.Verdict
		asked, arrived int // after two attempts
	}{
		"revoked": {good: "Bearer token-2", verdict: policy.Delivered, asked: 2, arrived: 3},
		"refused": {good: "", verdict: policy.Retry, asked: 2, arrived: 3},
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
			if got := post(t, s, e); got.Verdict() != c.verdict || c.verdict == policy.Retry && (got.Status != 401 || got.Response != "no") {
				t.Errorf("%s: got %+v", name, got)
			}
		}
		if a.times() != c.asked || arrived != c.arrived {
			t.Errorf("%s: %d tokens and %d requests, want %d and %d", name, a.times(), arrived, c.asked, c.arrived)
		}
	}
}

// With any response of a token endpoint, the error does not repeat the sent secret, and
// the delivery is retried.
func TestTokens_Responses(t *testing.T) {
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
		"a strange code": {write(400, "application/json", `{"error":"client-secret: no"}`), "responded 400 Bad Request"},
		"down":           {write(503, "text/html", "<h1>client-secret</h1>"), "503 Service Unavailable"},
		"redirected":     {write(302, "text/html", ""), "302 Found"},
		"not JSON":       {write(200, "application/json", "client-secret"), "response has no access token"},
		"empty":          {write(200, "application/json", "{}"), "response has no access token"},
		"a MAC token":    {write(200, "application/json", `{"access_token":"x","token_type":"mac"}`), "is not a bearer token"},
		"two lines":      {write(200, "application/json", `{"access_token":"x\r\nX-Evil:1","token_type":"bearer"}`), "is too long, or has characters"},
		"two words":      {write(200, "application/json", `{"access_token":"x y","token_type":"bearer"}`), "is too long, or has characters"},
		"a long one":     {write(200, "application/json", `{"access_token":"`+strings.Repeat("x", maxToken+1)+`","token_type":"bearer"}`), "is too long, or has characters"},
		"an endless one": {func(_ int, w http.ResponseWriter) {
			for range 3 << 8 {
				_, _ = w.Write(bytes.Repeat([]byte("x"), 4096))
			}
		}, "token endpoint"},
		"a broken one": {func(int, http.ResponseWriter) { panic(http.ErrAbortHandler) }, "EOF"},
	} {
		s, e := authorized(t, &tokenServer{answer: c.answer}, func(http.ResponseWriter, *http.Request) { t.Errorf("%s: a request was sent without a token", name) })
		a := post(t, s, e)
		if a.Verdict() != policy.Retry || a.ErrorClass() != events.ErrorToken || a.Err == nil || !strings.Contains(a.Err.Error(), c.want) {
			t.Errorf("%s: got %v, of the class %s; want %q", name, a.Err, a.ErrorClass(), c.want)
		}
		if a.Err != nil && (strings.Contains(a.Err.Error(), "client-secret") || len(a.Err.Error()) > 200) {
			t.Errorf("%s: the error has %q", name, a.Err)
		}
	}
}

// The guard checks the connection to a token endpoint like any destination.
func TestTokens_Guard(t *testing.T) {
	a := &tokenServer{}
	_, e := authorized(t, a, func(http.ResponseWriter, *http.Request) {})
	s := New(Options{IdlePerDestination: 1})
	defer s.Close()
	if got := post(t, s, e); got.ErrorClass() != events.ErrorToken || a.times() != 0 || !strings.Contains(fmt.Sprint(got.Err), errNotAllowed.Error()) {
		t.Errorf("got %v, after %d requests", got.Err, a.times())
	}
}

// A sender that closes cancels the request for a token, and waits for its end.
func TestSender_CloseDuringTokenRequest(t *testing.T) {
	asked := make(chan struct{})
	a := &tokenServer{answer: func(int, http.ResponseWriter) {
		close(asked)
		<-t.Context().Done() // the server closes after the test
	}}
	s, e := authorized(t, a, func(http.ResponseWriter, *http.Request) {})
	sent := make(chan Attempt)
	go func() { sent <- post(t, s, e) }()
	<-asked
	began := time.Now()
	s.Close()
	e.Tokens.mu.Lock()
	failed := e.Tokens.failed
	e.Tokens.mu.Unlock()
	if took := time.Since(began); took > tokenTimeout/2 || failed == nil {
		t.Errorf("Close took %s, and the request for a token ended with %v", took, failed)
	}
	if got := <-sent; got.ErrorClass() != events.ErrorToken {
		t.Errorf("the attempt is %+v", got)
	}
}
