package rest

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Responder handles a call. It returns a value for the response, or an error.
type Responder func(w http.ResponseWriter, r *http.Request, c *Call) (any, error)

// Format encodes the values and errors of an interface.
type Format struct {
	// Value returns the status of a success and the value to encode.
	Value func(value any) (status int, shown any)
	// Problem returns the body of an error. It may set headers.
	Problem func(h http.Header, requestID string, p *Problem, err error) (shown any)
}

// ownFormat is the format of Gridhook's own operations.
var ownFormat = Format{
	Value: func(value any) (int, any) { return http.StatusOK, value },
	Problem: func(_ http.Header, requestID string, p *Problem, _ error) any {
		return ProblemBody{requestID, p}
	},
}

// Observe wraps a Responder. It assigns the request identifier, turns panics into errors,
// writes the response, measures it and logs it.
func (s *Server) Observe(operation string, f Format, respond Responder) http.Handler {
	if !strings.HasPrefix(operation, unmatched) { // the counter reads 0 before the first request
		s.metrics.requests.WithLabelValues(operation, "200")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now() // only measures the duration: the store has the clock
		s.metrics.inFlight.Inc()
		defer s.metrics.inFlight.Dec()
		c := &Call{Now: s.Store.Now(), Operation: operation, Client: s.clientAddress(r)}
		c.RequestID = requestID(r, c.Now)
		r, span := s.traced(r, operation)
		value, err := s.guarded(w, r, c, respond)
		s.audit(r, c, f, value, err)
		o := outcome{call: c, err: err}
		o.status, o.code = s.write(w, c, f, value, &o.err)
		o.took = time.Since(began)
		if sc := span.SpanContext(); sc.IsSampled() {
			o.trace = sc.TraceID().String()
		}
		endSpan(span, &o)
		s.metrics.observe(operation, &o)
		s.record(r, &o)
		if lines, ok := value.(Stream); ok && o.err == nil {
			s.stream(w, r, lines)
		}
	})
}

// requestID returns the caller's identifier if it is valid, otherwise a new identifier.
func requestID(r *http.Request, now time.Time) string {
	if given := r.Header.Values("X-Request-Id"); len(given) == 1 && storage.ValidID(given[0]) {
		return given[0]
	}
	return storage.NewID("req_", now)
}

// guarded runs respond and frees the body. The response is counted without the body, so that
// a request alone always gets it. A panic is an error with its stack, which only the log has.
func (s *Server) guarded(w http.ResponseWriter, r *http.Request, c *Call, respond Responder) (value any, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			value, err = nil, fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
		if c.Body = nil; c.release != nil {
			c.release()
		}
	}()
	return respond(w, r, c)
}

// ProblemBody is the body of an error response: the problem and the request's identifier.
type ProblemBody struct {
	RequestID string `json:"request_id"`
	*Problem
}

// Encoder is a value that encodes itself.
type Encoder interface{ AppendTo(b []byte) []byte }

// responseHeader has the headers of every response.
var responseHeader = http.Header{"X-Content-Type-Options": {"nosniff"}, "Cache-Control": {"no-store"}, "Content-Type": {"application/json"}}

// write writes the response. If the value fails to encode or exceeds the limit on the
// memory of bodies, write sets *err and writes that error instead.
func (s *Server) write(w http.ResponseWriter, c *Call, f Format, value any, err *error) (status int, code string) {
	if _, ok := value.(Stream); ok && *err == nil {
		writeStreamHead(w, c.RequestID)
		return http.StatusOK, ""
	}
	body, recycle := buffer()
	defer recycle()
	if *err == nil {
		status, value = f.Value(value)
		*err = Encode(body, value)
	}
	if *err == nil {
		var release func()
		if release, *err = s.bodies.hold(&c.Caller, int64(body.Len()), c.Change.Operation != ""); *err == nil {
			defer release()
		}
	}
	if *err != nil {
		return writeProblem(w, c.RequestID, f, PublicProblem(*err, s.Explain), *err)
	}
	writeHead(w, c.RequestID, status, body.Len())
	send(w, body.Bytes())
	return status, ""
}

