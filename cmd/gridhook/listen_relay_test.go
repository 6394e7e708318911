package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/receiver"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// relayServer relays one webhook to each client that listens.
type relayServer struct {
	*httptest.Server
	// url is the URL of the endpoint.
	url     string
	webhook events.RelayRequest
	// called receives each other operation with its body.
	called chan [2]string
}

func newRelayServer(t *testing.T, webhook events.RelayRequest) *relayServer {
	s := &relayServer{url: storage.RelayURL, webhook: webhook, called: make(chan [2]string, 16)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *relayServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	operation := path.Base(r.URL.Path)
	if operation != "listen" {
		body, _ := io.ReadAll(r.Body) // a part fails the test
		s.called <- [2]string{operation, string(body)}
		_, _ = io.WriteString(w, `{"id":"ep_1","secret":"`+hookSecret+`","url":"`+s.url+`"}`)
		return
	}
	lines := json.NewEncoder(w)
	_ = lines.Encode(events.RelayLine{})
	_ = lines.Encode(events.RelayLine{Request: &s.webhook})
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// listeningByRelay runs the listen command until the test calls stop, which returns the
// output and then the messages.
func listeningByRelay(t *testing.T, args ...string) (stop func() string) {
	t.Helper()
	var out, errs strings.Builder
	read, write := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	g := &globals{out: &out, err: write, environ: []string{contextsEnv + "=" + filepath.Join(t.TempDir(), "none")}}
	code := make(chan int, 1)
	go func() {
		code <- g.execute(ctx, append([]string{"listen"}, args...))
		_ = write.Close()
	}()
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(&errs, read) // it ends with the command
	}()
	return func() string {
		cancel()
		<-copied
		if got := <-code; got != 0 {
			t.Errorf("exit %d", got)
		}
		return out.String() + errs.String()
	}
}

// TestListen_Relay receives a webhook over the command's own connection, and sends the
// response.
func TestListen_Relay(t *testing.T) {
	header, err := receiver.ReadHeaders([]byte(signedHeaders(t, time.Now())))
	if err != nil {
		t.Fatal(err)
	}
	webhook := events.RelayRequest{ID: "r_1", Headers: map[string]string{}, Body: base64.StdEncoding.EncodeToString([]byte(hookBody))}
	for name := range header {
		webhook.Headers[name] = header.Get(name)
	}
	unsigned := events.RelayRequest{ID: "r_1", Body: webhook.Body}
	const created = `{"url":"relay:listen","description":"gridhook listen (temporary)","timeoutSeconds":30,"rateLimit":25}`
	for name, tt := range map[string]struct {
		webhook             events.RelayRequest
		args                []string
		first, body         string
		response, says, not string
	}{
		"verified": {
			webhook, nil, "create", created,
			`{"id":"r_1","status":204,"retryAfter":"","body":""}`, "msg_1 webhook.test  verified\n", "REFUSED",
		},
		"failing": {
			webhook, []string{"--fail", "1", "--fail-status", "503"}, "create", created,
			`{"id":"r_1","status":503,"retryAfter":"","body":"simulated fault\n"}`, "verified, response 503", "REFUSED",
		},
		"not signed": {
			unsigned, nil, "create", created,
			`{"id":"r_1","status":401,"retryAfter":"","body":"webhook-id, webhook-timestamp, webhook-signature: missing; the request is not from Gridhook, or was captured without its headers\n"}`,
			"REFUSED", "verified\n",
		},
		"continued": {
			webhook, []string{"--endpoint", "ep_1"}, "get", "{}",
			`{"id":"r_1","status":204,"retryAfter":"","body":""}`, "verified\n", "REFUSED",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newRelayServer(t, tt.webhook)
			stop := listeningByRelay(t, append([]string{"--api-url", s.URL, "--api-key", "ghk_key_1_s"}, tt.args...)...)
			if got := <-s.called; got[0] != tt.first || !sameJSON(t, got[1], tt.body) {
				t.Errorf("it begins with %q", got)
			}
			if tt.first == "get" {
				if got := <-s.called; got[0] != "rotate_secret" {
					t.Errorf("it continues with %q", got)
				}
			}
			if got := <-s.called; got[0] != "respond" || !sameJSON(t, got[1], tt.response) {
				t.Errorf("it responds %q", got)
			}
			said := stop()
			if got := <-s.called; got[0] != "delete" || !strings.HasSuffix(said, "temporary endpoint ep_1 removed\n") {
				t.Errorf("it ends with %q", got)
			}
			if !strings.Contains(said, tt.says) || strings.Contains(said, tt.not) || !strings.Contains(said, "gridhook listen --endpoint ep_1\n") {
				t.Errorf("output\n%s", said)
			}
		})
	}
}

