package rest

import (
	"context"
	"fmt"
	"net/http"

	"github.com/gridhook/gridhook/storage"
)

// UnavailableSeconds is the delay in seconds before a retry of a failed write. It is
// about the time that the log takes to recover.
const UnavailableSeconds = 5

// Problems that are found before an operation starts.
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
	errSuspended = &Problem{
		Status: http.StatusForbidden, Code: CodeForbidden,
		Message:  "The organization is suspended.",
		Recovery: "Ask the operator of the service.",
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

func errOperatorRole(role storage.Role) *Problem {
	return &Problem{
		Status: http.StatusForbidden, Code: CodeForbidden,
		Message:  fmt.Sprintf("The operator key lacks the role %q.", role),
		Recovery: "Use an operator key that has the role.",
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

// Problems that an operation ends with.
var (
	ErrUnavailable = &Problem{
		Status: http.StatusServiceUnavailable, Code: CodeUnavailable, RetryAfter: UnavailableSeconds,
		Message:  "The service cannot take this now. Nothing was half done.",
		Recovery: "Send the same request again after retry_after_seconds.",
	}
	errOutcomeUnknown = &Problem{
		Status: http.StatusServiceUnavailable, Code: CodeUnavailable, RetryAfter: UnavailableSeconds,
		Message:  "The service did not confirm this in time. It may have been stored: the outcome is unknown.",
		Recovery: "Send the same request again after retry_after_seconds, with the same " + IdempotencyHeader + " if it had one: the answer says what was stored.",
	}
	ErrNotFound = &Problem{
		Status: http.StatusNotFound, Code: CodeNotFound,
		Message:  "There is no such thing for this organization.",
		Recovery: "Check the identifier.",
	}
	ErrExists = &Problem{
		Status: http.StatusConflict, Code: CodeConflict,
		Message:  "There is already one of this identifier.",
		Recovery: "Use another identifier, or change the one that exists.",
	}
	ErrConflict = &Problem{
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

// problemOf maps errors of other packages to problems. The first matching row applies. A
// write that timed out is UNAVAILABLE and not a timeout of the caller.
var problemOf = []struct {
	cause   error
	problem *Problem
}{
	{storage.ErrUnavailable, ErrUnavailable},
	{storage.ErrNotFound, ErrNotFound},
	{storage.ErrExists, ErrExists},
	{storage.ErrConflict, ErrConflict},
	{context.DeadlineExceeded, errTimeout},
	{context.Canceled, errTimeout},
}

// Problems returns all problems that a caller may see, at least one of each code.
// Problems with variable parts are examples.
func Problems() []Problem {
	example := Validation([]storage.FieldError{{Field: "endTime", Message: "must be after startTime"}})
	all := []*Problem{
		example, errMissingKey, errInvalidKey, errForbiddenOrganization, errSuspended, errScope(storage.ScopeWrite), errOperatorRole(storage.RoleAdmin), errPath, ErrNotFound, errNoOrganization, errMethod,
		errTimeout, ErrConflict, ErrExists, ErrOtherBody, errTooLarge(1 << 20), errMediaType(BodyRequired.MediaType()), errContentEncoding,
		errRate(1), errInternal, ErrUnavailable, errOutcomeUnknown,
	}
	shown := make([]Problem, len(all))
	for i, p := range all {
		shown[i] = *p
	}
	return shown
}
