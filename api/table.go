package api

import (
	"net/http"
	"strings"

	"github.com/gorilla/mux"
)

// parameter is the one that a path may have, a segment of its own.
const parameter = "{id}"

// table finds an operation by its path's template. It looks each up: with as many
// operations as there are, to try mux's regular expressions one after another takes
// longer than to know who asks.
type table map[string]http.Handler

// match is a mux.MatcherFunc. A path as it was sent has no braces that are not encoded,
// so that it is never taken for a template with a parameter.
func (t table) match(r *http.Request, m *mux.RouteMatch) bool {
	path := r.URL.EscapedPath()
	if handler, ok := t[path]; ok {
		m.Handler = handler
		return true
	}
	var room [128]byte
	for start := 0; start < len(path); {
		start++ // past the slash
		end := len(path)
		if i := strings.IndexByte(path[start:], '/'); i >= 0 {
			end = start + i
		}
		template := append(append(append(room[:0], path[:start]...), parameter...), path[end:]...)
		if handler, ok := t[string(template)]; ok {
			m.Handler = handler
			return true
		}
		start = end
	}
	return false
}
