package rest

import (
	"net/http"
	"strconv"
)

// Page is a static document.
type Page struct {
	Path string
	// Data returns the document. The first request calls it, not the start of the process.
	Data   func() []byte
	Header map[string]string
}

// page returns a handler for a page. It accepts GET and HEAD.
func (s *Server) page(p Page) http.Handler {
	refuse := s.Observe(p.Path, ownFormat, func(w http.ResponseWriter, _ *http.Request, _ *Call) (any, error) {
		w.Header().Set("Allow", "GET, HEAD")
		return nil, errReadOnly
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			refuse.ServeHTTP(w, r)
			return
		}
		data, h := p.Data(), w.Header()
		for name, value := range p.Header {
			h.Set(name, value)
		}
		h.Set("Content-Length", strconv.Itoa(len(data)))
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(data) // the caller may be gone
	})
}
