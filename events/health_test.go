package events

import (
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// One attempt of a worker whose clock was ahead does not outweigh the attempts of the
// others.
func TestHealth_ClockAhead(t *testing.T) {
	const year = 365 * 24 * time.Hour
	type attempt struct {
		at      time.Duration
		outcome Outcome
	}
	endpoint := storage.NewWebhookEndpoint("org")
	endpoint.RetryPolicy.DisableAfterSeconds = 3600
	for name, tt := range map[string]struct {
		attempts []attempt
		want     HealthState
		lasted   time.Duration
		tooLong  bool
	}{
		"failure, then success":   {[]attempt{{year, OutcomeRetrying}, {time.Minute, OutcomeDelivered}}, HealthGood, 0, false},
		"failure, then failures":  {[]attempt{{year, OutcomeRetrying}, {time.Minute, OutcomeRetrying}, {3 * time.Minute, OutcomeRetrying}}, HealthFailing, 2 * time.Minute, false},
		"success, then failures":  {[]attempt{{year, OutcomeDelivered}, {time.Minute, OutcomeRetrying}, {3 * time.Hour, OutcomeRetrying}}, HealthFailing, 3*time.Hour - time.Minute, true},
		"a success arrives late":  {[]attempt{{2 * time.Minute, OutcomeRetrying}, {time.Minute, OutcomeDelivered}}, HealthFailing, 0, false},
		"a failure arrives late":  {[]attempt{{2 * time.Minute, OutcomeDelivered}, {time.Minute, OutcomeRetrying}}, HealthGood, 0, false},
		"failure after a success": {[]attempt{{year, OutcomeRetrying}, {0, OutcomeDelivered}, {time.Hour, OutcomeRetrying}, {2 * time.Hour, OutcomeRetrying}}, HealthFailing, time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			var h Health
			for _, a := range tt.attempts {
				h.Note(&Attempt{At: storage.Time{Time: accepted.Add(a.at)}, Outcome: a.outcome})
			}
			if h.State != tt.want {
				t.Fatalf("health is %+v, want %s", h, tt.want)
			}
			if lasted, tooLong := h.FailedTooLong(&endpoint); tt.want == HealthFailing && (lasted != tt.lasted || tooLong != tt.tooLong) {
				t.Errorf("health is %+v for %s, too long %t, want %s, %t", h, lasted, tooLong, tt.lasted, tt.tooLong)
			}
		})
	}
}
