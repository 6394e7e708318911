package main

import (
	"errors"
	"strings"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// instant parses a flag that is a time or a duration from now. It returns nil if the flag
// was not given. It refuses a time that the API refuses: the zero time would otherwise be
// sent as null, which means "not given".
func instant(flag, text string, now time.Time) (*storage.Time, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // nothing was said
	}
	t, ok := parseInstant(text, now)
	if !ok {
		return nil, usagef("%s must be a time such as 2026-07-01T00:00:00Z, or a duration such as 24h, not %q", flag, text)
	}
	if !t.Accepted() {
		return nil, usagef("%s must be in the years %d to %d, not %q", flag, storage.FirstYear, storage.LastYear, text)
	}
	return &t, nil
}

// parseInstant parses a time or a duration from now.
func parseInstant(text string, now time.Time) (t storage.Time, ok bool) {
	if d, err := time.ParseDuration(text); err == nil {
		return storage.Time{Time: now.Add(d).UTC()}, true
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00"} {
		if t, err := time.Parse(layout, text); err == nil {
			return storage.Time{Time: t.UTC()}, true
		}
	}
	return storage.Time{}, false
}

// windowFlags are the flags of the start and the end of a request's window.
func windowFlags(start, end string) []bodyFlag {
	return []bodyFlag{
		{name: start, field: "startTime", value: instantText(""), help: "start of the window: a `time`, or a duration from now; needs --" + end + " (default the current quarter hour)"},
		{name: end, field: "endTime", value: instantText(""), help: "end of the window: a `time`, or a duration from now; needs --" + start + " (default 24h after the current quarter hour)"},
	}
}

var (
	errDuration     = errors.New("must be a duration such as 30s, 15m or 24h")
	errLongDuration = errors.New("must be less than 292 years")
)

// short formats a duration without its zeros: 24h, not 24h0m0s.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
