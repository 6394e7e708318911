package api_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/rest"
)

// lookalike is a part of a body that begins like a response of net/http itself.
const lookalike = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request"

// refusing serves lookalike bodies, and returns how to dial the server.
func refusing(t *testing.T, secure bool) (dial func() net.Conn, address string) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	var config *tls.Config
	if secure {
		certified := httptest.NewTLSServer(nil)
		certified.Close()
		config = &tls.Config{Certificates: certified.TLS.Certificates}
	}
	s := newHTTPServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if (r.TLS != nil) != secure {
			t.Errorf("the request's TLS state is %v", r.TLS)
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(lookalike)))
		_ = http.NewResponseController(w).Flush() // so that the body is a write of its own
		_, _ = io.WriteString(w, lookalike)
	}), &http.Server{MaxHeaderBytes: 4 << 10})
	served := make(chan error, 1)
	go func() { served <- s.Serve(rest.Listen(l, config, nil, slog.New(slog.DiscardHandler))) }()
	t.Cleanup(func() {
		if err := errors.Join(s.Shutdown(context.WithoutCancel(t.Context())), <-served); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	address = l.Addr().String()
	return func() net.Conn {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		must(t, err)
		must(t, c.SetDeadline(time.Now().Add(time.Minute)))
		if secure {
			c = tls.Client(c, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}})
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}, address
}

// checkRefusal checks that the next response is an error of the API, and the last.
func checkRefusal(t *testing.T, from *bufio.Reader, status int, code string) {
	t.Helper()
	r, err := http.ReadResponse(from, nil)
	must(t, err)
	var body struct {
		RequestID string `json:"request_id"`
		Code      string `json:"error_code"`
		Message   string `json:"message"`
	}
	must(t, json.NewDecoder(r.Body).Decode(&body))
	if id := r.Header.Get("X-Request-Id"); !strings.HasPrefix(id, "req_") || id != body.RequestID {
		t.Errorf("the identifier is %q in the header and %q in the body", id, body.RequestID)
	}
	if r.StatusCode != status || body.Code != code || body.Message == "" || r.Header.Get("Content-Type") != "application/json" || r.ContentLength <= 0 || !r.Close {
		t.Errorf("response %s with %v and %+v", r.Status, r.Header, body)
	}
	if _, err := from.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("after the response: %v", err)
	}
}

// TestRefusals_OfHTTP checks that requests that net/http refuses get an error of the API,
// also after an ordinary response, and that an ordinary response stays as it is.
func TestRefusals_OfHTTP(t *testing.T) {
	const get = "GET / HTTP/1.1\r\n"
	for name, test := range map[string]struct {
		sent   string
		status int
	}{
		"request line":             {"GARBAGE\r\n\r\n", 400},
		"no Host":                  {get + "\r\n", 400},
		"bad Host":                 {get + "Host: a b\r\n\r\n", 400},
		"space in a header's name": {get + "Host: x\r\nX A: 1\r\n\r\n", 400},
		"unknown expectation":      {get + "Host: x\r\nExpect: more\r\n\r\n", 417},
		"large headers":            {get + "Host: x\r\nX-Request-Id: mine\r\nX-A: " + strings.Repeat("a", 8<<10) + "\r\n\r\n", 431},
		"transfer encoding":        {get + "Host: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
		"version":                  {"GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505},
	} {
		for _, secure := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", TLS"}[secure], func(t *testing.T) {
				code := rest.CodeValidationFailed
				if test.status == http.StatusRequestHeaderFieldsTooLarge {
					code = rest.CodePayloadTooLarge
				}
				dial, _ := refusing(t, secure)
				for _, before := range []string{"", get + "Host: x\r\n\r\n"} {
					c := dial()
					_, err := io.WriteString(c, before+test.sent)
					must(t, err)
					from := bufio.NewReader(c)
					if before != "" {
						r, err := http.ReadResponse(from, nil)
						must(t, err)
						if body, err := io.ReadAll(r.Body); err != nil || r.StatusCode != http.StatusOK || string(body) != lookalike {
							t.Errorf("the ordinary response is %s %q, %v", r.Status, body, err)
						}
					}
					checkRefusal(t, from, test.status, code)
				}
			})
		}
	}
}

// TestRefusals_HTTPToTLS checks the response to a client that speaks HTTP to a listener
// with TLS.
func TestRefusals_HTTPToTLS(t *testing.T) {
	_, address := refusing(t, true)
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	must(t, c.SetDeadline(time.Now().Add(time.Minute)))
	_, err = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	must(t, err)
	checkRefusal(t, bufio.NewReader(c), http.StatusBadRequest, rest.CodeValidationFailed)
}
