package main

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// TestPublish_AnyServer measures a server that delivers each event twice, after its
// response. Each event has the header and an identifier of its own.
func TestPublish_AnyServer(t *testing.T) {
	t.Parallel()
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	listener := listen()
	var mu sync.Mutex
	seen := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var event struct{ Type, ID string }
		body, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(body, &event) != nil || event.Type != "price" || r.Header.Get("Authorization") != "Bearer k" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		mu.Lock()
		seen[event.ID] = true
		mu.Unlock()
		for range 2 {
			go func() {
				response, err := http.Post("http://"+listener.Addr().String()+"/hook", "application/json", strings.NewReader("{}"))
				if err == nil {
					_ = response.Body.Close() // only its arrival counts
				}
			}()
		}
	}))
	defer server.Close()
	args := []string{"--events", "50", "--deliveries", "2", "--idle", "5", "--requests", "4", "--header", "Authorization: Bearer k", server.URL, `{"type":"price","id":"{{.ID}}"}`}
	p, _, err := parsePublishing(args)
	if err != nil {
		t.Fatal(err)
	}
	result, err := p.measure(t.Context(), listener)
	if err != nil || result.Deliveries != 100 || result.PerSecond <= 0 || result.Idle.P50 <= 0 {
		t.Errorf("the result is %+v, %v", result, err)
	}
	if len(seen) != 55 {
		t.Errorf("the server has %d different events, want 55", len(seen))
	}
	p.headers = nil
	if _, err := p.measure(t.Context(), listen()); err == nil || !strings.Contains(err.Error(), "400 Bad Request to event 1") {
		t.Errorf("the error of a refused event is %v", err)
	}
}

func TestPublish_Arguments(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"needs a URL and a body":  {"http://127.0.0.1:1"},
		"is no absolute URL":      {"elsewhere", "{}"},
		"has no colon":            {"--header", "Key", "http://127.0.0.1:1", "{}"},
		"must be 1 or more":       {"--events", "0", "http://127.0.0.1:1", "{}"},
		"bad character":           {"http://127.0.0.1:1", "{{.}"},
		"unknown flag: --quicker": {"--quicker", "http://127.0.0.1:1", "{}"},
	} {
		if _, _, err := parsePublishing(args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", args, err, want)
		}
	}
}
