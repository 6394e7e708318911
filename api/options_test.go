package api_test

import (
	"cmp"
	"log/slog"
	"net/http"
	"time"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/api/rest"
)

// publicAPI is api.Public with the usual limits for zero options.
func publicAPI(d api.Deps, o rest.Options) http.Handler { return api.Public(d, usual(o)) }

// adminAPI is api.Admin with the usual limits for zero options.
func adminAPI(d api.Deps, o rest.Options) http.Handler { return api.Admin(d, usual(o)) }

func usual(o rest.Options) rest.Options {
	o.MaxBody = cmp.Or(o.MaxBody, 1<<20)
	o.MaxImportBody = cmp.Or(o.MaxImportBody, 16<<20)
	o.MaxXMLBody = cmp.Or(o.MaxXMLBody, 64<<20)
	o.MaxDepth = cmp.Or(o.MaxDepth, 32)
	o.Rate = cmp.Or(o.Rate, 100)
	o.Burst = cmp.Or(o.Burst, 200)
	o.FeedbackRate = cmp.Or(o.FeedbackRate, 0.2)
	o.FeedbackBurst = cmp.Or(o.FeedbackBurst, 10)
	o.MaxIdempotencyKeys = cmp.Or(o.MaxIdempotencyKeys, 10_000)
	o.MaxUnread = cmp.Or(o.MaxUnread, 64<<20)
	o.Timeout = cmp.Or(o.Timeout, 25*time.Second)
	return o
}

// newHTTPServer returns a server with the usual limits for zero fields of s.
func newHTTPServer(h http.Handler, s *http.Server) *http.Server {
	return rest.Prepare(&http.Server{
		Handler: h, ReadHeaderTimeout: cmp.Or(s.ReadHeaderTimeout, 5*time.Second), ReadTimeout: cmp.Or(s.ReadTimeout, 15*time.Second),
		WriteTimeout: cmp.Or(s.WriteTimeout, 30*time.Second), IdleTimeout: cmp.Or(s.IdleTimeout, time.Minute), MaxHeaderBytes: cmp.Or(s.MaxHeaderBytes, 16<<10),
	}, slog.New(slog.DiscardHandler))
}
