package rest

import (
	"cmp"
	"log/slog"
	"net/http"
	"time"
)

// Connections has the limits of a connection. A zero field has its default.
type Connections struct {
	// HeaderTimeout is the timeout for reading a request's headers, by default 5 s.
	// ReadTimeout is the timeout for reading the whole request, by default 15 s.
	HeaderTimeout, ReadTimeout time.Duration
	// WriteTimeout is the time from the end of the headers to the end of the response, by
	// default 30 s. It must be longer than Options.Timeout.
	WriteTimeout time.Duration
	// IdleTimeout is how long a connection may wait for its next request, by default 60
	// s.
	IdleTimeout time.Duration
	// MaxHeaders is the maximum size of a request's headers in bytes, by default 16 KiB.
	// The minimum is 4 KiB.
	MaxHeaders int
}

// headerSlack is the size of headers in bytes that net/http accepts beyond MaxHeaderBytes.
const headerSlack = 4 << 10

// NewHTTPServer returns an http.Server with timeouts and limits against slow or abusive
// clients. Its listener is from Listen.
func NewHTTPServer(handler http.Handler, c Connections, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           markHandled(handler),
		ConnContext:       withConn,
		ConnState:         markIdle,
		ReadHeaderTimeout: cmp.Or(c.HeaderTimeout, 5*time.Second),
		ReadTimeout:       cmp.Or(c.ReadTimeout, 15*time.Second),
		WriteTimeout:      cmp.Or(c.WriteTimeout, 30*time.Second),
		IdleTimeout:       cmp.Or(c.IdleTimeout, 60*time.Second),
		MaxHeaderBytes:    max(1, cmp.Or(c.MaxHeaders, 16<<10)-headerSlack),
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		// OPTIONS * gets the same response as an unknown path.
		DisableGeneralOptionsHandler: true,
	}
}
