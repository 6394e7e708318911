package api

import (
	"reflect"
	"slices"
	"strings"

	"github.com/gridhook/gridhook/storage"
)

// Body says what an operation takes as its body.
type Body int

// The bodies.
const (
	// BodyNone takes nothing, or {}.
	BodyNone Body = iota
	// BodyOptional takes a JSON object; none is the same as {}.
	BodyOptional
	// BodyRequired takes a JSON object.
	BodyRequired
	// BodyLines takes NDJSON: one JSON object a line.
	BodyLines
)

func (b Body) required() bool { return b >= BodyRequired }

// mediaType is the Content-Type that a body must have.
func (b Body) mediaType() string {
	if b == BodyLines {
		return "application/x-ndjson"
	}
	return "application/json"
}

// Route is one operation: how it is reached, who may ask for it, and what it
// takes and gives. The router and the OpenAPI document are made of it.
type Route struct {
	// Path may have the one parameter {id}.
	Path string
	// Name is unique among the operations.
	Name string
	// Group is the operation's heading in the documentation.
	Group   string
	Summary string
	// Description says more than the summary where there is more to say.
	Description string
	// Scope is what a partner's key must have.
	Scope storage.Scope
	// Operator marks an operation that only the operator's key opens.
	Operator bool
	// Open marks an operation that takes no key.
	Open bool
	// Idempotent marks an operation that knows a repeat by IdempotencyHeader.
	Idempotent bool
	Body       Body
	// Partial marks an operation of which fields that are absent from the body
	// stay as they are.
	Partial bool
	// Errors are the codes beyond those that every operation of its kind has.
	Errors []string
	// In and Out are the types of the decoded body and of the answer.
	In, Out reflect.Type
	// Also is another type that the answer may have by what the body asks for, nil
	// where there is none.
	Also reflect.Type
	// Default is the input before the body is read, where fields that are
	// absent have a value; nil where they have none.
	Default any
	// Lines are the types of the lines of BodyLines.
	Lines []reflect.Type

	run operation
}

// do completes a row with the method that it runs.
func do[In, Out any](r Route, run method[In, Out]) Route {
	r.In, r.Out = reflect.TypeFor[In](), answerType(reflect.TypeFor[Out]())
	in := new(In)
	if with, ok := any(in).(defaulter); ok {
		with.setDefaults()
		if !r.Partial {
			r.Default = in
		}
	}
	if r.Body == BodyLines {
		r.Lines = lineTypes()
	}
	r.run = takes(r.Body, run)
	return r
}

// answerType is the type that an answer has as JSON, which for one that is
// encoded already is another than its Go type.
func answerType(t reflect.Type) reflect.Type {
	if made, ok := reflect.Zero(t).Interface().(encoder); ok {
		return made.documented()
	}
	return t
}

// forOrganization reports whether the operation is one of an organization's.
func (r *Route) forOrganization() bool { return !r.Operator && !r.Open }

// Codes are the error codes that the operation may answer, those of the
// operator's listener alone included.
func (r *Route) Codes() []string {
	codes := []string{CodeValidationFailed, CodeRequestTimeout, CodePayloadTooLarge, CodeUnsupportedMediaType, CodeInternal}
	if !r.Open {
		codes = append(codes, CodeMissingAPIKey, CodeInvalidAPIKey)
	}
	if !r.Operator {
		codes = append(codes, CodeRateLimited)
	}
	if r.forOrganization() {
		codes = append(codes, CodeForbidden)
	}
	if r.forOrganization() || strings.Contains(r.Path, "{id}") {
		codes = append(codes, CodeNotFound)
	}
	if r.Idempotent {
		codes = append(codes, CodeConflict)
	}
	codes = append(codes, r.Errors...)
	slices.Sort(codes)
	return slices.Compact(codes)
}

// Routes are all operations, the partners' first.
func Routes() []Route { return slices.Concat(partnerRoutes(), operatorRoutes()) }
