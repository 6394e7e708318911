package tracing

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/gridhook/gridhook/events"
)

// TestTracing_OffAllocatesNothing checks that tracing allocates nothing while it is off.
func TestTracing_OffAllocatesNothing(t *testing.T) {
	handle := func(context.Context, events.Slice, events.Taken) error { return nil }
	s := events.Slice{Trigger: events.Trigger{ID: "trg_1"}}
	handler := Handle(nil, "walk slice", Slice, handle)
	if n := testing.AllocsPerRun(100, func() { _ = handler(t.Context(), s, events.Taken{}) }); n > 0 {
		t.Errorf("without a tracer a slice costs %v more allocations", n)
	}
}

// TestTracing_NoParent checks that a trigger without a traceparent gets no span, for
// example one of a process without a tracer.
func TestTracing_NoParent(t *testing.T) {
	tracer := &countingTracer{}
	handler := Handle(tracer, "walk slice", Slice, func(context.Context, events.Slice, events.Taken) error { return nil })
	s := events.Slice{}
	for _, place := range []events.Traceparent{"", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"} {
		s.Trigger.Traceparent = place
		if err := handler(t.Context(), s, events.Taken{}); err != nil {
			t.Fatal(err)
		}
	}
	if tracer.begun != 1 {
		t.Errorf("%d spans, want only the span of the slice with a traceparent", tracer.begun)
	}
}

// countingTracer counts started spans.
type countingTracer struct {
	noop.Tracer
	begun int
}

func (c *countingTracer) Start(ctx context.Context, name string, o ...trace.SpanStartOption) (context.Context, trace.Span) {
	c.begun++
	return c.Tracer.Start(ctx, name, o...)
}
