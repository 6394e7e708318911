package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/gridhook/gridhook/storage"
)

// Error is a refusal by the server.
type Error struct {
	// Status is the HTTP status.
	Status    int    `json:"-"`
	RequestID string `json:"request_id"`
	// Code is an error code such as VALIDATION_FAILED. It is empty if the responder is
	// not a Gridhook server.
	Code    string `json:"error_code"`
	Message string `json:"message"`
	// RecoveryAction says how to recover.
	RecoveryAction string `json:"recovery_action"`
	// FieldErrors lists the wrong fields.
	FieldErrors []storage.FieldError `json:"field_errors"`
	// RetryAfterSeconds is the delay before a retry, or 0 if a retry does not help.
	RetryAfterSeconds int `json:"retry_after_seconds"`
}

// Common error codes.
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

// Error returns one sentence with every wrong field, or the message if no field is wrong.
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

// serverError decodes a response with a status other than 200.
func serverError(r *http.Response, body []byte) error {
	e := &Error{}
	if err := json.Unmarshal(body, e); err != nil || e.Code == "" {
		e = &Error{
			RequestID: r.Header.Get(requestIDHeader),
			Message:   fmt.Sprintf("%s responded %s, but not like a Gridhook server.", r.Request.URL.Host, r.Status),
		}
		if to := r.Header.Get("Location"); r.StatusCode/100 == 3 && to != "" {
			e.Message = fmt.Sprintf("%s redirects to %q, and redirects are not followed: use the address of the Gridhook server.", r.Request.URL.Host, to)
		}
	}
	e.Status = r.StatusCode
	return e
}
