package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/gridhook/gridhook/storage"
)

// Error is the server's refusal.
type Error struct {
	// Status is the HTTP status.
	Status    int    `json:"-"`
	RequestID string `json:"request_id"`
	// Code is such as VALIDATION_FAILED; empty when what answered is no
	// Gridhook.
	Code    string `json:"error_code"`
	Message string `json:"message"`
	// RecoveryAction says what to do.
	RecoveryAction string `json:"recovery_action"`
	// FieldErrors name each wrong field.
	FieldErrors []storage.FieldError `json:"field_errors"`
	// RetryAfterSeconds is when to try again, 0 where waiting does not help.
	RetryAfterSeconds int `json:"retry_after_seconds"`
}

// The error codes that callers ask for most.
const (
	CodeValidationFailed = "VALIDATION_FAILED"
	CodeInvalidAPIKey    = "AUTH_INVALID_API_KEY" //nolint:gosec // the name of an error
	CodeMissingAPIKey    = "AUTH_MISSING_API_KEY" //nolint:gosec // the name of an error
	CodeForbidden        = "FORBIDDEN"
	CodeNotFound         = "NOT_FOUND"
	CodeConflict         = "CONFLICT"
	CodeRateLimited      = "RATE_LIMITED"
	CodeUnavailable      = "UNAVAILABLE"
)

// Error is one sentence with every wrong field, or the message.
func (e *Error) Error() string {
	if len(e.FieldErrors) == 0 {
		return e.Message
	}
	fields := make([]string, len(e.FieldErrors))
	for i, f := range e.FieldErrors {
		fields[i] = f.Field + ": " + f.Message
	}
	return strings.Join(fields, "; ")
}

// refusal reads the body of an answer that is not 200.
func refusal(r *http.Response, body []byte) error {
	e := &Error{}
	if err := json.Unmarshal(body, e); err != nil || e.Code == "" {
		e = &Error{
			RequestID: r.Header.Get(requestIDHeader),
			Message:   fmt.Sprintf("%s answered %s, but not as a Gridhook server does.", r.Request.URL.Host, r.Status),
		}
	}
	e.Status = r.StatusCode
	return e
}
