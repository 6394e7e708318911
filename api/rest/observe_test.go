package rest

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// A server error is an error in the log. A client error is not.
func TestObserve_LogLevels(t *testing.T) {
	for _, tt := range []struct {
		status int
		err    error
		want   string
	}{
		{200, nil, "INFO"},
		{404, storage.ErrNotFound, "INFO"},
		{503, storage.ErrUnavailable, "ERROR"},
		{500, errors.New("a fault"), "ERROR"},
	} {
		var lines bytes.Buffer
		s := &Server{Deps: Deps{Log: slog.New(slog.NewTextHandler(&lines, nil))}}
		request := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/x", nil)
		s.record(request, &outcome{call: &Call{}, status: tt.status, err: tt.err})
		if !strings.Contains(lines.String(), "level="+tt.want+" ") {
			t.Errorf("%d %v: %s", tt.status, tt.err, lines.String())
		}
	}
}

// A panic is an internal error. Its cause and its stack are in the log only.
func TestObserve_Panic(t *testing.T) {
	var lines bytes.Buffer
	s := New(Deps{Log: slog.New(slog.NewTextHandler(&lines, nil)), Store: storage.NewStore(nil, nil, time.Now)}, Options{})
	h := s.Observe("/v1/x", ownFormat, func(http.ResponseWriter, *http.Request, *Call) (any, error) { panic(context.Canceled) })
	response := httptest.NewRecorder()
	h.ServeHTTP(response, httptest.NewRequestWithContext(t.Context(), "POST", "/v1/x", nil))
	if body := response.Body.String(); response.Code != 500 || !strings.Contains(body, CodeInternal) || strings.Contains(body, "canceled") {
		t.Errorf("%d %s", response.Code, body)
	}
	for _, want := range []string{"level=ERROR", "panic: context canceled", "observe_test.go"} {
		if !strings.Contains(lines.String(), want) {
			t.Errorf("the log lacks %q: %s", want, &lines)
		}
	}
}

// TestObserve_AfterWriteTimeout checks that a client gets the response of an operation that
// ends after the server's WriteTimeout.
func TestObserve_AfterWriteTimeout(t *testing.T) {
	for name, tt := range map[string]struct {
		err    error
		status int
	}{"value": {nil, http.StatusOK}, "error": {storage.ErrUnavailable, http.StatusServiceUnavailable}} {
		t.Run(name, func(t *testing.T) {
			s := New(Deps{Log: slog.New(slog.DiscardHandler), Store: storage.NewStore(nil, nil, time.Now)}, Options{})
			server := httptest.NewUnstartedServer(s.Observe("/v1/x", ownFormat, func(http.ResponseWriter, *http.Request, *Call) (any, error) {
				return map[string]string{}, tt.err
			}))
			server.Config.WriteTimeout = 1 // is over before the operation begins
			server.Start()
			defer server.Close()
			request, err := http.NewRequestWithContext(t.Context(), "POST", server.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			if _ = response.Body.Close(); response.StatusCode != tt.status {
				t.Errorf("response %s, want %d", response.Status, tt.status)
			}
		})
	}
}
