package rest

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// headerSlack is the size of headers in bytes that net/http accepts beyond MaxHeaderBytes.
const headerSlack = 4 << 10

// Prepare prepares a server for a listener of Listen and returns it. The caller has set the
// timeouts, and in MaxHeaderBytes the maximum size of a request's headers. The minimum is 4
// KiB.
func Prepare(s *http.Server, log *slog.Logger) *http.Server {
	s.Handler, s.ConnState = markHandled(s.Handler), markIdle
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) }
	s.MaxHeaderBytes = max(1, s.MaxHeaderBytes-headerSlack)
	s.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelWarn)
	s.DisableGeneralOptionsHandler = true // OPTIONS * gets the same response as an unknown path
	return s
}

// Listen wraps a listener for a server of Prepare. net/http refuses some requests
// without calling the handler, as plain text. On the listener's connections such a
// response is an error of the API. A config that is not nil adds TLS. A limit that is not
// nil limits the connections.
func Listen(l net.Listener, config *tls.Config, limit *ConnectionLimit, log *slog.Logger) net.Listener {
	if config != nil {
		l = tls.NewListener(l, config)
	}
	return listener{l, limit, log}
}

type listener struct {
	net.Listener
	limit *ConnectionLimit
	log   *slog.Logger
}

// Accept returns the next connection within the limit.
func (l listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if release, ok := l.limit.Take(c.RemoteAddr()); ok {
			return &conn{Conn: c, log: l.log, release: release}, nil
		}
		_ = c.Close() // without a TLS handshake, if the connection has TLS
	}
}

// conn is a connection that replaces the responses of net/http itself.
type conn struct {
	net.Conn
	log *slog.Logger
	// release ends the count of the connection.
	release func()
	// handled is set from the call of the handler until the end of its response. Only
	// net/http itself writes at other times.
	handled atomic.Bool
	// plain is the connection below TLS, nil unless the client does not use TLS.
	plain net.Conn
}

// Close closes the connection. A client that sees its end may open another one.
func (c *conn) Close() error {
	c.release()
	return c.Conn.Close()
}

// Read reads, after the TLS handshake if the connection has TLS.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if t, ok := c.Conn.(*tls.Conn); ok && err != nil && !t.ConnectionState().HandshakeComplete {
		if wrong, ok := errors.AsType[tls.RecordHeaderError](err); ok {
			c.plain = wrong.Conn
		}
		if !errors.Is(err, io.EOF) {
			client, _, _ := net.SplitHostPort(c.RemoteAddr().String())
			c.log.Warn("TLS handshake failed", "client", client, "error", err)
		}
	}
	return n, err
}

// Write sends a part of the handler's response. If net/http responds by itself, Write sends
// an error with a JSON body instead.
func (c *conn) Write(p []byte) (int, error) {
	if c.handled.Load() || !bytes.HasPrefix(p, []byte("HTTP/1.")) {
		return c.Conn.Write(p)
	}
	line, _, _ := strings.Cut(string(p), "\r\n")
	_, status, _ := strings.Cut(line, " ")
	to := c.Conn
	if c.plain != nil {
		to, status = c.plain, "400 the server expects TLS: use a URL that begins with https://"
	}
	_, err := to.Write(refusal(status))
	return len(p), err
}

// CloseWrite sends the end of the response. net/http then waits until the client has read
// the response.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// refusal returns the response for a status of net/http, such as "400 Bad Request:
// malformed Host header".
func refusal(status string) []byte {
	number, text, _ := strings.Cut(status, " ")
	code, _ := strconv.Atoi(number)
	p := NewProblem(CodeValidationFailed, "The server cannot process the head of the request: "+text+".", "Correct the request's first line and headers and send it again.")
	if code == http.StatusRequestHeaderFieldsTooLarge {
		p.Code = CodePayloadTooLarge
	}
	var body, response bytes.Buffer
	id := storage.NewID("req_", time.Now())
	_ = Encode(&body, ProblemBody{id, p}) // text always encodes
	h := responseHeader.Clone()
	h.Set("X-Request-Id", id)
	r := http.Response{StatusCode: code, ProtoMajor: 1, ProtoMinor: 1, Header: h, Close: true, ContentLength: int64(body.Len()), Body: io.NopCloser(&body)}
	_ = r.Write(&response) // writing to a buffer never fails
	return response.Bytes()
}

// connKey is the key of a request's conn in its context.
type connKey struct{}

// markHandled wraps a handler to mark the connection as handled. It sets the request's TLS
// state, which net/http does not see on a conn.
func markHandled(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connKey{}).(*conn); ok {
			c.handled.Store(true)
			if t, ok := c.Conn.(*tls.Conn); ok {
				state := t.ConnectionState()
				r.TLS = &state
			}
		}
		h.ServeHTTP(w, r)
	})
}

// markIdle ends the mark of markHandled after the response.
func markIdle(c net.Conn, s http.ConnState) {
	if c, ok := c.(*conn); ok && s == http.StateIdle {
		c.handled.Store(false)
	}
}
