package api

import (
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/gridhook/gridhook/events"
)

// traced begins the span of a request, at the place in a trace that its caller tells.
// Without a tracer, and for what is no operation, the span is one that does nothing.
func (s *server) traced(r *http.Request, operation string) (*http.Request, trace.Span) {
	if s.Tracer == nil || operation == unmatched || r.Method != http.MethodPost {
		return r, trace.SpanFromContext(r.Context())
	}
	ctx := events.Traceparent(r.Header.Get(events.TraceHeader)).Under(r.Context())
	ctx, span := s.Tracer.Start(ctx, http.MethodPost+" "+operation, trace.WithSpanKind(trace.SpanKindServer))
	return r.WithContext(ctx), span
}

// endSpan says how a request ended, as the conventions for HTTP servers have it: what
// the caller did wrong is no error of the server's.
func endSpan(span trace.Span, o *outcome) {
	defer span.End()
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(
		attribute.String("http.request.method", http.MethodPost), attribute.String("http.route", o.call.operation),
		attribute.Int("http.response.status_code", o.status), attribute.String("gridhook.request.id", o.call.requestID),
	)
	if org := o.call.organization(); org != "" {
		span.SetAttributes(attribute.String("gridhook.organization.id", org))
	}
	if o.code != "" {
		span.SetAttributes(attribute.String("error.type", o.code))
	}
	if o.status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, o.code)
	}
}

// traceOf is the trace that a span is recorded in, empty where it is in none.
func traceOf(span trace.Span) string {
	if sc := span.SpanContext(); sc.IsSampled() {
		return sc.TraceID().String()
	}
	return ""
}
