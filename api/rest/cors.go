package rest

import (
	"net/http"
	"slices"
	"strings"
)

// Headers that scripts of another origin may send and read.
var (
	corsRequestHeaders  = strings.Join([]string{"content-type", KeyHeader, OrganizationHeader, IdempotencyHeader, "X-Request-Id"}, ", ")
	corsResponseHeaders = strings.Join([]string{"X-Request-Id", "Retry-After"}, ", ")
)

// corsMaxAge is how long a browser may cache a preflight response, in seconds.
const corsMaxAge = "600"

// CrossOrigin lets browser scripts of the given origins call the operations. Without
// origins it returns next unchanged, and browsers refuse cross-origin calls by
// themselves.
func CrossOrigin(origins []string, next http.Handler) http.Handler {
	if len(origins) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Add("Vary", "Origin")
		origin := r.Header.Get("Origin")
		if !slices.Contains(origins, origin) {
			next.ServeHTTP(w, r)
			return
		}
		h.Set("Access-Control-Allow-Origin", origin)
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			h.Set("Access-Control-Allow-Methods", http.MethodPost)
			h.Set("Access-Control-Allow-Headers", corsRequestHeaders)
			h.Set("Access-Control-Max-Age", corsMaxAge)
			w.WriteHeader(http.StatusNoContent)
			return
		}
		h.Set("Access-Control-Expose-Headers", corsResponseHeaders)
		next.ServeHTTP(w, r)
	})
}
