package schema

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gridhook/gridhook/storage"
)

// maxWrong is the maximum number of wrong fields.
const maxWrong = 101 // one more than a response lists, so that the response can say so

// exact is the first integer that a float64 cannot distinguish from the next integer.
const exact = 1 << 53

// validator collects the wrong fields of a value.
type validator struct {
	wrong []storage.FieldError
}

func (v *validator) report(path, format string, args ...any) {
	if len(v.wrong) < maxWrong {
		v.wrong = append(v.wrong, storage.FieldError{Field: path, Message: fmt.Sprintf(format, args...)})
	}
}

// value validates a value against its schema.
func (v *validator) value(s *Schema, path string, value any) {
	if s.kind == "" && s.target == nil {
		return // any value is valid
	}
	if value == nil {
		if !s.nullable {
			v.report(path, "must not be null: omit the field or send a value")
		}
		return
	}
	if s.target != nil {
		s = s.target
	}
	switch value := value.(type) {
	case map[string]any:
		if v.is(s, path, "object") {
			v.object(s, path, value)
		}
	case []any:
		if v.is(s, path, "array") {
			v.array(s, path, value)
		}
	case string:
		if v.is(s, path, "string") {
			v.text(s, path, value)
		}
	case float64:
		if s.kind == "integer" || v.is(s, path, "number") {
			v.number(s, path, value)
		}
	case bool:
		v.is(s, path, "boolean")
	}
}

// expected maps types to their names in error messages.
var expected = map[string]string{
	"object": "an object", "array": "an array", "string": "a string", "number": "a number", "integer": "a whole number", "boolean": "true or false",
}

func (v *validator) is(s *Schema, path, kind string) bool {
	if s.kind != kind {
		v.report(path, "must be %s", expected[s.kind])
	}
	return s.kind == kind
}

func (v *validator) object(s *Schema, path string, members map[string]any) {
	if s.Properties == nil { // a map
		values, _ := s.AdditionalProperties.(*Schema)
		v.count(path, len(members), nil, s.MaxProperties, "members")
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if values != nil {
				v.value(values, join(path, name), members[name])
			}
		}
		return
	}
	for _, name := range s.Required {
		if _, ok := members[name]; !ok {
			v.report(join(path, name), "is required")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		switch property := s.property(name); {
		case property == nil && s.open:
		case property == nil:
			v.report(join(path, name), "is unknown: %s", s.hint(name))
		case !slices.Contains(s.Required, name) && (members[name] == "" && property.emptyIsAbsent() || members[name] == nil && s.open):
			// The operation decides whether it needs this field.
		default:
			v.value(property, join(path, name), members[name])
		}
	}
}

// emptyIsAbsent reports whether an empty string stands for an absent field. It never does
// for a date or time, or for a field with a minimum length.
func (s *Schema) emptyIsAbsent() bool {
	return s.kind == "string" && s.Format != "date-time" && s.Format != "date" && s.MinLength == nil
}

// hint suggests the correct name of an unknown field.
func (s *Schema) hint(name string) string {
	const few = 10
	var names []string
	for _, p := range s.Properties {
		if strings.EqualFold(p.Name, name) {
			return "names are case-sensitive, the field is " + p.Name
		}
		if name != "" && (strings.HasPrefix(p.Name, name) || strings.HasPrefix(name, p.Name)) { // such as without the s
			return "did you mean " + p.Name + "?"
		}
		names = append(names, p.Name)
	}
	switch {
	case len(names) == 0:
		return "the body has no fields"
	case len(names) > few:
		return "see the documentation of the operation"
	default:
		return "the fields are " + strings.Join(names, ", ")
	}
}

func (v *validator) array(s *Schema, path string, elements []any) {
	v.count(path, len(elements), s.MinItems, s.MaxItems, "elements")
	for i, element := range elements {
		v.value(s.Items, path+"["+strconv.Itoa(i)+"]", element)
	}
}

func (v *validator) count(path string, n int, least, most *int, what string) {
	switch {
	case least != nil && *least == 1 && n == 0:
		v.report(path, "must not be empty")
	case least != nil && n < *least:
		v.report(path, "must have at least %d %s", *least, what)
	case most != nil && n > *most:
		v.report(path, "must have at most %d %s", *most, what)
	}
}

