package http1

import (
	"log"
	"net/http"
	"runtime/debug"
	"time"
)

// answer has the handler answer a request, and reports whether the connection goes on.
func (c *connection) answer(body []byte) (goesOn bool) {
	now := time.Now()
	_ = c.conn.SetWriteDeadline(after(now, c.server.http.WriteTimeout)) // a closed one fails at Write
	w, x := writers.Get().(*writer), c.exchange(body)
	if !c.handle(w, x) {
		return false // the writer may still be in somebody's hands
	}
	err := w.send(c.conn, now)
	goesOn = err == nil && !x.gone && w.header.Get("Connection") != "close"
	w.done()
	return goesOn
}

// handle runs the handler. As with net/http, one that panics loses its connection.
func (c *connection) handle(w *writer, x *exchange) (ok bool) {
	defer x.end()
	defer func() {
		if cause := recover(); cause != nil && cause != http.ErrAbortHandler { //nolint:errorlint // that very one
			c.server.logf("http: panic serving %s: %v\n%s", c.remote, cause, debug.Stack())
		}
	}()
	c.server.http.Handler.ServeHTTP(w, &x.request)
	return true
}

func (s *Server) logf(format string, args ...any) {
	if s.http.ErrorLog == nil {
		log.Printf(format, args...)
		return
	}
	s.http.ErrorLog.Printf(format, args...)
}
