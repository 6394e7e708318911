package policy

import (
	"errors"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/storage"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func TestJudge_Status(t *testing.T) {
	for status := range 1000 {
		want := Retry
		switch {
		case status >= 200 && status <= 299:
			want = Delivered
		case status == 410:
			want = Gone
		}
		if got := Judge(status, nil); got != want {
			t.Errorf("verdict of %d is %v, want %v", status, got, want)
		}
	}
	if got := Judge(0, errors.New("no response")); got != Retry {
		t.Errorf("verdict without a response is %v", got)
	}
}

func TestMaxDelay_Attempts(t *testing.T) {
	for _, tt := range []struct {
		policy storage.RetryPolicy
		want   []time.Duration // after 1, 2, 3, ... failed attempts
	}{
		{storage.DefaultRetryPolicy(), []time.Duration{5e9, 10e9, 20e9, 40e9, 80e9, 160e9, 320e9, 640e9, 900e9, 900e9}},
		{storage.RetryPolicy{InitialSeconds: 1, Multiplier: 1, MaxSeconds: 60}, []time.Duration{1e9, 1e9, 1e9}},
		{storage.RetryPolicy{InitialSeconds: 60, Multiplier: 2, MaxSeconds: 60}, []time.Duration{60e9, 60e9}},
		{storage.RetryPolicy{InitialSeconds: 1, Multiplier: 1.5, MaxSeconds: 2}, []time.Duration{1e9, 1.5e9, 2e9, 2e9}},
	} {
		for i, want := range tt.want {
			if got := MaxDelay(tt.policy, i+1); got != want {
				t.Errorf("MaxDelay(%+v, %d) = %s, want %s", tt.policy, i+1, got, want)
			}
		}
	}
	if got := MaxDelay(storage.DefaultRetryPolicy(), 1_000_000); got != 15*time.Minute {
		t.Errorf("delay after a million attempts is %s", got)
	}
}

func TestNext_Due(t *testing.T) {
	policy := storage.DefaultRetryPolicy()
	far := noon.Add(24 * time.Hour)
	for name, tt := range map[string]struct {
		failed     int
		deadline   time.Time
		retryAfter time.Duration
		jitter     float64
		want       time.Duration // -1 for no retry
	}{
		"no delay":                         {1, far, 0, 0, 0},
		"half of the first":                {1, far, 0, 0.5, 2500 * time.Millisecond},
		"nearly all of the third":          {3, far, 0, 0.999, 19980 * time.Millisecond},
		"as the partner asks":              {1, far, 7 * time.Second, 0.5, 7 * time.Second},
		"more than the partner asks":       {3, far, 7 * time.Second, 0.5, 10 * time.Second},
		"the partner asks for too much":    {1, far, 48 * time.Hour, 0.5, time.Hour},
		"just before the deadline":         {1, noon.Add(2501 * time.Millisecond), 0, 0.5, 2500 * time.Millisecond},
		"at the deadline":                  {1, noon.Add(2500 * time.Millisecond), 0, 0.5, -1},
		"the deadline has passed":          {1, noon, 0, 0, -1},
		"the partner asks for too long":    {1, noon.Add(5 * time.Second), 6 * time.Second, 0, -1},
		"a deadline far within the day":    {1, noon.Add(time.Second), 0, 0.1, 500 * time.Millisecond},
		"a hundred failures, half the cap": {100, far, 0, 0.5, 450 * time.Second},
	} {
		due, ok := Next(policy, tt.failed, noon, tt.deadline, tt.retryAfter, tt.jitter)
		if ok != (tt.want >= 0) || ok && !due.Equal(noon.Add(tt.want)) {
			t.Errorf("%s: after %s, %v, want %s", name, due.Sub(noon), ok, tt.want)
		}
	}
}

// With any policy, a retry is never early, never late, and never after the deadline.
func TestNext_Bounded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := storage.RetryPolicy{
			InitialSeconds: rapid.Float64Range(1, 3600).Draw(rt, "initial"),
			Multiplier:     rapid.Float64Range(1, 10).Draw(rt, "multiplier"),
			GiveUpSeconds:  86400,
		}
		p.MaxSeconds = rapid.Float64Range(p.InitialSeconds, 86400).Draw(rt, "max")
		failed := rapid.IntRange(1, 200).Draw(rt, "failed")
		asked := time.Duration(rapid.Int64Range(0, int64(100*time.Hour)).Draw(rt, "retry after"))
		jitter := rapid.Float64Range(0, math.Nextafter(1, 0)).Draw(rt, "jitter")
		deadline := noon.Add(time.Duration(rapid.Int64Range(-1e9, int64(26*time.Hour)).Draw(rt, "deadline")))
		due, ok := Next(p, failed, noon, deadline, asked, jitter)
		pause := due.Sub(noon)
		if pause < min(asked, MaxRetryAfter) || pause > max(seconds(p.MaxSeconds), MaxRetryAfter) || ok != due.Before(deadline) {
			rt.Fatalf("after %s, %v", pause, ok)
		}
		if c := MaxDelay(p, failed); c < seconds(p.InitialSeconds) || c > seconds(p.MaxSeconds) || c > MaxDelay(p, failed+1) {
			rt.Fatalf("longest delay after %d is %s, after one more %s", failed, c, MaxDelay(p, failed+1))
		}
	})
}
