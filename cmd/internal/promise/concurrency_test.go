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
)

// hanging is a receiver that never responds and counts open requests.
type hanging struct {
	mu              sync.Mutex
	open, peak, all int
}

// ServeHTTP holds a request until its sender closes the connection.
func (h *hanging) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // only then the server notices that the client left
	h.count(1)
	<-r.Context().Done()
	h.count(-1)
}

func (h *hanging) count(change int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open += change
	h.peak = max(h.peak, h.open)
	h.all += max(0, change)
}

func (h *hanging) counts() (peak, all int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.peak, h.all
}

// The requests in flight never exceed the concurrency, however many endpoints hang.
func TestConcurrency_HangingEndpoints(t *testing.T) {
	t.Parallel()
	const endpoints, concurrency = 300, 32
	p := start(t, "serve", t.TempDir(), "--max-endpoints", fmt.Sprint(endpoints),
		"--concurrency", fmt.Sprint(concurrency), "--endpoint-concurrency", "8")
	acme := furnish(t, p, 1)
	h := &hanging{}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	var lines bytes.Buffer
	for i := range endpoints {
		fmt.Fprintf(&lines, `{"resource":"webhookEndpoint","organizationId":%q,"id":"ep-%d","url":%q,"timeoutSeconds":1}`+"\n",
			organization, i, server.URL)
	}
	file := filepath.Join(t.TempDir(), "endpoints.ndjson")
	writeFile(t, file, lines.Bytes())
	p.command("import", file)
	acme.trigger()
	// By then several waves have hung and timed out.
	p.await("three times as many requests as may be open", func() bool { _, all := h.counts(); return all >= 3*concurrency })
	peak, all := h.counts()
	t.Logf("of %d requests at most %d were open at once", all, peak)
	if peak > concurrency {
		t.Errorf("%d requests were open at once, want at most %d", peak, concurrency)
	}
}
