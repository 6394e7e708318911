package pricing_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
)

var now = instant("2026-07-01T10:07:33Z")

func TestResolveWindow_Valid(t *testing.T) {
	for _, tt := range []struct {
		name       string
		start, end string
		want       pricing.Window
	}{
		{"default", "", "", window("2026-07-01T10:00:00Z", "2026-07-02T10:00:00Z")},
		{"whole", "2026-07-01T00:00:00Z", "2026-07-02T00:00:00Z", window("2026-07-01T00:00:00Z", "2026-07-02T00:00:00Z")},
		{"widened", "2026-07-01T00:14:59.999Z", "2026-07-01T01:00:00.001Z", window("2026-07-01T00:00:00Z", "2026-07-01T01:15:00Z")},
		{"an instant's width", "2026-07-01T00:01:00Z", "2026-07-01T00:01:01Z", window("2026-07-01T00:00:00Z", "2026-07-01T00:15:00Z")},
		{"offset", "2026-07-01T00:00:00-07:00", "2026-07-01T01:00:00-07:00", window("2026-07-01T07:00:00Z", "2026-07-01T08:00:00Z")},
		{"31 days", "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z", window("2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z")},
		{"31 days, not whole", "2026-05-01T00:01:00Z", "2026-06-01T00:01:00Z", window("2026-05-01T00:00:00Z", "2026-06-01T00:15:00Z")},
		{"as far back as allowed", "2024-07-01T10:00:00Z", "2024-07-01T11:00:00Z", window("2024-07-01T10:00:00Z", "2024-07-01T11:00:00Z")},
		{"as far ahead as allowed", "2026-07-31T10:15:00Z", "2026-08-01T10:15:00Z", window("2026-07-31T10:15:00Z", "2026-08-01T10:15:00Z")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := pricing.ResolveWindow(optional(tt.start), optional(tt.end), now)
			if err != nil || got != tt.want {
				t.Errorf("got %v, %v; want %v", got, err, tt.want)
			}
			if !got.Askable() {
				t.Errorf("%v is outside of the range", got)
			}
			if got.Start.Location() != time.UTC || got.End.Location() != time.UTC {
				t.Errorf("%v is not in UTC", got)
			}
		})
	}
}

func TestResolveWindow_OutOfRange(t *testing.T) {
	for name, w := range map[string]pricing.Window{
		"none":            {},
		"from the year 1": {End: now},
		"empty":           window("2026-07-01T00:00:00Z", "2026-07-01T00:00:00Z"),
		"reversed":        window("2026-07-01T01:00:00Z", "2026-07-01T00:00:00Z"),
		"off the grid":    window("2026-07-01T00:01:00Z", "2026-07-01T01:01:00Z"),
		"too long":        window("2026-05-01T00:00:00Z", "2026-06-01T00:30:00Z"),
	} {
		if w.Askable() {
			t.Errorf("%s: %v is within the range", name, w)
		}
	}
}

func TestResolveWindow_Problems(t *testing.T) {
	const back, after = "must be at most 2 years back", "must be after startTime"
	const long, ahead = "must be at most 31 days after startTime", "must be at most 31 days ahead"
	for _, tt := range []struct {
		name       string
		start, end string
		want       []pricing.FieldError
	}{
		{"no end", "2026-07-01T00:00:00Z", "", []pricing.FieldError{{"endTime", "is required when startTime is given"}}},
		{"no start", "", "2026-07-01T00:00:00Z", []pricing.FieldError{{"startTime", "is required when endTime is given"}}},
		{"equal", "2026-07-01T00:00:00Z", "2026-07-01T00:00:00Z", []pricing.FieldError{{"endTime", after}}},
		{"reversed within one interval", "2026-07-01T00:05:00Z", "2026-07-01T00:01:00Z", []pricing.FieldError{{"endTime", after}}},
		{"too long", "2026-05-01T00:00:00Z", "2026-06-01T00:00:01Z", []pricing.FieldError{{"endTime", long}}},
		{"too far back", "2024-07-01T09:59:59Z", "2024-07-01T11:00:00Z", []pricing.FieldError{{"startTime", back}}},
		{"the end of time", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z", []pricing.FieldError{{"startTime", "must be at most 31 days ahead"}, {"endTime", after}}},
		{"too far ahead", "2026-07-31T10:15:00Z", "2026-08-01T10:15:01Z", []pricing.FieldError{{"endTime", ahead}}},
		{"old and reversed", "2020-01-02T00:00:00Z", "2020-01-01T00:00:00Z", []pricing.FieldError{{"startTime", back}, {"endTime", after}}},
		{"all of time", "0001-01-02T00:00:00Z", "9999-12-31T23:59:59Z", []pricing.FieldError{{"startTime", back}, {"endTime", long}}},
		{"zero start", "0001-01-01T00:00:00Z", "2026-07-01T00:00:00Z", []pricing.FieldError{{"startTime", back}}},
		{"zero start, end too far ahead", "0001-01-01T00:00:00Z", "2026-08-01T10:15:01Z", []pricing.FieldError{{"startTime", back}, {"endTime", ahead}}},
		{"zero end", "2026-07-01T00:00:00Z", "0001-01-01T00:00:00Z", []pricing.FieldError{{"endTime", after}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := pricing.ResolveWindow(optional(tt.start), optional(tt.end), now)
			var problems *pricing.InvalidError
			if !errors.As(err, &problems) {
				t.Fatalf("got %v, want an *InvalidError", err)
			}
			if !slices.Equal(problems.Fields, tt.want) {
				t.Errorf("got %v, want %v", problems.Fields, tt.want)
			}
		})
	}
}

// An accepted window covers the request, has whole intervals, and is less than one
// interval wider on each side.
func TestResolveWindow_WidensOutward(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		start := now.Add(time.Duration(random.Int64N(int64(40*24*time.Hour))) - 20*24*time.Hour)
		end := start.Add(1 + time.Duration(random.Int64N(int64(5*24*time.Hour))))
		w, err := pricing.ResolveWindow(&start, &end, now)
		if err != nil {
			t.Fatal(err)
		}
		before, after := start.Sub(w.Start), w.End.Sub(end)
		if before < 0 || before >= pricing.Interval || after < 0 || after >= pricing.Interval {
			t.Fatalf("%v to %v became %v", start, end, w)
		}
		if w.Start.Unix()%900 != 0 || w.End.Unix()%900 != 0 || w.At(w.Len()) != w.End {
			t.Fatalf("%v is not tiled by whole quarter hours", w)
		}
	}
}

func optional(s string) *time.Time {
	if s == "" {
		return nil
	}
	t := instant(s)
	return &t
}
