package rest

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/gridhook/gridhook/storage"
)

// UnavailableSeconds is the delay in seconds before a retry of a failed write. It is
// about the time that the log takes to recover.
const UnavailableSeconds = 5

// Problems that are found before an operation starts.
var (
	errPath = NewProblem(CodeNotFound, "There is no operation at this path.",
		"Check the path: /docs lists the operations. Every operation is a POST to a path that begins with /v1.")
	errMethod     = NewProblem(CodeMethodNotAllowed, "This operation requires the method POST.", "Send the request as a POST.")
	errReadOnly   = NewProblem(CodeMethodNotAllowed, "This document requires the method GET.", "Send the request as a GET.")
	errMissingKey = NewProblem(CodeMissingAPIKey, "The header "+KeyHeader+" is missing.",
		"Provide the header "+KeyHeader+". If this behavior contradicts the published contract, submit feedback via /v1/feedback.")
	errBearer = NewProblem(CodeMissingAPIKey, "The header "+KeyHeader+" is missing. The header Authorization is not read.",
		"Provide the API key in the header "+KeyHeader+". If this behavior contradicts the published contract, submit feedback via /v1/feedback.")
	errInvalidKey = NewProblem(CodeInvalidAPIKey, "The API key is not valid.",
		"Send one "+KeyHeader+" header with a key that is neither revoked nor expired.")
	errSuspended       = NewProblem(CodeForbidden, "The organization is suspended.", "Ask the operator of the service.")
	errContentEncoding = NewProblem(CodeUnsupportedMediaType, "A body with a Content-Encoding is not supported.",
		"Send the body without compression and without the header Content-Encoding.")
)

// errForbiddenOrganization refuses an organization, whether it exists or not.
func errForbiddenOrganization(id string) *Problem {
	return NewProblem(CodeForbidden, fmt.Sprintf("The API key may not act for organization %q.", id),
		"Omit organizationId and the header "+OrganizationHeader+" to act for the key's own organization, or use a key of that organization.")
}

// errOrganization says that the organization of the header does not exist.
func errOrganization(id string) *Problem {
	return NewProblem(CodeNotFound, fmt.Sprintf("The organization %q in the header %s does not exist.", id, OrganizationHeader),
		"Create the organization first, or name another organization.")
}

func errScope(s storage.Scope) *Problem {
	return NewProblem(CodeForbidden, fmt.Sprintf("The API key lacks the scope %q.", s), "Use a key that has the scope.")
}

func errOperatorRole(role storage.Role) *Problem {
	return NewProblem(CodeForbidden, fmt.Sprintf("The operator key lacks the role %q.", role), "Use an operator key that has the role.")
}

func errMediaType(want string) *Problem {
	return NewProblem(CodeUnsupportedMediaType, "The body must be "+want+" in UTF-8.", "Send one header Content-Type: "+want+".")
}

func errRate(who string, seconds int) *Problem {
	return NewProblem(CodeRateLimited, who+" has sent too many requests.", "Retry after retry_after_seconds, and send fewer requests a second.").After(seconds)
}

func errNewKeys(whose string, perDay, seconds int) *Problem {
	return NewProblem(CodeRateLimited, fmt.Sprintf("The %s has reached the limit max-idempotency-keys: %d new keys a day.", whose, perDay),
		"Retry after retry_after_seconds, or ask the operator to raise the limit. Earlier keys stay valid.").After(seconds)
}

func errTooLarge(limit int64) *Problem {
	return NewProblem(CodePayloadTooLarge, fmt.Sprintf("The body is larger than %d bytes.", limit), "Send less in one request.")
}

