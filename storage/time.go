package storage

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/gridhook/gridhook/pricing"
)

// TimeLayout is the format of timestamps: ISO 8601, UTC, milliseconds.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// The first and the last UTC year of a timestamp in a request. A time outside is a mistake,
// such as the zero time of another language.
const (
	FirstYear = 2000
	LastYear  = 2199
)

// Time is a timestamp. It is written as TimeLayout and parsed from any RFC 3339 form.
type Time struct{ time.Time }

// Accepted reports whether a request may name the time: from FirstYear to LastYear.
func (t Time) Accepted() bool {
	year := t.UTC().Year()
	return year >= FirstYear && year <= LastYear
}

// Later returns the later of two times.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Earlier returns the earlier of two times.
func Earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// MarshalJSON writes the time as TimeLayout, or null for the zero time.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	text := append(make([]byte, 0, len(TimeLayout)+2), '"')
	return append(pricing.AppendTimestamp(text, t.Time), '"'), nil
}

// UnmarshalJSON parses any RFC 3339 form, or null as the zero time. It refuses a time
// whose UTC year is outside 0 to 9999, because the written form must parse again. It also
// refuses the zero time itself, which is written as null.
func (t *Time) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		t.Time = time.Time{}
		return nil
	}
	var parsed time.Time
	err := json.Unmarshal(b, &parsed) // unlike encoding/json it allows no other forms
	parsed = parsed.UTC()
	if err != nil || parsed.IsZero() || parsed.Year() < 0 || parsed.Year() > 9999 {
		return fmt.Errorf("%s is no RFC 3339 timestamp", b)
	}
	t.Time = parsed
	return nil
}
