package events_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
)

func TestRetryAfter_Values(t *testing.T) {
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"":                      0,
		"0":                     0,
		"7":                     7 * time.Second,
		"-5":                    0,
		"3600":                  time.Hour,
		"999999999":             time.Hour,
		"99999999999999999999":  time.Hour,
		"-99999999999999999999": 0,
		"soon":                  0,
		"7.5":                   0,
		"7, 8":                  0,
		noon.Add(9 * time.Second).Format(http.TimeFormat):  9 * time.Second,
		noon.Add(-9 * time.Second).Format(http.TimeFormat): 0,
		noon.Add(9 * time.Hour).Format(http.TimeFormat):    time.Hour,
	} {
		if got := events.RetryAfter(text, noon, time.Hour); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}
