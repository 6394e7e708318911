package observe

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/blackbox"
	"github.com/gridhook/gridhook/cmd/internal/blackbox/blackboxtest"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// tracingWorld is an api and a worker with tracing, on a nats-server.
func tracingWorld(t *testing.T, args ...string) (w *world, worker *blackbox.Gridhook, natsURL string) {
	t.Helper()
	natsURL, _ = blackboxtest.StartNATS(t, binaries.NATS, patience)
	args = append(args, "--nats", natsURL)
	w = newWorld(t, start(t, "api", t.TempDir(), args...))
	return w, start(t, "worker", t.TempDir(), args...), natsURL
}

// traced is a client whose requests have a traceparent.
func traced(c *client.Client, place string) *client.Client {
	of := *c
	of.HTTP = &http.Client{Transport: withPlace(place)}
	return &of
}

type withPlace string

func (p withPlace) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("traceparent", string(p))
	return http.DefaultTransport.RoundTrip(r)
}

// places is a receiver that records the traceparents of its requests, and refuses the
// first request.
type places struct {
	mu  sync.Mutex
	got map[string]int // requests by traceparent
	n   int
}

func (p *places) take(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.got[strings.Join(r.Header.Values("Traceparent"), " and ")]++
	if p.n++; p.n == 1 {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

// of returns the number of requests by traceparent, for some flags.
func (p *places) of(trace string) (spans map[string][]string, requests int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	spans = map[string][]string{}
	for place, n := range p.got {
		if parts := strings.Split(place, "-"); len(parts) == 4 && parts[1] == trace {
			spans[parts[3]] = append(spans[parts[3]], parts[2])
			requests += n
		}
	}
	return spans, requests
}

const (
	callersTrace = "0af7651916cd43dd8448eb211c80319c"
	otherTrace   = "1bf7651916cd43dd8448eb211c80319c"
	lastTrace    = "2cf7651916cd43dd8448eb211c80319c"
	testTrace    = "3df7651916cd43dd8448eb211c80319c"
	callersSpan  = "b7ad6b7169203331"
)

// TestTraces_RequestToWebhook follows one trigger of three slices through two
// processes, from the caller's traceparent to the webhooks' traceparents.
func TestTraces_RequestToWebhook(t *testing.T) {
	t.Parallel()
	const homes, slices = 130, 3
	c := newCollector(t, "Authorization", "secret")
	w, worker, natsURL := tracingWorld(t, "--trace-endpoint", c.url, "--trace-headers", "authorization=secret")
	hook := &places{got: map[string]int{}}
	endpoint := receiving(t, hook.take)
	policy := storage.DefaultRetryPolicy()
	policy.InitialSeconds, policy.MaxSeconds = 1, 1
	endpoint.RetryPolicy = &policy
	w.organization("acme", homes, endpoint)
	done, err := traced(w.operator.For("acme"), "00-"+callersTrace+"-"+callersSpan+"-01").Trigger(t.Context(), client.TriggerRequest{})
	w.must(err)

	got := c.await(callersTrace, func(by map[string][]span) bool {
		// The first refusal is in a slice's first request, or in another one, which has
		// no span.
		return len(by["walk slice"]) == slices && len(by["retry"]) == 1 && len(by["notify"]) == 1 && len(by["POST"]) == slices+2
	})
	request := only(t, got, "POST /v1/webhook/price_signal/trigger")
	accept, begin := only(t, got, "accept trigger"), only(t, got, "begin walk")
	again, tell := only(t, got, "retry"), only(t, got, "notify")
	for _, s := range []struct {
		span
		parent, role string
		kind         tracepb.Span_SpanKind
	}{
		{request, callersSpan, "api", tracepb.Span_SPAN_KIND_SERVER},
		{accept, id(request), "api", tracepb.Span_SPAN_KIND_PRODUCER},
		{begin, id(accept), "worker", tracepb.Span_SPAN_KIND_CONSUMER},
		{again, id(accept), "worker", tracepb.Span_SPAN_KIND_CONSUMER},
		{tell, id(accept), "worker", tracepb.Span_SPAN_KIND_CONSUMER},
		{got["walk slice"][0], id(accept), "worker", tracepb.Span_SPAN_KIND_CONSUMER},
	} {
		if parent := hex.EncodeToString(s.ParentSpanId); parent != s.parent || s.role != s.span.role || s.kind != s.Kind || s.service != "gridhook" {
			t.Errorf("%s is %s under %s, of %s as %s", s.Name, s.Kind, parent, s.service, s.span.role)
		}
	}
	// The requests are children of their messages, and their traceparents reach the
	// partner.
	messages, posts := map[string]bool{id(again): true, id(tell): true}, map[string]bool{}
	for _, s := range got["walk slice"] {
		messages[id(s)] = true
	}
	for _, s := range got["POST"] {
		if posts[id(s)] = true; !messages[hex.EncodeToString(s.ParentSpanId)] {
			t.Errorf("a request is a child of %x, which is not a message", s.ParentSpanId)
		}
	}
	told, requests := hook.of(callersTrace)
	// One home has a retry, and the completion is notified.
	if requests != homes+2 || len(told["01"]) != slices+2 {
		t.Errorf("%d requests had the trace, %d of them with the sampled flag; want %d and %d", requests, len(told["01"]), homes+2, slices+2)
	}
	for _, s := range told["01"] {
		if !posts[s] {
			t.Errorf("the partner got the span %s, which no request has", s)
		}
	}
	for _, s := range told["00"] {
		if !messages[s] {
			t.Errorf("the partner got the span %s, which no message has", s)
		}
	}
	if header := headerInNATS(t, natsURL, "GRIDHOOK_TRIGGERS"); header != "00-"+callersTrace+"-"+id(accept)+"-01" {
		t.Errorf("the trigger in NATS has the traceparent %q", header)
	}
	exemplified(t, w.main, "gridhook_http_request_duration_seconds", callersTrace)
	exemplified(t, worker, "gridhook_attempt_duration_seconds", callersTrace)
	w.unrecorded(c, hook, done.TriggerID, homes)
	w.testTraced(c, hook)
}

// testTraced checks that an endpoint's test is in the caller's trace.
func (w *world) testTraced(c *collector, hook *places) {
	w.t.Helper()
	list, _, err := w.operator.For("acme").Endpoints(w.t.Context(), client.Page{})
	w.must(err)
	_, err = traced(w.operator.For("acme"), "00-"+testTrace+"-"+callersSpan+"-01").TestEndpoint(w.t.Context(), list[0].ID)
	w.must(err)
	const operation = "POST /v1/webhook/endpoints/{id}/test"
	got := c.await(testTrace, func(by map[string][]span) bool { return len(by["POST"]) == 1 && len(by[operation]) == 1 })
	told, _ := hook.of(testTrace)
	if post := got["POST"][0]; hex.EncodeToString(post.ParentSpanId) != id(got[operation][0]) || !slices.Equal(told["01"], []string{id(post)}) {
		w.t.Errorf("the test's request is %s under %x, with the traceparent %v", id(post), post.ParentSpanId, told)
	}
}

// unrecorded checks that an unsampled trigger records nothing, and that its webhooks have
// the trace.
func (w *world) unrecorded(c *collector, hook *places, before string, homes int) {
	w.t.Helper()
	w.completed(before)
	recorded := c.count()
	done, err := traced(w.operator.For("acme"), "00-"+otherTrace+"-"+callersSpan+"-00").Trigger(w.t.Context(), client.TriggerRequest{})
	w.must(err)
	w.completed(done.TriggerID)
	told, requests := hook.of(otherTrace) // requests of the homes, and perhaps the notification
	if len(told["01"]) > 0 || requests < homes {
		w.t.Errorf("%d requests had the trace, and %v the sampled flag", requests, told["01"])
	}
	// After later spans of both processes, earlier ones have arrived too.
	_, err = traced(w.operator.For("acme"), "00-"+lastTrace+"-"+callersSpan+"-01").Trigger(w.t.Context(), client.TriggerRequest{})
	w.must(err)
	c.await(lastTrace, func(by map[string][]span) bool {
		return len(by["walk slice"]) > 0 && len(by["POST /v1/webhook/price_signal/trigger"]) == 1
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans[recorded:] {
		if hex.EncodeToString(s.TraceId) == otherTrace {
			w.t.Errorf("%s was recorded", s.Name)
		}
	}
}

// completed waits for the completion of a trigger.
func (w *world) completed(trigger string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	// These requests are not traced: there are many.
	quiet := traced(w.operator.For("acme"), "00-"+strings.Repeat("2", 32)+"-"+callersSpan+"-00")
	for {
		p, err := quiet.GetTrigger(ctx, trigger)
		w.must(err)
		if p.Status == events.TriggerCompleted {
			return
		}
		<-tick.C
	}
}

func id(s span) string { return hex.EncodeToString(s.SpanId) }

func only(t *testing.T, by map[string][]span, name string) span {
	t.Helper()
	if len(by[name]) != 1 {
		t.Fatalf("there are %d spans %s", len(by[name]), name)
	}
	return by[name][0]
}

// headerInNATS returns the traceparent of a stream's last message.
func headerInNATS(t *testing.T, url, stream string) string {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.GetMsg(t.Context(), s.CachedInfo().State.LastSeq)
	if err != nil {
		t.Fatal(err)
	}
	return m.Header.Get("Traceparent")
}

// exemplified checks that a histogram has an exemplar of a trace.
func exemplified(t *testing.T, g *blackbox.Gridhook, histogram, trace string) {
	t.Helper()
	text := scrape(t, g.Admin+"/metrics", "application/openmetrics-text; version=1.0.0")
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, histogram+"_bucket") && strings.Contains(line, fmt.Sprintf("# {trace_id=%q}", trace)) {
			return
		}
	}
	t.Errorf("%s has no exemplar of the trace", histogram)
}

// TestTraces_Default checks that a process without tracing records no trace.
func TestTraces_Default(t *testing.T) {
	t.Parallel()
	w := newWorld(t, start(t, "serve", t.TempDir()))
	hook := &places{got: map[string]int{}}
	w.organization("acme", 2, receiving(t, hook.take))
	done, err := traced(w.operator.For("acme"), "00-"+callersTrace+"-"+callersSpan+"-01").Trigger(t.Context(), client.TriggerRequest{})
	w.must(err)
	w.completed(done.TriggerID)
	hook.mu.Lock()
	defer hook.mu.Unlock()
	if hook.n < 2 || hook.got[""] != hook.n {
		t.Errorf("the webhooks had %v", hook.got)
	}
}

// TestTraces_CollectorDown checks that a collector that does not respond delays nothing.
func TestTraces_CollectorDown(t *testing.T) {
	t.Parallel()
	g := start(t, "serve", t.TempDir(), "--trace-endpoint", *nobody(t).URL)
	w := newWorld(t, g)
	w.organization("acme", 2, answering(t, http.StatusNoContent))
	done, err := w.operator.For("acme").Trigger(t.Context(), client.TriggerRequest{})
	w.must(err)
	w.completed(done.TriggerID)
	w.must(g.Stop(patience))
}