// Problems that an operation ends with.
var (
	ErrUnavailable = NewProblem(CodeUnavailable, "The service cannot process the request now. Nothing was stored.",
		"Send the same request again after retry_after_seconds.").After(UnavailableSeconds)
	errOutcomeUnknown = NewProblem(CodeUnavailable, "The service did not confirm the write in time. The outcome is unknown: the write may have been stored.",
		"Send the same request again after retry_after_seconds, with the same "+IdempotencyHeader+" if it had one. The response says what was stored.").After(UnavailableSeconds)
	ErrNotFound = NewProblem(CodeNotFound, "The resource does not exist in this organization.", "Check the identifier.")
	ErrExists   = NewProblem(CodeConflict, "A resource with this identifier exists already.", "Use another identifier, or change the existing resource.")
	ErrConflict = NewProblem(CodeConflict, "Another request changed the resource at the same time.", "Read the resource again, and repeat the change if it still applies.")
	errLeft     = NewProblem(CodeRequestTimeout, "The client disconnected before the response.", "Send the request again, and keep the connection open until the response.")
	errTimeout  = NewProblem(CodeRequestTimeout, "The request did not complete in time.", "Send the request again, the body without pauses.")
	errInternal = NewProblem(CodeInternal, "The server failed to process the request.", "Retry later. If the error persists, report the request_id.")
)

// KindDelivery names a delivery in an error. Deliveries are not stored as entities.
const KindDelivery storage.Kind = "delivery"

// errMissing names the entity that does not exist.
func errMissing(ref storage.Ref) *Problem {
	if ref.Kind == storage.KindUserPreferences {
		return NewProblem(CodeNotFound, fmt.Sprintf("The HVAC device %q has no user preferences.", ref.ID), "Ask the operator to import the device's preferences.")
	}
	message, recovery := fmt.Sprintf("There is no %s %q", words(ref.Kind), ref.ID), ErrNotFound.Recovery
	switch {
	case ref.Org == storage.Shared && (ref.Kind == storage.KindChannel || ref.Kind == KindDelivery):
		message, recovery = message+" of the operator", "Check the identifier, and name the organization if it belongs to one."
	case ref.Org != "" && ref.Org != storage.Shared:
		message += fmt.Sprintf(" in organization %q", ref.Org)
	}
	return NewProblem(CodeNotFound, message+".", recovery)
}

// errTaken names the entity that exists.
func errTaken(ref storage.Ref) *Problem {
	return NewProblem(CodeConflict, fmt.Sprintf("The %s %q exists already.", words(ref.Kind), ref.ID), ErrExists.Recovery)
}

// errDamaged names the entity whose record does not decode.
func errDamaged(ref storage.Ref) *Problem {
	recovery := "Delete it and create it again, or ask the operator to import it. If the error persists, report the request_id."
	if ref.Kind == storage.KindKey {
		recovery = "Use another key. This one is refused, as if it were revoked."
	}
	return NewProblem(CodeInternal, fmt.Sprintf("The stored %s %q cannot be decoded.", words(ref.Kind), ref.ID), recovery)
}

// words returns the name of a kind in words, such as "rate plan".
func words(kind storage.Kind) string {
	var text strings.Builder
	for _, c := range string(kind) {
		if unicode.IsUpper(c) {
			text.WriteByte(' ')
		}
		text.WriteRune(unicode.ToLower(c))
	}
	return strings.Replace(text.String(), "hvac", "HVAC", 1)
}

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
func Problems() []*Problem {
	example := Validation([]storage.FieldError{{Field: "endTime", Message: "must be after startTime"}})
	return []*Problem{
		example, errMissingKey, errBearer, errInvalidKey, errForbiddenOrganization("acme"), errSuspended, errScope(storage.ScopeWrite), errOperatorRole(storage.RoleAdmin), errPath, ErrNotFound, errOrganization("acme"), errMethod,
		errTimeout, ErrConflict, ErrExists, ErrOtherBody, errTooLarge(1 << 20), errMediaType(BodyRequired.MediaType()), errContentEncoding,
		errRate("The API key", 1), errInternal, ErrUnavailable, errOutcomeUnknown,
	}
}
