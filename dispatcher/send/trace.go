package send

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/gridhook/gridhook/dispatcher/policy"
	"github.com/gridhook/gridhook/events"
)

// Send makes one attempt. The first TracedRequests requests of a message have their own
// spans. The endpoint receives the trace context in a header.
func (s *Sender) Send(ctx context.Context, d *Destination, r *Request) Attempt {
	if s.opt.Tracer == nil {
		return s.post(ctx, d, r)
	}
	around := trace.SpanContextFromContext(ctx)
	if !around.IsSampled() || r.Number >= s.opt.TracedRequests {
		return s.post(ctx, d, r, traceHeader(around.WithTraceFlags(around.TraceFlags().WithSampled(false)))...)
	}
	ctx, span := s.opt.Tracer.Start(ctx, "POST", trace.WithSpanKind(trace.SpanKindClient))
	defer span.End()
	a := s.post(ctx, d, r, traceHeader(span.SpanContext())...)
	a.TraceID = span.SpanContext().TraceID()
	span.SetAttributes(a.attributes(d, r.ID)...)
	if a.Verdict() != policy.Delivered {
		span.SetStatus(codes.Error, a.Summary())
	}
	return a
}

// traceHeader returns the traceparent header of a trace context, nil without a trace.
func traceHeader(at trace.SpanContext) []Header {
	place := events.TraceparentOf(at)
	if place == "" {
		return nil
	}
	return []Header{{Name: events.TraceHeader, Value: string(place)}}
}

// attributes returns a request's attributes by the OpenTelemetry conventions for HTTP
// clients. The messages of a batch share its identifier.
func (a *Attempt) attributes(d *Destination, id string) []attribute.KeyValue {
	list := []attribute.KeyValue{
		attribute.String("http.request.method", "POST"), attribute.String("server.address", d.URL.Hostname()),
		attribute.String("gridhook.endpoint.id", d.EndpointID), attribute.String("gridhook.webhook.id", id),
	}
	if a.Status != 0 {
		list = append(list, attribute.Int("http.response.status_code", a.Status))
	}
	if kind := a.ErrorClass(); kind != "" {
		list = append(list, attribute.String("error.type", string(kind)))
	}
	return list
}

// Summary returns the error of the attempt, or its status.
func (a *Attempt) Summary() string {
	if a.Err != nil {
		return a.Reason()
	}
	return statusLine(a.Status)
}
