package pricing

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// urdbReader reads fields of one rate object and collects what is wrong with
// them. A field that is absent or null reads as its zero value.
type urdbReader struct {
	doc      map[string]any
	path     string // prefix of the paths of problems
	problems *TariffError
}

func (r *urdbReader) problem(path, format string, args ...any) {
	r.problems.add(r.path+path, format, args...)
}

// firstOf is the first of the keys that the document has, or the first of all.
func (r *urdbReader) firstOf(keys ...string) string {
	for _, key := range keys {
		if r.has(key) {
			return key
		}
	}
	return keys[0]
}

func (r *urdbReader) has(key string) bool { return r.doc[key] != nil }

// text reads a string; numbers are taken as they are written.
func (r *urdbReader) text(key string, limit int) string {
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

// number reads a finite number; ok is false when it is absent or wrong.
func (r *urdbReader) number(key string) (value float64, ok bool) {
	return r.finite(key, r.doc[key])
}

// finite reads v, found at path, as a finite number.
func (r *urdbReader) finite(path string, v any) (value float64, ok bool) {
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

// integer reads a whole number, which may be written as 7.0 or "7".
func (r *urdbReader) integer(key string) int {
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
func (r *urdbReader) date(key string) Date {
	v := r.doc[key]
	if absent(v) {
		return Date{}
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
	return Date{}
}

// dateOfText takes the date of 2017-01-01, 2017-01-01 00:00:00 and RFC 3339.
func dateOfText(s string) (Date, bool) {
	const length = len(time.DateOnly)
	if len(s) > length && s[length] != ' ' && s[length] != 'T' {
		return Date{}, false
	}
	d, err := ParseDate(s[:min(length, len(s))])
	return d, err == nil && d.Year >= 1900 && d.Year < 2200
}

// dateOfUnix is the day whose midnight the database stored. It stores midnight
// in Denver, which is 06:00 UTC in summer and 07:00 UTC in winter, so the date at
// UTC-6 is right all year without a time zone database. Midnight in UTC, which
// the database never writes and other tools do, is taken for the day it starts.
func dateOfUnix(seconds float64) Date {
	if !(math.Abs(seconds) < 1e12) {
		return Date{}
	}
	const denver = 6 * 60 * 60
	t := int64(seconds)
	if t%daySeconds != 0 {
		t -= denver
	}
	return dateOf(time.Unix(t, 0).UTC())
}

// absent reports whether a field has no value; the database's CSV leaves empty
// strings behind.
func absent(v any) bool {
	s, isText := v.(string)
	return v == nil || isText && strings.TrimSpace(s) == ""
}

// parseNumber reads a JSON number or a number in a string. It may give an
// infinity or NaN.
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
	if err != nil && !math.IsInf(f, 0) {
		return 0, fmt.Errorf("must be a number, not %q", clip(s))
	}
	return f, nil
}

// orZero stands in for a number that is absent.
func orZero(v any) any {
	if absent(v) {
		return json.Number("0")
	}
	return v
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// clip shortens what a message quotes.
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
