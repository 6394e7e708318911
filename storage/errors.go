package storage

import (
	"errors"
	"fmt"
	"strings"
)

// Sentinels that callers match with errors.Is.
var (
	// ErrNotFound says that there is no such thing for this organization.
	ErrNotFound = errors.New("not found")
	// ErrExists says that a create met an entity of the same identifier.
	ErrExists = errors.New("already exists")
	// ErrConflict says that somebody else wrote first; read again and decide anew.
	ErrConflict = errors.New("changed by another writer")
	// ErrUnavailable says that the log of record cannot take the write now.
	// Nothing was half done, or the same write may be sent again safely.
	ErrUnavailable = errors.New("the log of record does not answer")
)

// FieldError is one thing that is wrong with one field.
type FieldError struct {
	Field   string `json:"field"`   // JSON path, such as "start.month"
	Message string `json:"message"` // what would be right
}

// InvalidError lists every field that is wrong, at once.
type InvalidError struct{ Fields []FieldError }

// Error joins the fields into one sentence.
func (e *InvalidError) Error() string {
	parts := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		parts[i] = f.Field + ": " + f.Message
	}
	return strings.Join(parts, "; ")
}

// Problems collects field errors; its zero value is ready.
type Problems struct{ fields []FieldError }

// Addf records that field is wrong.
func (p *Problems) Addf(field, format string, args ...any) {
	p.fields = append(p.fields, FieldError{Field: field, Message: fmt.Sprintf(format, args...)})
}

// Check records that field is wrong unless ok.
func (p *Problems) Check(ok bool, field, format string, args ...any) {
	if !ok {
		p.Addf(field, format, args...)
	}
}

// Err is nil when nothing was recorded, and an *InvalidError otherwise.
func (p *Problems) Err() error {
	if len(p.fields) == 0 {
		return nil
	}
	return &InvalidError{Fields: p.fields}
}
