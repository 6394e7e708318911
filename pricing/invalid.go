package pricing

import (
	"fmt"
	"strings"
)

// FieldError is one error in one field.
type FieldError struct {
	Field   string `json:"field" doc:"The field, as a JSON path such as start.month."`
	Message string `json:"message" doc:"The correct value." example:"Does a day have 92 intervals then?"`
}

// InvalidError lists every wrong field.
type InvalidError struct{ Fields []FieldError }

// Error names the first few fields and counts the others.
func (e *InvalidError) Error() string {
	const shown = 5
	var parts []string
	for _, f := range e.Fields[:min(shown, len(e.Fields))] {
		parts = append(parts, strings.TrimPrefix(f.Field+": "+f.Message, ": "))
	}
	if more := len(e.Fields) - shown; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}

// Invalid returns the *InvalidError of one field.
func Invalid(field, format string, args ...any) error {
	return &InvalidError{Fields: []FieldError{{Field: field, Message: fmt.Sprintf(format, args...)}}}
}

// Problems collects up to maxProblems wrong fields, with one error for each field. A field
// of the wrong type, for example, is not also reported as required. Its zero value is ready
// to use.
type Problems struct{ list []FieldError }

// maxProblems bounds the time for a request with very many wrong fields: each error is
// compared with all others. A response lists fewer.
const maxProblems = 1000

// List returns the wrong fields.
func (p *Problems) List() []FieldError { return p.list }

// Addf adds an error of a field, unless the field or one of its parents has an error, or
// the list is full.
func (p *Problems) Addf(field, format string, args ...any) {
	if len(p.list) < maxProblems && !p.covers(field) {
		p.list = append(p.list, FieldError{Field: field, Message: fmt.Sprintf(format, args...)})
	}
}

// Check adds an error of a field unless ok.
func (p *Problems) Check(ok bool, field, format string, args ...any) {
	if !ok {
		p.Addf(field, format, args...)
	}
}

// Add adds errors of fields.
func (p *Problems) Add(more []FieldError) {
	for _, m := range more {
		p.Addf(m.Field, "%s", m.Message)
	}
}

// Err returns an *InvalidError, or nil if no field is wrong.
func (p *Problems) Err() error {
	if len(p.list) == 0 {
		return nil
	}
	return &InvalidError{Fields: p.list}
}

// covers reports whether the list contains the field or one of its parents.
func (p *Problems) covers(field string) bool {
	for _, known := range p.list {
		rest, ok := strings.CutPrefix(field, known.Field)
		if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}
