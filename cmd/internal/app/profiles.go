package app

import (
	"net/http"
	"net/http/pprof"
)

// profilePages returns the handlers of the running process's profiles. Index serves the
// named profiles without a handler of their own.
func profilePages() map[string]http.Handler {
	pages := map[string]http.Handler{
		"/debug/pprof/profile": http.HandlerFunc(pprof.Profile),
		"/debug/pprof/trace":   http.HandlerFunc(pprof.Trace),
		"/debug/pprof/symbol":  http.HandlerFunc(pprof.Symbol),
	}
	for _, name := range []string{"", "allocs", "block", "goroutine", "heap", "mutex", "threadcreate"} {
		pages["/debug/pprof/"+name] = http.HandlerFunc(pprof.Index)
	}
	return pages
}
