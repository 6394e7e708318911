package storage

import (
	"bytes"
	"fmt"
	"time"
)

// TimeLayout is the format of timestamps: ISO 8601, UTC, milliseconds.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// Time is a timestamp. It is written as TimeLayout and parsed from any RFC 3339 form.
type Time struct{ time.Time }

// MarshalJSON writes the time as TimeLayout, or null for the zero time.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return t.UTC().AppendFormat(make([]byte, 0, len(TimeLayout)+2), `"`+TimeLayout+`"`), nil
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
	err := parsed.UnmarshalJSON(b)
	parsed = parsed.UTC()
	// Package time accepts an hour of one digit, a comma as the decimal point, and an
	// offset of 24 hours or 60 minutes.
	lax := err == nil && (b[len(`"2006-01-02T15`)] != ':' || bytes.IndexByte(b, ',') >= 0 || wideOffset(b))
	if err != nil || lax || parsed.IsZero() || parsed.Year() < 0 || parsed.Year() > 9999 {
		return fmt.Errorf("%s is no RFC 3339 timestamp", b)
	}
	t.Time = parsed
	return nil
}

// wideOffset reports whether a quoted timestamp has an offset beyond 23:59.
func wideOffset(b []byte) bool {
	offset := b[len(b)-len(`07:00"`):]
	return offset[len("07")] == ':' && b[len(b)-len(`Z"`)] != 'Z' && (string(offset[:2]) > "23" || string(offset[3:5]) > "59")
}
