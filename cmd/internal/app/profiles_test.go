package app_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gridhook/gridhook/cmd/internal/app"
)

// Profiles are for this machine, and for the operator beyond it.
func TestWhoSeesProfiles(t *testing.T) {
	a := startWith(t, func(o *app.Options) { o.Profiles = true })
	if status, _ := send(t, http.MethodGet, a.AdminURL()+"/debug/pprof/heap?debug=1", "", ""); status != http.StatusOK {
		t.Errorf("from this machine: %d", status)
	}
	page := a.Nearby(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, test := range []struct {
		from, key string
		status    int
	}{
		{"127.0.0.1:5", "", http.StatusOK},
		{"[::1]:5", "", http.StatusOK},
		{"[::ffff:127.0.0.1]:5", "", http.StatusOK},
		{"192.0.2.7:5", "", http.StatusUnauthorized},
		{"192.0.2.7:5", "gho_wrong", http.StatusUnauthorized},
		{"192.0.2.7:5", a.OperatorKeyText(), http.StatusOK},
		{"", "", http.StatusUnauthorized},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/debug/pprof/heap?debug=1", nil)
		r.RemoteAddr = test.from
		r.Header.Set("x-ws-api-key", test.key)
		w := httptest.NewRecorder()
		page.ServeHTTP(w, r)
		if w.Code != test.status {
			t.Errorf("from %q with %q: %d, want %d", test.from, test.key, w.Code, test.status)
		}
	}
}