// writeProblem writes an error response.
func writeProblem(w http.ResponseWriter, requestID string, f Format, p *Problem, err error) (status int, code string) {
	if p.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(p.RetryAfter))
	}
	var body bytes.Buffer
	_ = Encode(&body, f.Problem(w.Header(), requestID, p, err)) // text and numbers always encode
	writeHead(w, requestID, p.Status, body.Len())
	send(w, body.Bytes())
	return p.Status, p.Code
}

func writeHead(w http.ResponseWriter, requestID string, status, length int) {
	h := w.Header()
	maps.Copy(h, responseHeader)
	h.Set("X-Request-Id", requestID)
	h.Set("Content-Length", strconv.Itoa(length))
	w.WriteHeader(status)
}

// Refuse writes an error response in the format of operations. It is for requests that
// match no operation.
func Refuse(w http.ResponseWriter, r *http.Request, err error) {
	writeProblem(w, requestID(r, time.Now()), ownFormat, PublicProblem(err, nil), err)
}

// outcome is the result of a request for the log.
type outcome struct {
	call   *Call
	status int
	code   string
	took   time.Duration
	err    error
	trace  string // identifier of the trace, empty if not recorded
}

// record logs one line per request with all attributes. The line never contains a body or
// a key's secret. For an internal error, it contains the cause. The response does not.
func (s *Server) record(r *http.Request, o *outcome) {
	level := slog.LevelInfo
	failed := o.status >= http.StatusInternalServerError
	if failed {
		level = slog.LevelError
	}
	if !s.Log.Enabled(r.Context(), level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("operation", o.call.Operation),
		slog.Int("status", o.status),
		slog.String("request", o.call.RequestID),
		slog.Float64("ms", float64(o.took.Microseconds())/1000),
	}
	for _, named := range [...]struct{ name, text string }{
		{"code", o.code}, {"org", o.call.organization()}, {"key", o.call.KeyID}, {"client", o.call.Client}, {"trace", o.trace},
	} {
		if named.text != "" {
			attrs = append(attrs, slog.String(named.name, named.text))
		}
	}
	if o.call.Operator {
		attrs = append(attrs, slog.Bool("operator", true))
	}
	if failed {
		attrs = append(attrs, slog.Any("error", o.err))
	}
	s.Log.LogAttrs(r.Context(), level, "request", attrs...)
}

// organization returns the organization to act for, or an empty string if it is the
// operator, missing or unsafe to log.
func (c *Call) organization() string {
	if !storage.ValidID(c.Org) {
		return ""
	}
	return UnlessShared(c.Org)
}

// UnlessShared returns the owner of an entity, or an empty string if it is storage.Shared.
func UnlessShared(owner string) string {
	if owner == storage.Shared {
		return ""
	}
	return owner
}

// traced starts the span of a request. The parent is the caller's trace context. Without
// a tracer, or without a matching operation, the span does nothing.
func (s *Server) traced(r *http.Request, operation string) (*http.Request, trace.Span) {
	if s.Tracer == nil || operation == unmatched || r.Method != http.MethodPost {
		return r, trace.SpanFromContext(r.Context())
	}
	ctx := events.Traceparent(r.Header.Get(events.TraceHeader)).Under(r.Context())
	ctx, span := s.Tracer.Start(ctx, http.MethodPost+" "+operation, trace.WithSpanKind(trace.SpanKindServer))
	return r.WithContext(ctx), span
}

// endSpan ends a request's span with the attributes of the semantic conventions for HTTP
// servers. A client error is not an error of the server's span.
func endSpan(span trace.Span, o *outcome) {
	defer span.End()
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(
		attribute.String("http.request.method", http.MethodPost), attribute.String("http.route", o.call.Operation),
		attribute.Int("http.response.status_code", o.status), attribute.String("gridhook.request.id", o.call.RequestID),
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
