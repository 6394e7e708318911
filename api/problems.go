package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/gridhook/gridhook/storage"
)

// unavailableSeconds is when to try again what could not be stored: about as
// long as the log takes to come back.
const unavailableSeconds = 5

// The problems that are found before an operation begins.
var (
	errPath = &Problem{
		Status: http.StatusNotFound, Code: CodeNotFound,
		Message:  "There is no operation at this path.",
		Recovery: "Check the path: every operation is a POST to a path that begins with /v1.",
	}
	errMethod = &Problem{
		Status: http.StatusMethodNotAllowed, Code: CodeMethodNotAllowed,
		Message:  "This operation takes no other method than POST.",
		Recovery: "Send the request again as a POST.",
	}
	errReadOnly = &Problem{
		Status: http.StatusMethodNotAllowed, Code: CodeMethodNotAllowed,
		Message:  "This is a document to read.",
		Recovery: "Send the request again as a GET.",
	}
	errMissingKey = &Problem{
		Status: http.StatusUnauthorized, Code: CodeMissingAPIKey,
		Message:  "The header " + KeyHeader + " is missing.",
		Recovery: "Provide the header " + KeyHeader + ". If this behavior contradicts the published contract, submit feedback via /v1/feedback.",
	}
	errInvalidKey = &Problem{
		Status: http.StatusUnauthorized, Code: CodeInvalidAPIKey,
		Message:  "The API key is not valid.",
		Recovery: "Send one " + KeyHeader + " header with a key that is neither revoked nor expired.",
	}
	errForbiddenOrganization = &Problem{
		Status: http.StatusForbidden, Code: CodeForbidden,
		Message:  "The API key may not act for that organization.",
		Recovery: "Leave organizationId out to act for the key's own organization, or use that organization's key.",
	}
	errNoOrganization = &Problem{
		Status: http.StatusNotFound, Code: CodeNotFound,
		Message:  "There is no organization of the identifier in " + OrganizationHeader + ".",
		Recovery: "Create the organization first, or name another.",
	}
	errContentEncoding = &Problem{
		Status: http.StatusUnsupportedMediaType, Code: CodeUnsupportedMediaType,
		Message:  "Encoded bodies are not taken.",
		Recovery: "Send the body as it is, without a Content-Encoding header.",
	}
)

func errScope(s storage.Scope) *Problem {
	return &Problem{
		Status: http.StatusForbidden, Code: CodeForbidden,
		Message:  fmt.Sprintf("The API key lacks the scope %q.", s),
		Recovery: "Use a key that has the scope.",
	}
}

func errMediaType(want string) *Problem {
	return &Problem{
		Status: http.StatusUnsupportedMediaType, Code: CodeUnsupportedMediaType,
		Message:  "The body must be " + want + " in UTF-8.",
		Recovery: "Send one header Content-Type: " + want + ".",
	}
}

func errRate(seconds int) *Problem {
	return &Problem{
		Status: http.StatusTooManyRequests, Code: CodeRateLimited, RetryAfter: seconds,
		Message:  "The API key has sent too many requests.",
		Recovery: "Send again after retry_after_seconds, and more slowly.",
	}
}

func errAddressRate(seconds int) *Problem {
	p := *errRate(seconds)
	p.Message = "Too much was sent from this address."
	return &p
}

func errTooLarge(limit int64) *Problem {
	return &Problem{
		Status: http.StatusRequestEntityTooLarge, Code: CodePayloadTooLarge,
		Message:  fmt.Sprintf("The body is larger than %d bytes.", limit),
		Recovery: "Send less in one request.",
	}
}

// The problems that an operation ends with.
var (
	errUnavailable = &Problem{
		Status: http.StatusServiceUnavailable, Code: CodeUnavailable, RetryAfter: unavailableSeconds,
		Message:  "The service cannot take this now. Nothing was half done.",
		Recovery: "Send the same request again after retry_after_seconds.",
	}
	errNotFound = &Problem{
		Status: http.StatusNotFound, Code: CodeNotFound,
		Message:  "There is no such thing for this organization.",
		Recovery: "Check the identifier.",
	}
	errExists = &Problem{
		Status: http.StatusConflict, Code: CodeConflict,
		Message:  "There is already one of this identifier.",
		Recovery: "Use another identifier, or change the one that exists.",
	}
	errConflict = &Problem{
		Status: http.StatusConflict, Code: CodeConflict,
		Message:  "Somebody else changed it at the same time.",
		Recovery: "Read it again, and repeat the change if it still applies.",
	}
	errTimeout = &Problem{
		Status: http.StatusRequestTimeout, Code: CodeRequestTimeout,
		Message:  "The request did not end in time.",
		Recovery: "Send it again, the body without pauses.",
	}
	errInternal = &Problem{
		Status: http.StatusInternalServerError, Code: CodeInternal,
		Message:  "Something went wrong on the server's side.",
		Recovery: "Send the request again later; if it goes on, report the request_id.",
	}
)

func errTransition(t *storage.TransitionError) *Problem {
	message := t.Error()
	return &Problem{
		Status: http.StatusConflict, Code: CodeConflict,
		Message:  strings.ToUpper(message[:1]) + message[1:] + ".",
		Recovery: "Get the onboarding's status, and do what it allows.",
	}
}

// problemOf is the table of the errors that come from below. The first row that
// matches counts: what could not be stored in time is UNAVAILABLE, not a
// time-out of the caller's.
var problemOf = []struct {
	cause   error
	problem *Problem
}{
	{storage.ErrUnavailable, errUnavailable},
	{errNoTurn, errUnavailable},
	{storage.ErrNotFound, errNotFound},
	{storage.ErrExists, errExists},
	{storage.ErrConflict, errConflict},
	{context.DeadlineExceeded, errTimeout},
	{context.Canceled, errTimeout},
}

// Problems are the problems that a caller may be shown, at least one of each code.
// What depends on the request in them is an example.
func Problems() []Problem {
	example := validation([]storage.FieldError{{Field: "endTime", Message: "must be after startTime"}})
	all := []*Problem{
		example, errMissingKey, errInvalidKey, errForbiddenOrganization, errScope(storage.ScopeWrite), errPath, errNotFound, errNoOrganization, errMethod,
		errTimeout, errConflict, errExists, errOtherBody, errKeyEnded, errTooLarge(1 << 20), errMediaType(BodyRequired.mediaType()), errContentEncoding,
		errRate(1), errInternal, errUnavailable,
	}
	shown := make([]Problem, len(all))
	for i, p := range all {
		shown[i] = *p
	}
	return shown
}
