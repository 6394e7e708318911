package events

import (
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// An attempt of a worker or a server whose clock was ahead does not outweigh the attempts of
// the others. A result that is stored late does not replace later ones.
func TestHealth_ClockAhead(t *testing.T) {
	const (
		year   = 365 * 24 * time.Hour
		minute = time.Minute
		failed = OutcomeRetrying
		good   = OutcomeDelivered
	)
	type attempt struct {
		at, stored time.Duration
		outcome    Outcome
	}
	endpoint := storage.NewWebhookEndpoint("org")
	endpoint.RetryPolicy.DisableAfterSeconds = 3600
	for name, tt := range map[string]struct {
		attempts []attempt
		want     HealthState
		lasted   time.Duration
		tooLong  bool
	}{
		"failure, then success": {[]attempt{{year, 0, failed}, {minute, minute, good}}, HealthGood, 0, false},
		"failure, then failures": {
			[]attempt{{year, 0, failed}, {minute, minute, failed}, {2 * minute, 2 * minute, failed}}, HealthFailing, 2 * minute, false,
		},
		"success, then failures": {
			[]attempt{{year, 0, good}, {minute, minute, failed}, {3 * time.Hour, 3 * time.Hour, failed}}, HealthFailing, 3*time.Hour - minute, true,
		},
		"server too, failure, then success": {[]attempt{{year, year, failed}, {minute, minute, good}}, HealthGood, 0, false},
		"server too, failure, then failures": {
			[]attempt{{year, year, failed}, {minute, minute, failed}, {3 * minute, 3 * minute, failed}}, HealthFailing, 2 * minute, false,
		},
		"server too, success, then failures": {
			[]attempt{{year, year, good}, {minute, minute, failed}, {3 * time.Hour, 3 * time.Hour, failed}}, HealthFailing, 3*time.Hour - minute, true,
		},
		"a success arrives late": {[]attempt{{2 * minute, 2 * minute, failed}, {minute, 3 * minute, good}}, HealthFailing, 0, false},
		"a failure arrives late": {[]attempt{{2 * minute, 2 * minute, good}, {minute, 3 * minute, failed}}, HealthGood, 0, false},
		"a failure arrives hours late": {
			[]attempt{{0, time.Second, good}, {-2 * time.Hour, 2 * time.Second, failed}, {minute, minute, failed}}, HealthFailing, 0, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var h Health
			for _, a := range tt.attempts {
				h.Note(Attempt{At: storage.Time{Time: accepted.Add(a.at)}, Outcome: a.outcome}, accepted.Add(a.stored))
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

// Outages of the same hour that have reached the same share have one notice of their end,
// except those that disabled the endpoint. Each outage with a notice needs its end.
func TestRecoveredNotice_SameHour(t *testing.T) {
	start := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	e := storage.NewWebhookEndpoint("org")
	e.ID, e.RetryPolicy.DisableAfterSeconds = "ep", 600
	for _, tt := range []struct {
		first, second time.Duration
		same          bool
	}{
		{3 * time.Minute, 4 * time.Minute, true},
		{3 * time.Minute, 5 * time.Minute, false}, // the second has a notice at its half
		{5 * time.Minute, 6 * time.Minute, true},
		{10 * time.Minute, 10 * time.Minute, false},
	} {
		var ids []string
		for after, lasted := range map[time.Duration]time.Duration{0: tt.first, 30 * time.Minute: tt.second} {
			since := start.Add(after)
			n, ok := RecoveredNotice(&e, &Health{State: HealthGood, LastOutage: &Outage{
				Since: storage.Time{Time: since}, Until: storage.Time{Time: since.Add(lasted)}, Failures: 50,
			}})
			if !ok {
				t.Fatalf("no notice after %s", lasted)
			}
			ids = append(ids, n.ID)
		}
		if (ids[0] == ids[1]) != tt.same {
			t.Errorf("outages of %s and %s have the notices %v", tt.first, tt.second, ids)
		}
	}
}

// Nobody hears of the end of an outage without having heard of the outage: a change of the
// endpoint begins the count of its failures anew.
func TestRecoveredNotice_ChangedEndpoint(t *testing.T) {
	start := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	at := func(d time.Duration) storage.Time { return storage.Time{Time: start.Add(d)} }
	for updated, want := range map[time.Duration]bool{-time.Hour: true, 30 * time.Minute: true, 90 * time.Minute: false, 150 * time.Minute: true, 4 * time.Hour: true} {
		e := storage.NewWebhookEndpoint("org")
		e.ID, e.RetryPolicy.DisableAfterSeconds, e.UpdatedAt = "ep", (8 * time.Hour).Seconds(), at(updated) // people hear after 2 hours
		h := Health{State: HealthGood, LastOutage: &Outage{Since: at(0), Until: at(3 * time.Hour), Failures: 50}}
		if _, got := RecoveredNotice(&e, &h); got != want {
			t.Errorf("after a change at %s of 3 h, a notice of the end is %v, want %v", updated, got, want)
		}
	}
}
