package urdb

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gridhook/gridhook/pricing"
)

// reader reads fields of one rate object and collects their problems. An absent field or
// null reads as its zero value.
type reader struct {
	doc      map[string]any
	path     string // prefix of the paths of problems
	problems *pricing.Problems
}

func (r *reader) problem(path, format string, args ...any) {
	r.problems.Addf(r.path+path, format, args...)
}

// firstOf returns the first key that the document has, or else keys[0].
func (r *reader) firstOf(keys ...string) string {
	for _, key := range keys {
		if r.has(key) {
			return key
		}
	}
	return keys[0]
}

func (r *reader) has(key string) bool { return r.doc[key] != nil }

// as returns a value of the wanted type, or records that v, the value at path, must be
// what the words say.
func as[T any](r *reader, path string, v any, words string) (value T, ok bool) {
	if value, ok = v.(T); !ok {
		r.problem(path, "must be %s, not %s", words, kindOf(v))
	}
	return value, ok
}

// object returns a reader of the object v at path.
func (r *reader) object(path string, v any, words string) (*reader, bool) {
	fields, ok := as[map[string]any](r, path, v, words)
	return &reader{doc: fields, path: r.path + path + ".", problems: r.problems}, ok
}

// text reads a string. A number becomes its text.
func (r *reader) text(key string, limit int) string {
	var s string
	switch v := r.doc[key].(type) {
	case nil:
		return ""
	case string:
		s = strings.TrimSpace(v)
	case json.Number:
		s = v.String()
	default:
		r.problem(key, "must be text, not %s", kindOf(v))
		return ""
	}
	if len(s) > limit {
		r.problem(key, "has %d bytes; at most %d are kept", len(s), limit)
		return ""
	}
	return s
}

// number reads a finite number; ok is false if it is absent or wrong.
func (r *reader) number(key string) (value float64, ok bool) {
	return r.finite(key, r.doc[key])
}

// finite reads v, the value at path, as a finite number.
func (r *reader) finite(path string, v any) (value float64, ok bool) {
	if absent(v) {
		return 0, false
	}
	f, err := parseNumber(v)
	switch {
	case err != nil:
		r.problem(path, "%s", err)
	case math.IsNaN(f) || math.IsInf(f, 0):
		r.problem(path, "must be a finite number")
	default:
		return f, true
	}
	return 0, false
}

// integer reads a whole number. It accepts 7.0 and "7".
func (r *reader) integer(key string) int {
	f, ok := r.number(key)
	if !ok {
		return 0
	}
	if f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
		r.problem(key, "must be a whole number, not %v", f)
		return 0
	}
	return int(f)
}

// date reads Unix seconds, or a date with or without a time of day.
func (r *reader) date(key string) pricing.Date {
	v := r.doc[key]
	if absent(v) {
		return pricing.Date{}
	}
	if s, ok := v.(string); ok {
		if d, ok := dateOfText(strings.TrimSpace(s)); ok {
			return d
		}
	}
	seconds, err := parseNumber(v)
	if d := dateOfUnix(seconds); err == nil && d.Year >= 1900 && d.Year < 2200 {
		return d
	}
	r.problem(key, "must be Unix seconds or a date such as 2017-01-01, not %s", clip(fmt.Sprint(v)))
	return pricing.Date{}
}

// dateOfText returns the date of 2017-01-01, 2017-01-01 00:00:00 and RFC 3339.
func dateOfText(s string) (pricing.Date, bool) {
	const length = len(time.DateOnly)
	if len(s) > length && s[length] != ' ' && s[length] != 'T' {
		return pricing.Date{}, false
	}
	d, err := pricing.ParseDate(s[:min(length, len(s))])
	return d, err == nil && d.Year >= 1900 && d.Year < 2200
}

// dateOfUnix returns the day whose midnight the database stored. The database stores
// midnight in Denver, which is 06:00 UTC in summer and 07:00 UTC in winter. The date at
// UTC-6 is therefore right all year without a time zone database. The database never
// stores midnight in UTC, but other tools do. dateOfUnix treats it as the start of its
// day.
func dateOfUnix(seconds float64) pricing.Date {
	if !(math.Abs(seconds) < 1e12) {
		return pricing.Date{}
	}
	const denver = 6 * 60 * 60
	t := int64(seconds)
	if t%(24*60*60) != 0 {
		t -= denver
	}
	return pricing.DateOf(time.Unix(t, 0).UTC())
}

// absent reports whether a field has no value. The database's CSV leaves empty strings.
func absent(v any) bool {
	s, isText := v.(string)
	return v == nil || isText && strings.TrimSpace(s) == ""
}

// parseNumber reads a JSON number or a decimal number in a string. It may return an
// infinity or NaN. It rejects Go's hexadecimal numbers, which ParseFloat accepts.
func parseNumber(v any) (float64, error) {
	var s string
	switch v := v.(type) {
	case json.Number:
		s = v.String()
	case string:
		s = strings.TrimSpace(v)
	default:
		return 0, fmt.Errorf("must be a number, not %s", kindOf(v))
	}
	f, err := strconv.ParseFloat(s, 64)
	if strings.ContainsAny(s, "xX_") {
		err, f = strconv.ErrSyntax, 0
	}
	if err != nil && !math.IsInf(f, 0) {
		return 0, fmt.Errorf("must be a number, not %q", clip(s))
	}
	return f, nil
}

// clip shortens a text for a message.
func clip(s string) string {
	const limit = 40
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "..."
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "text"
	case json.Number:
		return "a number"
	case []any:
		return "an array"
	default:
		return "an object"
	}
}
