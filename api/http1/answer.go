package http1

import (
	"log"
	"net/http"
	"runtime/debug"
	"time"
)

// answer has the handler answer a request, and reports whether the connection goes on.
func (c *connection) answer(body []byte) (goesOn bool) {
	_ = c.conn.SetWriteDeadline(after(time.Now(), c.server.http.WriteTimeout)) // a closed one fails at Write
	w := writers.Get().(*writer)
	c.handle(w, c.exchange(body)) // with one that panics its writer is gone
	last := c.server.stopping.Load()
	err := w.send(c.conn, last)
	goesOn = err == nil && !last && !w.closes()
	w.done()
	return goesOn
}

func (c *connection) handle(w *writer, x *exchange) {
	defer x.end()
	c.server.http.Handler.ServeHTTP(w, &x.request)
}

// recovered logs a panic, unless it is how a handler ends a connection.
func (c *connection) recovered(cause any) {
	if cause != nil && cause != http.ErrAbortHandler { //nolint:errorlint // that very one
		c.server.logf("http: panic serving %s: %v\n%s", c.remote, cause, debug.Stack())
	}
}

func (s *Server) logf(format string, args ...any) {
	if s.http.ErrorLog == nil {
		log.Printf(format, args...)
		return
	}
	s.http.ErrorLog.Printf(format, args...)
}
