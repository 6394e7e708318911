package storage

import (
	"bytes"
	"fmt"
	"time"
)

// TimeLayout is how timestamps are written: ISO 8601, UTC, milliseconds.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// Time is a timestamp that is written as TimeLayout and read from any RFC 3339
// form.
type Time struct{ time.Time }

// MarshalJSON writes the time as TimeLayout, or null when it is zero.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return t.UTC().AppendFormat(make([]byte, 0, len(TimeLayout)+2), `"`+TimeLayout+`"`), nil
}

// UnmarshalJSON reads any RFC 3339 form, or null as the zero time. An offset
// that leads out of the years 0 to 9999 is refused: what is read must be
// readable again when it is written.
func (t *Time) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		t.Time = time.Time{}
		return nil
	}
	var parsed time.Time
	err := parsed.UnmarshalJSON(b)
	parsed = parsed.UTC()
	// package time takes an hour of one digit and a comma for the point.
	lax := err == nil && (b[len(`"2006-01-02T15`)] != ':' || bytes.IndexByte(b, ',') >= 0)
	if err != nil || lax || parsed.Year() < 0 || parsed.Year() > 9999 {
		return fmt.Errorf("%s is no RFC 3339 timestamp", b)
	}
	t.Time = parsed
	return nil
}
