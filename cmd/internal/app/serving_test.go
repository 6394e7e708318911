package app

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/config"
)

// TestStopServer_SlowRequest checks that a request that outlives the stop's timeout is cut
// off, and that this is no error.
func TestStopServer_SlowRequest(t *testing.T) {
	entered := make(chan struct{})
	s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
	})}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(l) }()
	answered := make(chan error)
	go func() {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String(), nil)
		if err == nil {
			var response *http.Response
			if response, err = http.DefaultClient.Do(request); err == nil {
				_ = response.Body.Close()
			}
		}
		answered <- err
	}()
	<-entered
	over, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	var log bytes.Buffer
	if err := stopServer(over, s, slog.New(slog.NewTextHandler(&log, nil))); err != nil || !strings.Contains(log.String(), "requests did not end in time") {
		t.Errorf("the stop returned %v and logged %s", err, log.String())
	}
	if err := <-answered; err == nil {
		t.Error("the request got a response")
	}
}

// TestServe_StopEndsStreams checks that a stop does not wait for a response that goes on
// until its context ends.
func TestServe_StopEndsStreams(t *testing.T) {
	var log bytes.Buffer
	a := &App{Options: Options{Log: slog.New(slog.NewTextHandler(&log, nil))}, running: new(errgroup.Group)}
	address, end, err := a.serve(t.Context(), "the API", "http", "127.0.0.1:0", config.KeyPair{}, nil, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := end(); err != nil || log.Len() > 0 {
		t.Errorf("the stop returned %v and logged %s", err, log.String())
	}
	if _, err := io.ReadAll(response.Body); err != nil {
		t.Errorf("the response ended with %v", err)
	}
}
