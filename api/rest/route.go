package rest

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// Body is the kind of an operation's body.
type Body int

// Kinds of bodies.
const (
	// BodyNone is an empty body or {}.
	BodyNone Body = iota
	// BodyOptional is a JSON object. An absent body means {}.
	BodyOptional
	// BodyRequired is a JSON object.
	BodyRequired
	// BodyLines is NDJSON, one JSON object a line.
	BodyLines
	// BodyXML is an XML document, which the operation reads from Call.Text. The document
	// names no organization, so that the header OrganizationHeader must.
	BodyXML
)

// Required reports whether a body is required.
func (b Body) Required() bool { return b >= BodyRequired }

// MediaType returns the required Content-Type of a body.
func (b Body) MediaType() string {
	switch b {
	case BodyLines:
		return linesType
	case BodyXML:
		return xmlType
	default:
		return "application/json"
	}
}

// Operation checks a call's body and runs the operation. It returns the wrong fields of
// the body together with c.Wrong.
type Operation func(ctx context.Context, c *Call) (any, error)

// Route is an operation with its path, its authorization and its types. The router and
// the OpenAPI document are built from routes.
type Route struct {
	// Path may contain the parameter {id} once.
	Path string
	// Name is unique among the operations.
	Name string
	// Group is the heading of the operation in the documentation.
	Group   string
	Summary string
	// Description adds to the summary. It may be empty.
	Description string
	// Scope is the scope that a partner's key needs.
	Scope storage.Scope
	// Role is the role that an operator key needs. It is empty for a partners' operation.
	Role storage.Role
	// OfOperator marks a partners' operation that an operator key may call without an
	// organization. It then acts for storage.Shared.
	OfOperator bool
	// Unaudited marks an operation without entries in the audit log, because its effect
	// has a log of its own.
	Unaudited bool
	// Open marks an operation that needs no key.
	Open bool
	// Idempotent marks an operation that accepts IdempotencyHeader.
	Idempotent bool
	Body       Body
	// Checks marks an operation that finds more wrong fields in c.Wrong. It runs even if
	// c.Wrong has fields, and must return c.Wrong.Err() before it stores anything.
	Checks bool
	// Partial marks an update: a field that is absent from the body keeps its value.
	Partial bool
	// Timeout is the timeout of the operation if it must be longer than Options.Timeout.
	// The write timeout is extended as well.
	Timeout time.Duration
	// EndsWithClient marks an operation that waits for long and stores nothing that its
	// client needs. It ends when the client disconnects.
	EndsWithClient bool
	// Errors are the error codes in addition to the common codes of such operations. If nil,
	// an operation that needs more than reading has CodeConflict and CodeUnavailable.
	Errors []string
	// In and Out are the types of the decoded body and of the response.
	In, Out reflect.Type
	// Streams marks an operation whose response is a Stream. Out is the type of a line.
	Streams bool
	// Also is an alternative type of the response that the body may request. It is nil if
	// there is no alternative.
	Also reflect.Type
	// Default is the input with the default values of absent fields. It is nil if there
	// are no defaults.
	Default any

	// Run runs the operation.
	Run Operation
}

// OperatorOnly reports whether the operation requires an operator key.
func (r *Route) OperatorOnly() bool { return r.Role != "" }

// ForOrganization reports whether the operation acts for an organization.
func (r *Route) ForOrganization() bool { return (!r.OperatorOnly() || r.Body == BodyXML) && !r.Open }

// ResponseType returns the Content-Type of the operation's response.
func (r *Route) ResponseType() string {
	if r.Streams {
		return linesType
	}
	return "application/json"
}

// Needs returns the role that an operator key needs. A partner's operation needs the role
// that corresponds to its scope.
func (r *Route) Needs() storage.Role {
	switch {
	case r.OperatorOnly():
		return r.Role
	case r.Scope == storage.ScopeRead, r.Scope == storage.ScopeHomes:
		return storage.RoleRead
	}
	return storage.RoleOperate
}

// Codes returns the error codes of the operation, including codes that only the
// operator's listener returns.
func (r *Route) Codes() []string {
	codes := []string{CodeValidationFailed, CodeRequestTimeout, CodePayloadTooLarge, CodeUnsupportedMediaType, CodeInternal}
	if !r.Open {
		codes = append(codes, CodeMissingAPIKey, CodeInvalidAPIKey, CodeForbidden)
	}
	if !r.OperatorOnly() {
		codes = append(codes, CodeRateLimited)
	}
	if r.ForOrganization() || strings.Contains(r.Path, "{id}") {
		codes = append(codes, CodeNotFound)
	}
	if r.Idempotent {
		codes = append(codes, CodeConflict)
	}
	if r.Errors == nil && r.Needs() != storage.RoleRead {
		codes = append(codes, CodeConflict, CodeUnavailable)
	}
	codes = append(codes, r.Errors...)
	slices.Sort(codes)
	return slices.Compact(codes)
}
