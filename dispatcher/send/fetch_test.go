package send

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/storage"
)

// get makes a request and returns the status and the body.
func get(t *testing.T, f *Fetcher, url string) (status int, body string, err error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := f.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

// TestFetcher_Destinations refuses forbidden URLs, and names that resolve to forbidden
// addresses.
func TestFetcher_Destinations(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request arrived") }))
	defer server.Close()
	f := NewFetcher(Options{})
	defer f.Close()
	for _, url := range []string{server.URL, "https://169.254.169.254/", "https://localhost/", "http://prices.example/"} {
		if _, _, err := get(t, f, url); !errors.As(err, new(*storage.InvalidError)) {
			t.Errorf("%s: %v", url, err)
		}
	}
	// The name passes the check of the URL, but not that of its address.
	passes := NewFetcher(Options{Guard: Guard{Allowed: Allowed{Hosts: []string{"localhost:8443"}}}})
	defer passes.Close()
	passes.client.Transport.(*http.Transport).DialContext = Egress{}.dialer(Guard{})
	if _, _, err := get(t, passes, "https://localhost:8443/"); !errors.Is(err, errNotAllowed) {
		t.Errorf("a name of this machine: %v", err)
	}
}

// TestFetcher_Responses decompresses a response, and returns a redirect as it is.
func TestFetcher_Responses(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/", http.StatusFound)
			return
		}
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			t.Error("the request accepts no gzip")
		}
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write([]byte("prices"))
		_ = z.Close()
	}))
	defer server.Close()
	f := NewFetcher(Options{Guard: Guard{AllowPrivate: true}})
	defer f.Close()
	if status, body, err := get(t, f, server.URL); status != http.StatusOK || body != "prices" || err != nil {
		t.Errorf("%d %q, %v", status, body, err)
	}
	if status, _, err := get(t, f, server.URL+"/moved"); status != http.StatusFound || err != nil {
		t.Errorf("a redirect: %d, %v", status, err)
	}
}
