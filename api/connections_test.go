package api_test

import (
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/rest"
)

// bounded serves with limits on connections, and dials the server.
func bounded(t *testing.T, c *http.Server) net.Conn {
	t.Helper()
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") })
	s := newHTTPServer(h, c)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(listen(t, s).URL, "http://"))
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	must(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	return conn
}

func TestConnections_Limit(t *testing.T) {
	const wait = 50 * time.Millisecond
	for name, test := range map[string]struct {
		bounds *http.Server
		sent   string
		answer string // start of the response, until the connection ends
	}{
		"headers that fit":        {&http.Server{MaxHeaderBytes: 20 << 10}, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-A: " + strings.Repeat("a", 18<<10) + "\r\n\r\n", "HTTP/1.1 200"},
		"headers that do not":     {&http.Server{MaxHeaderBytes: 1 << 10}, "GET / HTTP/1.1\r\nHost: x\r\nX-A: " + strings.Repeat("a", 18<<10) + "\r\n\r\n", "HTTP/1.1 431"},
		"headers just too large":  {&http.Server{MaxHeaderBytes: 16 << 10}, "GET / HTTP/1.1\r\nHost: x\r\nX-A: " + strings.Repeat("a", 16<<10) + "\r\n\r\n", "HTTP/1.1 431"},
		"headers never complete":  {&http.Server{ReadHeaderTimeout: wait}, "GET / HTTP/1.1\r\nHost: x\r\n", ""},
		"nothing more comes":      {&http.Server{IdleTimeout: wait}, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200"},
		"nothing comes":           {&http.Server{ReadHeaderTimeout: wait}, "", ""},
		"a POST never complete":   {&http.Server{ReadHeaderTimeout: wait}, "POST / HTTP/1.1\r\nHost: x\r\n", ""},
		"nothing more but a POST": {&http.Server{IdleTimeout: wait}, "POST / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200"},
	} {
		t.Run(name, func(t *testing.T) {
			conn := bounded(t, test.bounds)
			_, sendErr := io.WriteString(conn, test.sent)
			got, err := io.ReadAll(conn) // ends when the server closes the connection
			if err = errors.Join(sendErr, err); test.answer == "" && !errors.Is(err, os.ErrDeadlineExceeded) {
				err = nil // the server closes the connection when it likes, even before it has read
			}
			if err != nil && len(got) == 0 {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(got), test.answer) || test.answer == "" && len(got) > 0 {
				t.Errorf("response %.60q, want %q", got, test.answer)
			}
		})
	}
}

// A connection beyond the limit is closed at once, without a handshake, and one that has ended
// makes room.
func TestConnections_Maximum(t *testing.T) {
	certified := httptest.NewTLSServer(nil)
	certified.Close()
	for name, config := range map[string]*tls.Config{"plain": nil, "TLS": {Certificates: certified.TLS.Certificates}} {
		t.Run(name, func(t *testing.T) {
			l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
			must(t, err)
			discard := slog.New(slog.DiscardHandler)
			limit := rest.NewConnectionLimit(rest.Deps{Log: discard}, rest.Options{MaxConnections: 2})
			server := bare(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }))
			go func() { _ = server.Serve(rest.Listen(l, config, limit, discard)) }()
			t.Cleanup(func() { _ = server.Close() })
			// ask connects, sends a request and returns the connection, nil if it is refused.
			ask := func(header string) net.Conn {
				c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
				must(t, err)
				t.Cleanup(func() { _ = c.Close() })
				must(t, c.SetDeadline(time.Now().Add(time.Minute)))
				if config != nil {
					c = tls.Client(c, &tls.Config{InsecureSkipVerify: true})
				}
				_, err = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n"+header+"\r\n")
				if err == nil {
					_, err = io.ReadFull(c, make([]byte, len("HTTP/1.1 200")))
				}
				if errors.Is(err, os.ErrDeadlineExceeded) {
					t.Fatal("the connection is neither served nor closed")
				}
				if err != nil {
					return nil
				}
				return c
			}
			ending := ask("Connection: close\r\n")
			if ending == nil {
				t.Fatal("the first connection is refused")
			}
			_, err = io.Copy(io.Discard, ending) // ends when the server closes the connection
			must(t, err)
			for i, want := range []bool{true, true, false, false} {
				if got := ask("") != nil; got != want {
					t.Errorf("connection %d is served: %t, want %t", i, got, want)
				}
			}
		})
	}
}
