package rest

import (
	"log/slog"
	"net/http"
)

// headerSlack is the size of headers in bytes that net/http accepts beyond MaxHeaderBytes.
const headerSlack = 4 << 10

// Prepare prepares a server for a listener of Listen and returns it. The caller has set the
// timeouts, and in MaxHeaderBytes the maximum size of a request's headers. The minimum is 4
// KiB.
func Prepare(s *http.Server, log *slog.Logger) *http.Server {
	s.Handler, s.ConnContext, s.ConnState = markHandled(s.Handler), withConn, markIdle
	s.MaxHeaderBytes = max(1, s.MaxHeaderBytes-headerSlack)
	s.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelWarn)
	s.DisableGeneralOptionsHandler = true // OPTIONS * gets the same response as an unknown path
	return s
}
