package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// answerer is what answers a call: a value to write as JSON, or an error.
type answerer func(w http.ResponseWriter, r *http.Request, c *call) (any, error)

// observe is around every answer: it gives the request its identifier, turns
// panics into errors, writes the one answer, measures it and logs it.
func (s *server) observe(operation string, answer answerer) http.Handler {
	measured := s.metrics.of(operation)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now() // for measuring alone: s.Now tells the time
		s.metrics.inFlight.Inc()
		defer s.metrics.inFlight.Dec()
		c := &call{now: s.Now(), operation: operation}
		c.requestID = requestID(r, c.now)
		r, span := s.traced(r, operation)
		value, err := s.guarded(w, r, c, answer)
		o := outcome{call: c, err: err}
		o.status, o.code = write(w, c.requestID, value, &o.err)
		o.took = time.Since(began)
		o.trace = traceOf(span)
		endSpan(span, &o)
		measured.observe(&o)
		s.record(r, &o)
	})
}

// requestID is the caller's own if it is a valid one, and a new one otherwise.
func requestID(r *http.Request, now time.Time) string {
	if given := r.Header.Values("X-Request-Id"); len(given) == 1 && storage.ValidID(given[0]) {
		return given[0]
	}
	return storage.NewID("req_", now)
}

// panicError is a panic as an error, with the stack for the log.
type panicError struct {
	cause any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.cause) }

func (s *server) guarded(w http.ResponseWriter, r *http.Request, c *call, answer answerer) (value any, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			value, err = nil, &panicError{cause, debug.Stack()}
		}
	}()
	return answer(w, r, c)
}

// problemBody is the error body: the problem with the request it belongs to.
type problemBody struct {
	RequestID string `json:"request_id"`
	*Problem
}

// encoder is a value that writes its own JSON, of a type that documents it.
type encoder interface {
	appendTo(b []byte) []byte
	documented() reflect.Type
}

// The values of headers that are the same on every answer, and are not to be changed.
var (
	nosniff = []string{"nosniff"}
	noStore = []string{"no-store"}
	isJSON  = []string{"application/json"}
)

// write writes the one answer. What does not encode becomes *err, which is then
// what is answered.
func write(w http.ResponseWriter, requestID string, value any, err *error) (status int, code string) {
	status = http.StatusOK
	answer := newAnswer()
	defer answer.done()
	if *err == nil {
		*err = answer.encode(value)
	}
	if *err != nil {
		p := publicProblem(*err)
		status, code = p.Status, p.Code
		answer.Reset()
		_ = answer.encode(problemBody{requestID, p}) // text and numbers
		if p.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(p.RetryAfter))
		}
	}
	h := w.Header()
	h["X-Request-Id"] = []string{requestID}
	h["X-Content-Type-Options"] = nosniff
	h["Cache-Control"] = noStore
	h["Content-Type"] = isJSON
	h["Content-Length"] = []string{strconv.Itoa(answer.Len())}
	w.WriteHeader(status)
	_, _ = w.Write(answer.Bytes()) //nolint:gosec // it is JSON, and said to be; the caller may be gone
	return status, code
}

// Refuse answers a request for what is no operation as operations are refused.
func Refuse(w http.ResponseWriter, r *http.Request, err error) {
	write(w, requestID(r, time.Now()), nil, &err)
}

// outcome is what became of a request, for the log.
type outcome struct {
	call   *call
	status int
	code   string
	took   time.Duration
	err    error
	trace  string // that it is recorded in, if any
}

// record logs one wide line a request. It never says what was in a body, nor a
// key's secret; of a fault it says the cause, which the caller is not told.
func (s *server) record(r *http.Request, o *outcome) {
	level := slog.LevelInfo
	failed := o.status >= http.StatusInternalServerError
	// What was given up because the caller is gone is no fault of ours.
	abandoned := errors.Is(o.err, context.Canceled) && errors.Is(context.Cause(r.Context()), context.Canceled)
	if failed && !abandoned {
		level = slog.LevelError
	}
	if !s.Log.Enabled(r.Context(), level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("operation", o.call.operation),
		slog.Int("status", o.status),
		slog.String("request", o.call.requestID),
		slog.Float64("ms", float64(o.took.Microseconds())/1000),
	}
	for _, named := range [...]struct{ name, text string }{
		{"code", o.code}, {"organization", o.call.organization()}, {"key", o.call.keyID}, {"trace", o.trace},
	} {
		if named.text != "" {
			attrs = append(attrs, slog.String(named.name, named.text))
		}
	}
	if o.call.operator {
		attrs = append(attrs, slog.Bool("operator", true))
	}
	if failed {
		attrs = append(attrs, slog.Any("error", o.err))
		if p, ok := o.err.(*panicError); ok { //nolint:errorlint // made by guarded, never wrapped
			attrs = append(attrs, slog.String("stack", string(p.stack)))
		}
	}
	s.Log.LogAttrs(r.Context(), level, "request", attrs...)
}

// organization is who is acted for, if that is known and safe to log.
func (c *call) organization() string {
	if !storage.ValidID(c.org) {
		return ""
	}
	return c.org
}
