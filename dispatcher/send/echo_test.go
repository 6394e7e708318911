package send

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// A challenge keeps the query of the URL as its client wrote it: the receiver may check a
// signature in it.
func TestEcho_Query(t *testing.T) {
	var got string
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.URL.RawQuery
		_, _ = io.WriteString(w, r.URL.Query().Get("echo"))
	}))
	defer receiver.Close()
	s := New(Options{Guard: Guard{AllowPrivate: true}, IdlePerDestination: 1})
	defer s.Close()
	for _, query := range []string{"", "z=1&a=2", "sig=a;b", "flag", "sig=a/b%3d%3D"} {
		err := s.Echo(t.Context(), receiver.URL+"/hook?"+query)
		if want := query + map[bool]string{true: "&"}[query != ""] + "echo="; err != nil || len(got) <= len(want) || got[:len(want)] != want {
			t.Errorf("%q is asked as %q, error %v", query, got, err)
		}
	}
}
