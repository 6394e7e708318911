package rest

import (
	"fmt"
	"strings"

	"github.com/gridhook/gridhook/storage"
)

// FieldErrors collects the wrong fields of a request, with one error for each field. A
// field of the wrong type, for example, is not also reported as required.
type FieldErrors struct{ list []storage.FieldError }

// List returns the wrong fields.
func (p *FieldErrors) List() []storage.FieldError { return p.list }

// Addf adds an error of a field, unless the field or one of its parents has an error.
func (p *FieldErrors) Addf(field, format string, args ...any) {
	if !covered(p.list, field) {
		p.list = append(p.list, storage.FieldError{Field: field, Message: fmt.Sprintf(format, args...)})
	}
}

// Check adds an error of a field unless ok.
func (p *FieldErrors) Check(ok bool, field, format string, args ...any) {
	if !ok {
		p.Addf(field, format, args...)
	}
}

// Add adds errors of fields.
func (p *FieldErrors) Add(more []storage.FieldError) {
	for _, m := range more {
		p.Addf(m.Field, "%s", m.Message)
	}
}

// Err returns an *storage.InvalidError, or nil if no field is wrong.
func (p *FieldErrors) Err() error {
	if len(p.list) == 0 {
		return nil
	}
	return &storage.InvalidError{Fields: p.list}
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

// With adds the fields of an *storage.InvalidError and returns all wrong fields as an
// error. It returns every other error unchanged.
func (p *FieldErrors) With(err error) error {
	if err := p.AddError(err); err != nil {
		return err
	}
	return p.Err()
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
