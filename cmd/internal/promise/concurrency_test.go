package promise

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// slow is a receiver that holds each request for a while and counts the held requests.
type slow struct {
	mu              sync.Mutex
	open, peak, all int
}

// ServeHTTP holds a request. The count falls before the response, so that no sender can
// make its next request while this one still counts.
func (s *slow) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	s.count(1)
	<-time.After(300 * time.Millisecond)
	s.count(-1)
}

func (s *slow) count(change int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open += change
	s.peak = max(s.peak, s.open)
	s.all += max(0, change)
}

func (s *slow) counts() (peak, all int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peak, s.all
}

// The requests in flight never exceed the concurrency, however many endpoints are slow.
func TestConcurrency_SlowEndpoints(t *testing.T) {
	t.Parallel()
	const endpoints, concurrency = 120, 32
	p := start(t, "serve", t.TempDir(), "--max-endpoints", fmt.Sprint(endpoints),
		"--concurrency", fmt.Sprint(concurrency), "--endpoint-concurrency", "8")
	acme := furnish(t, p, 1)
	s := &slow{}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	var lines bytes.Buffer
	for i := range endpoints {
		fmt.Fprintf(&lines, `{"resource":"webhookEndpoint","organizationId":%q,"id":"ep-%d","url":%q,"timeoutSeconds":30}`+"\n",
			organization, i, server.URL)
	}
	file := filepath.Join(t.TempDir(), "endpoints.ndjson")
	writeFile(t, file, lines.Bytes())
	p.command("import", file)
	// Endpoints that have not responded yet get half of the concurrency. The second trigger
	// finds endpoints that have.
	for range 2 {
		acme.completed(acme.trigger(hour()))
	}
	peak, all := s.counts()
	t.Logf("of %d requests at most %d were open at once", all, peak)
	if peak > concurrency {
		t.Errorf("%d requests were open at once, want at most %d", peak, concurrency)
	}
}
