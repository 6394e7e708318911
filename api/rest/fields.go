package rest

import (
	"github.com/gridhook/gridhook/storage"
)

// FieldErrors collects the wrong fields of a request.
type FieldErrors = storage.Problems

// BadID is the error message for an invalid identifier.
const BadID = "must match ^[A-Za-z0-9_-]{1,128}$"

// CheckID adds a field error unless id is a valid identifier.
func CheckID(p *FieldErrors, field, id string) { p.Check(storage.ValidID(id), field, BadID) }
