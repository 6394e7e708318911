package rest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/gridhook/gridhook/storage"
)

// Problem is an error in a response.
type Problem struct {
	Status int    `json:"-"`
	Code   string `json:"error_code"`
	// Message describes the error. Recovery says what to do.
	Message  string `json:"message"`
	Recovery string `json:"recovery_action,omitempty"`
	// Fields lists the wrong fields of an invalid request.
	Fields []storage.FieldError `json:"field_errors,omitempty"`
	// RetryAfter is the delay before a retry in seconds, or 0 if a retry does not help.
	RetryAfter int `json:"retry_after_seconds,omitempty"`
}

// NewProblem returns the problem of an error code.
func NewProblem(code, message, recovery string) *Problem {
	return &Problem{Status: statuses[code], Code: code, Message: message, Recovery: recovery}
}

// After sets the delay before a retry and returns the problem.
func (p *Problem) After(seconds int) *Problem {
	p.RetryAfter = seconds
	return p
}

func (p *Problem) Error() string { return p.Code + ": " + p.Message }

// Error codes of the API.
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

// statuses has the HTTP status of each error code.
var statuses = map[string]int{
	CodeValidationFailed: http.StatusBadRequest, CodeMissingAPIKey: http.StatusUnauthorized, CodeInvalidAPIKey: http.StatusUnauthorized,
	CodeForbidden: http.StatusForbidden, CodeNotFound: http.StatusNotFound, CodeMethodNotAllowed: http.StatusMethodNotAllowed,
	CodeConflict: http.StatusConflict, CodeRequestTimeout: http.StatusRequestTimeout, CodePayloadTooLarge: http.StatusRequestEntityTooLarge,
	CodeUnsupportedMediaType: http.StatusUnsupportedMediaType, CodeRateLimited: http.StatusTooManyRequests,
	CodeInternal: http.StatusInternalServerError, CodeUnavailable: http.StatusServiceUnavailable,
}

// FieldErrors collects the wrong fields of a request.
type FieldErrors = storage.Problems

// Invalid returns the error of one wrong field.
func Invalid(field, message string) error {
	return &storage.InvalidError{Fields: []storage.FieldError{{Field: field, Message: message}}}
}

// UnmaskURL replaces a masked query with the stored query of the same URL. had is the stored
// URL in the clear, empty if there is none.
func UnmaskURL(given *string, had, field string, p *FieldErrors) {
	switch {
	case *given == storage.MaskURL(had):
		*given = had
	case strings.HasSuffix(*given, "?"+storage.Masked):
		p.Addf(field, "requires the whole query: %s keeps only the stored query of the stored URL", storage.Masked)
	}
}

// PublicProblem converts an error for the response. It is the only place for this
// conversion. An unknown error becomes INTERNAL, and only the log has its text. explain
// may be nil.
func PublicProblem(err error, explain func(error) *Problem) *Problem {
	if explain != nil {
		if p := explain(err); p != nil {
			return p
		}
	}
	var (
		known    *Problem
		missing  *storage.NotFoundError
		taken    *storage.ExistsError
		damaged  *storage.DecodeError
		wrong    *storage.InvalidError
		tooLarge *http.MaxBytesError
	)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &missing):
		return errMissing(missing.Ref)
	case errors.As(err, &taken):
		return errTaken(taken.Ref)
	case errors.As(err, &damaged):
		return errDamaged(damaged.Ref)
	case errors.As(err, &wrong):
		return Validation(wrong.Fields)
	case errors.As(err, &tooLarge):
		return errTooLarge(tooLarge.Limit)
	case errors.Is(err, storage.ErrUnavailable) && errors.Is(err, context.DeadlineExceeded):
		return errOutcomeUnknown
	}
	for _, row := range problemOf {
		if errors.Is(err, row.cause) {
			return row.problem
		}
	}
	if network, ok := errors.AsType[net.Error](err); ok && network.Timeout() {
		return errTimeout
	}
	return errInternal
}

// maxFieldErrors is the maximum number of wrong fields in a response.
const maxFieldErrors = 100

// Validation returns the problem of wrong fields.
func Validation(wrong []storage.FieldError) *Problem {
	p := NewProblem(CodeValidationFailed, "Request validation failed.", "Correct the fields named in field_errors and send the request again.")
	p.Fields = wrong
	if n := len(wrong); n > maxFieldErrors {
		p.Message = fmt.Sprintf("Request validation failed: %d fields are wrong, field_errors has the first %d.", n, maxFieldErrors)
		p.Fields = wrong[:maxFieldErrors]
	}
	return p
}
