package api_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
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
