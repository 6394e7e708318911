package api

import (
	"embed"
	"net/http"
	"path"
	"strconv"

	"github.com/gorilla/mux"
)

//go:generate go run ./internal/openapi/gen

// docs are the documents of this interface, for partners and for the operator,
// made of the table of routes and its types by go generate.
//
//go:embed docs
var docs embed.FS

// The folders of the documents.
const (
	partnerDocs  = "docs/partner"
	operatorDocs = "docs/operator"
)

// serveDocs serves the documents of a folder: OpenAPI, and a page to read.
func (s *server) serveDocs(r *mux.Router, folder string) {
	for _, d := range []struct{ path, file, contentType string }{
		{"/openapi.json", "openapi.json", "application/json"},
		{"/openapi.yaml", "openapi.yaml", "application/yaml"},
		{"/docs", "index.html", "text/html; charset=utf-8"},
	} {
		data, err := docs.ReadFile(path.Join(folder, d.file))
		if err != nil {
			panic("api: " + err.Error()) // a test reads each
		}
		s.metrics.prepare(d.path)
		refuse := s.observe(d.path, func(w http.ResponseWriter, _ *http.Request, _ *call) (any, error) {
			w.Header().Set("Allow", "GET, HEAD")
			return nil, errReadOnly
		})
		r.HandleFunc(d.path, func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet && r.Method != http.MethodHead {
				refuse.ServeHTTP(w, r)
				return
			}
			h := w.Header()
			h.Set("Content-Type", d.contentType)
			h.Set("Content-Length", strconv.Itoa(len(data)))
			h.Set("Cache-Control", "no-cache")
			h.Set("X-Content-Type-Options", "nosniff")
			// The page has styles and nothing that runs or is fetched.
			h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
			_, _ = w.Write(data) // the caller may be gone
		})
	}
}
