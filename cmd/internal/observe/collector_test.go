package observe

import (
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector receives spans by OTLP over HTTP.
type collector struct {
	t   *testing.T
	url string

	mu    sync.Mutex
	spans []span
	more  chan struct{} // closed and replaced at every request
}

// span is the part of a span that the tests read.
type span struct {
	*tracepb.Span
	service, role string
}

// newCollector returns a collector that requires a header, if name is not empty.
func newCollector(t *testing.T, name, value string) *collector {
	c := &collector{t: t, more: make(chan struct{})}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/traces" || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/x-protobuf" || name != "" && r.Header.Get(name) != value {
			t.Errorf("the collector got the request %s %s with %v", r.Method, r.URL.Path, r.Header)
		}
		c.take(r)
	}))
	t.Cleanup(s.Close)
	c.url = s.URL
	return c
}

func (c *collector) take(r *http.Request) {
	unpacked, err := gzip.NewReader(r.Body)
	if err != nil {
		c.t.Error(err)
		return
	}
	data, err := io.ReadAll(unpacked)
	if err != nil {
		c.t.Error(err)
		return
	}
	var got tracepb.TracesData
	if err := proto.Unmarshal(data, &got); err != nil {
		c.t.Error(err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range got.ResourceSpans {
		described := map[string]string{}
		for _, a := range resource.Resource.Attributes {
			described[a.Key] = a.Value.GetStringValue()
		}
		for _, scope := range resource.ScopeSpans {
			for _, s := range scope.Spans {
				c.spans = append(c.spans, span{s, described["service.name"], described["gridhook.role"]})
			}
		}
	}
	close(c.more)
	c.more = make(chan struct{})
}

// await waits until the spans of a trace have the wanted names, and returns them.
func (c *collector) await(trace string, enough func(map[string][]span) bool) map[string][]span {
	c.t.Helper()
	deadline := time.After(patience)
	for {
		c.mu.Lock()
		more, byName := c.more, map[string][]span{}
		for _, s := range c.spans {
			if hex.EncodeToString(s.TraceId) == trace {
				byName[s.Name] = append(byName[s.Name], s)
			}
		}
		c.mu.Unlock()
		if enough(byName) {
			return byName
		}
		select {
		case <-more:
		case <-deadline:
			c.t.Fatalf("the trace has %v", byName)
		}
	}
}

// count returns the number of received spans.
func (c *collector) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.spans)
}
