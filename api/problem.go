package api

import (
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
)

// Problem is an error as callers are shown it.
type Problem struct {
	Status int    `json:"-"`
	Code   string `json:"error_code"`
	// Message says what is wrong, Recovery what to do about it.
	Message  string `json:"message"`
	Recovery string `json:"recovery_action,omitempty"`
	// Fields name each wrong field where the request is what is wrong.
	Fields []storage.FieldError `json:"field_errors,omitempty"`
	// RetryAfter is in seconds, 0 where waiting does not help.
	RetryAfter int `json:"retry_after_seconds,omitempty"`
}

func (p *Problem) Error() string { return p.Code + ": " + p.Message }

// The error codes.
const (
	CodeValidationFailed     = "VALIDATION_FAILED"
	CodeMissingAPIKey        = "AUTH_MISSING_API_KEY" //nolint:gosec // the name of an error
	CodeInvalidAPIKey        = "AUTH_INVALID_API_KEY" //nolint:gosec // the name of an error
	CodeForbidden            = "FORBIDDEN"
	CodeNotFound             = "NOT_FOUND"
	CodeMethodNotAllowed     = "METHOD_NOT_ALLOWED"
	CodeConflict             = "CONFLICT"
	CodeRequestTimeout       = "REQUEST_TIMEOUT"
	CodePayloadTooLarge      = "PAYLOAD_TOO_LARGE"
	CodeUnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE"
	CodeRateLimited          = "RATE_LIMITED"
	CodeInternal             = "INTERNAL"
	CodeUnavailable          = "UNAVAILABLE"
)

// invalid is the error of one wrong field.
func invalid(field, message string) error {
	return &storage.InvalidError{Fields: []storage.FieldError{{Field: field, Message: message}}}
}

// publicProblem is the one place where an error becomes what the caller is
// shown. What it does not know is INTERNAL, and stays in the log.
func publicProblem(err error) *Problem {
	var (
		known       *Problem
		wrong       *storage.InvalidError
		window      *pricing.WindowError
		unpriceable *signals.Unpriceable
		transition  *storage.TransitionError
		tooLarge    *http.MaxBytesError
		network     net.Error
	)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &wrong):
		return validation(wrong.Fields)
	case errors.As(err, &window):
		return validation(windowFields(window))
	case errors.As(err, &unpriceable):
		return validation([]storage.FieldError{{Field: unpriceable.Field, Message: unpriceable.Reason}})
	case errors.As(err, &transition):
		return errTransition(transition)
	case errors.As(err, &tooLarge):
		return errTooLarge(tooLarge.Limit)
	}
	for _, row := range problemOf {
		if errors.Is(err, row.cause) {
			return row.problem
		}
	}
	if errors.As(err, &network) && network.Timeout() {
		return errTimeout
	}
	return errInternal
}

func validation(wrong []storage.FieldError) *Problem {
	p := &Problem{
		Status: http.StatusBadRequest, Code: CodeValidationFailed,
		Message:  "Request validation failed.",
		Recovery: "Correct the fields named in field_errors and send the request again.",
		Fields:   wrong,
	}
	if n := len(wrong); n > maxFieldErrors {
		p.Message = fmt.Sprintf("Request validation failed: %d fields are wrong, the first %d are named.", n, maxFieldErrors)
		p.Fields = wrong[:maxFieldErrors]
	}
	return p
}

func windowFields(w *pricing.WindowError) []storage.FieldError {
	wrong := make([]storage.FieldError, len(w.Fields))
	for i, f := range w.Fields {
		wrong[i] = storage.FieldError{Field: f.Field, Message: f.Message}
	}
	return wrong
}