func (v *validator) number(s *Schema, path string, n float64) {
	switch {
	case s.kind == "integer" && (n != math.Trunc(n) || math.Abs(n) >= exact):
		v.report(path, "must be a whole number")
	case s.Minimum != nil && n < *s.Minimum, s.Maximum != nil && n > *s.Maximum,
		s.ExclusiveMinimum != nil && n <= *s.ExclusiveMinimum, s.ExclusiveMaximum != nil && n >= *s.ExclusiveMaximum:
		v.report(path, "must be %s", s.span())
	}
}

// span describes the allowed range of numbers.
func (s *Schema) span() string {
	number := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	if s.Minimum != nil && s.Maximum != nil {
		return "from " + number(*s.Minimum) + " to " + number(*s.Maximum)
	}
	var parts []string
	for _, bound := range []struct {
		words string
		at    *float64
	}{{"at least", s.Minimum}, {"above", s.ExclusiveMinimum}, {"at most", s.Maximum}, {"below", s.ExclusiveMaximum}} {
		if bound.at != nil {
			parts = append(parts, bound.words+" "+number(*bound.at))
		}
	}
	return strings.Join(parts, " and ")
}

// directional has the characters that change the direction of the following text. A
// terminal shows another text than the stored text.
const directional = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

func (v *validator) text(s *Schema, path, text string) {
	if strings.ContainsAny(text, directional) {
		v.report(path, "must not have characters that change the direction of text, such as U+202E")
	}
	v.count(path, utf8.RuneCountInString(text), s.MinLength, s.MaxLength, "characters")
	if s.Enum != nil && !slices.Contains(s.Enum, any(text)) {
		v.report(path, "must be one of %s", values(s.Enum))
	}
	if s.pattern != nil && !s.pattern.MatchString(text) {
		v.report(path, "%s", s.patternMessage)
	}
	if problem := formats[s.Format]; problem != nil {
		if message := problem(text); message != "" {
			v.report(path, "%s", message)
		}
	}
}

// values lists the values of an enum.
func values(enum []any) string {
	var names []string
	for _, value := range enum {
		if name, ok := value.(string); ok {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// outOfRange names the part of a time that does not exist, such as ": day out of range".
func outOfRange(layout, text string) string {
	_, err := time.Parse(layout, text)
	if parse := (*time.ParseError)(nil); errors.As(err, &parse) && strings.HasSuffix(parse.Message, " out of range") {
		return parse.Message
	}
	return ""
}

// formats maps each format to a check of a string. A check returns an error message, or
// an empty string for a valid value. The operation makes any further check.
var formats = map[string]func(string) string{
	"date-time": moment,
	// The start of an OpenADR period, where the zero time means now, also without an offset.
	"start": func(text string) string {
		if t, err := time.Parse(time.RFC3339, text); err == nil && t.IsZero() || text == "0001-01-01" || text == "0001-01-01T00:00:00" {
			return ""
		}
		return moment(text)
	},
	"date": func(text string) string {
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return "must be a date such as 2026-07-01" + outOfRange(time.DateOnly, text)
		}
		return ""
	},
	"uri": func(text string) string {
		if u, err := url.Parse(text); err != nil || u.Scheme == "" {
			return "must be an absolute URL such as https://example.com/hooks"
		}
		return ""
	},
	"email": func(text string) string {
		if a, err := mail.ParseAddress(text); err != nil || a.Address != text {
			return "must be an e-mail address"
		}
		return ""
	},
}

// moment checks a time of a request.
func moment(text string) string {
	var t storage.Time
	if t.UnmarshalJSON([]byte(strconv.Quote(text))) != nil {
		return "must be an RFC 3339 timestamp such as 2026-07-01T00:00:00Z" + outOfRange(time.RFC3339, text)
	}
	if !t.Accepted() {
		return fmt.Sprintf("must be in the years %d to %d", storage.FirstYear, storage.LastYear)
	}
	return ""
}

// join returns the path of a member. An invalid name is quoted and truncated because it
// may contain anything.
func join(path, name string) string {
	const most = 64
	switch {
	case !storage.ValidID(name):
		return path + "[" + strconv.Quote(name[:min(len(name), most)]) + "]"
	case path == "":
		return name
	default:
		return path + "." + name
	}
}
