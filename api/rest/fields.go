package rest

import (
	"strings"

	"github.com/gridhook/gridhook/storage"
)

// FieldErrors collects the wrong fields of a request.
type FieldErrors struct{ storage.Problems }

// List returns the wrong fields.
func (p *FieldErrors) List() []storage.FieldError {
	if err, ok := p.Err().(*storage.InvalidError); ok { //nolint:errorlint // made by Problems itself
		return err.Fields
	}
	return nil
}

// Add adds errors of fields that have no error yet. A field of the wrong type, for
// example, is not also reported as required.
func (p *FieldErrors) Add(more []storage.FieldError) {
	known := p.List()
	for _, m := range more {
		if !covered(known, m.Field) {
			p.Addf(m.Field, "%s", m.Message)
		}
	}
}

// AddError adds the fields of an *storage.InvalidError. It returns every other error
// unchanged.
func (p *FieldErrors) AddError(err error) error {
	if err, ok := err.(*storage.InvalidError); ok { //nolint:errorlint // Validate returns it as it is
		p.Add(err.Fields)
		return nil
	}
	return err
}

// covered reports whether the list contains the field or one of its parents.
func covered(known []storage.FieldError, name string) bool {
	for _, k := range known {
		rest, ok := strings.CutPrefix(name, k.Field)
		if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// BadID is the error message for an invalid identifier.
const BadID = "must match ^[A-Za-z0-9_-]{1,128}$"

// CheckID adds a field error unless id is a valid identifier.
func CheckID(p *FieldErrors, field, id string) { p.Check(storage.ValidID(id), field, BadID) }

// OneOf returns the error message that lists a field's allowed values.
func OneOf[T ~string](values []T) string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = string(v)
	}
	return strings.Join(names, ", ")
}
