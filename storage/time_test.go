package storage_test

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/storage"
)

func TestTime_FromJSON(t *testing.T) {
	for text, want := range map[string]string{
		`"2026-07-01T00:00:00Z"`:           `"2026-07-01T00:00:00.000Z"`,
		`"2026-07-01T00:00:00.000Z"`:       `"2026-07-01T00:00:00.000Z"`,
		`"2026-07-01T02:30:00.5+02:30"`:    `"2026-07-01T00:00:00.500Z"`,
		`"2026-07-01T00:00:00.123999999Z"`: `"2026-07-01T00:00:00.123Z"`,
		`"2026-02-28T19:00:00-05:00"`:      `"2026-03-01T00:00:00.000Z"`,
		`"2026-07-01T23:59:00+23:59"`:      `"2026-07-01T00:00:00.000Z"`,
		`"2199-12-31T23:59:59Z"`:           `"2199-12-31T23:59:59.000Z"`,
		`"2000-01-01T00:00:00Z"`:           `"2000-01-01T00:00:00.000Z"`,
		`null`:                             `null`,

		`"2199-12-31T23:59:59-01:00"`: "", // is in the year 2200
		`"2000-01-01T00:00:00+01:00"`: "", // is in the year 1999
		`"0001-01-01T00:00:00Z"`:      "", // is the zero time, which means none
		`"0001-01-01T01:00:00+01:00"`: "",
		`"2026-07-01T00:00:00+24:00"`: "",
		`"2026-07-01T00:00:00-24:00"`: "",
		`"2026-07-01T00:00:00+12:60"`: "",
		`"2026-02-29T00:00:00Z"`:      "",
		`"2026-07-01T24:00:00Z"`:      "",
		`"2026-07-01T0:00:00Z"`:       "",
		`"2026-07-01T00:00:00,5Z"`:    "",
		`"2026-07-01T00:00:00"`:       "",
		`"2026-07-01"`:                "",
		`"2026-07-01 00:00:00Z"`:      "",
		`""`:                          "",
		`"`:                           "",
		`1782864000`:                  "",
		`{}`:                          "",
	} {
		var v storage.Time
		if err := v.UnmarshalJSON([]byte(text)); err != nil {
			if want != "" {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		got, err := json.Marshal(v)
		if err != nil || string(got) != want {
			t.Errorf("%s reads as %s (%v), want %q", text, got, err, want)
		}
	}
}

// TestTime_RoundTrip checks that a time that was read can be written and read again
// without a change.
func TestTime_RoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		sec := rapid.Int64Range(-62167219200-86400, 253402300799+86400).Draw(rt, "seconds")
		zone := time.FixedZone("", 60*rapid.IntRange(-23*60, 23*60).Draw(rt, "offset"))
		text := time.Unix(sec, 0).In(zone).Format(time.RFC3339)
		var read, again storage.Time
		if read.UnmarshalJSON([]byte(`"`+text+`"`)) != nil {
			return
		}
		written, err := json.Marshal(read)
		if err == nil {
			err = json.Unmarshal(written, &again)
		}
		if err != nil || !again.Equal(read.Time) {
			rt.Fatalf("%s is written as %s and reads as %v (%v)", text, written, again, err)
		}
	})
}