// TestListen_RelayRefusesEndpoint keeps an endpoint with another URL, and its secret.
func TestListen_RelayRefusesEndpoint(t *testing.T) {
	s := newRelayServer(t, events.RelayRequest{})
	s.url = "https://example.com/h"
	for want, args := range map[string][]string{
		"the url of ep_1 is https://example.com/h": {},
		"public-url": {"--public-url", "https://tunnel.example"},
	} {
		var out, errs strings.Builder
		g := &globals{out: &out, err: &errs, environ: []string{contextsEnv + "=" + filepath.Join(t.TempDir(), "none")}}
		args = append([]string{"listen", "--api-url", s.URL, "--api-key", "ghk_key_1_s", "--endpoint", "ep_1"}, args...)
		if code := g.execute(t.Context(), args); code != exitUsage || !strings.Contains(errs.String(), want) {
			t.Errorf("exit %d, want %d and %q:\n%s", code, exitUsage, want, errs.String())
		}
	}
	s.Close()
	close(s.called)
	for got := range s.called {
		if got[0] != "get" {
			t.Errorf("it calls %s", got[0])
		}
	}
}

// roundTrip is a server in the memory of the test.
type roundTrip func(*http.Request) *http.Response

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

func newRelayLoop(f roundTrip) *relayLoop {
	g := &globals{out: io.Discard, err: io.Discard}
	return &relayLoop{g: g, endpoint: "ep_1", c: &client.Client{BaseURL: "http://gridhook.example", HTTP: &http.Client{Transport: f}}}
}

// TestRelayLoop_Overlap begins each connection before the server ends the last one.
func TestRelayLoop_Overlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var open, began int
		var mu sync.Mutex
		l := newRelayLoop(func(r *http.Request) *http.Response {
			mu.Lock()
			defer mu.Unlock()
			open++
			began++
			read, write := io.Pipe()
			go func() {
				beat := time.NewTicker(15 * time.Second)
				defer beat.Stop()
				for end := time.After(client.ListenTime); ; {
					select {
					case <-beat.C:
						_, _ = io.WriteString(write, `{"request":null}`+"\n") // it fails when the client has left
						continue
					case <-end:
					case <-r.Context().Done():
					}
					break
				}
				mu.Lock()
				defer mu.Unlock()
				if open--; open == 0 && ctx.Err() == nil {
					t.Error("no connection is left")
				}
				_ = write.Close()
			}()
			return &http.Response{StatusCode: http.StatusOK, Body: read}
		})
		done := make(chan error)
		go func() { done <- l.run(ctx) }()
		<-time.After(time.Hour)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if want := 7; began != want {
			t.Errorf("%d connections in an hour, want %d", began, want)
		}
	})
}

// TestRelayLoop_Send repeats a response that the server refuses for a time.
func TestRelayLoop_Send(t *testing.T) {
	for name, tt := range map[string]struct {
		statuses []int
		tries    int
		took     time.Duration
		ok       bool
	}{
		"at once":           {[]int{200}, 1, 0, true},
		"the rate limit":    {[]int{429, 200}, 2, 4 * time.Second, true},
		"a broken server":   {[]int{500, 502, 200}, 3, 2 * relayPause, true},
		"a refusal":         {[]int{404}, 1, 0, false},
		"until the timeout": {[]int{429, 429, 429, 429, 429, 429, 429, 429, 429}, 8, relayTimeout, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				l := newRelayLoop(func(r *http.Request) *http.Response {
					status, body := tt.statuses[tries], "{}"
					if tries++; status == http.StatusTooManyRequests {
						body = `{"error_code":"RATE_LIMITED","retry_after_seconds":4}`
					}
					return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Request: r}
				})
				ctx, cancel := context.WithTimeout(t.Context(), relayTimeout)
				defer cancel()
				began := time.Now()
				err := l.send(ctx, client.RelayResponse{ID: "r_1"})
				if took := time.Since(began); took != tt.took || tries != tt.tries || (err == nil) != tt.ok {
					t.Errorf("%d tries in %s, %v", tries, took, err)
				}
			})
		})
	}
}
