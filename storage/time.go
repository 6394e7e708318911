package storage

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
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

// The UTC years of valid timestamps. A time outside is a mistake, such as a zero value of
// another language.
const (
	firstYear = 2000
	lastYear  = 2199
)

// UnmarshalJSON parses any RFC 3339 form, or null as the zero time. It refuses a time
// outside the valid years.
func (t *Time) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		t.Time = time.Time{}
		return nil
	}
	var parsed time.Time
	err := json.Unmarshal(b, &parsed) // unlike encoding/json it allows no other forms
	parsed = parsed.UTC()
	if err != nil {
		return fmt.Errorf("%s is no RFC 3339 timestamp", b)
	}
	if year := parsed.Year(); year < firstYear || year > lastYear {
		return fmt.Errorf("%s is not in the years %d to %d", b, firstYear, lastYear)
	}
	t.Time = parsed
	return nil
}
