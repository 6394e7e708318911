package ledger

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
)

// TestHistory_Hours sums up the triggers of an organization, and of all, by the hour of
// their acceptance.
func TestHistory_Hours(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.opt.Keep = 48 * time.Hour
	var accepted []events.Trigger
	var receipts []events.Receipt
	for i, of := range []struct {
		org   string
		after time.Duration // of noon
		took  time.Duration
		o     events.Outcome
	}{
		{"acme", -24 * time.Hour, time.Second, events.OutcomeDelivered}, // too old
		{"acme", -23 * time.Hour, time.Second, events.OutcomeDelivered},
		{"acme", time.Minute, 4 * time.Second, events.OutcomeFailed},
		{"acme", 2 * time.Minute, 0, events.OutcomeRetrying},
		{"bolt", time.Minute, 2 * time.Second, events.OutcomeDelivered},
		{"bolt", 2 * time.Minute, 9 * time.Second, events.OutcomeDelivered},
		{"zeta", -30 * time.Hour, time.Second, events.OutcomeDelivered},
		{"zeta", time.Hour, time.Second, events.OutcomeDelivered}, // after now
		{"unknown", time.Minute, time.Second, events.OutcomeDelivered},
	} {
		tr := trigger(of.org, fmt.Sprint("trg_", i), of.after, 1)
		if of.org != "unknown" { // then nothing but a receipt is known
			accepted = append(accepted, tr)
		}
		d := delivery("home", of.o, 1)
		d.At = at(of.after + of.took)
		receipts = append(receipts, slice(tr, 0, true, d))
	}
	accept(t, l, accepted...)
	fold(t, l, receipts...)
	for org, want := range map[string]string{
		"acme": "0: 1 map[DELIVERED:1] 1 1s 1s; 23: 2 map[FAILED:1 RETRYING:1] 1 4s 4s; ",
		"bolt": "23: 2 map[DELIVERED:2] 2 2s 9s; ",
		"acm":  "",
		"":     "0: 1 map[DELIVERED:1] 1 1s 1s; 23: 4 map[DELIVERED:2 FAILED:1 RETRYING:1] 3 4s 9s; ",
	} {
		hours, err := l.History(t.Context(), org, noon.Add(30*time.Minute))
		must(t, err)
		if len(hours) != 24 || !hours[0].StartTime.Equal(noon.Add(-23*time.Hour)) {
			t.Fatalf("%d hours from %s", len(hours), hours[0].StartTime)
		}
		got := ""
		for i, h := range hours {
			if h.Triggers > 0 {
				got += fmt.Sprintf("%d: %d %v %d %gs %gs; ", i, h.Triggers, h.Outcomes, h.Completed, h.MedianSeconds, h.SlowestSeconds)
			}
		}
		if got != want {
			t.Errorf("history of %q is\n%swant\n%s", org, got, want)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := l.History(ended, "", noon); !errors.Is(err, context.Canceled) {
		t.Errorf("after its context: %v", err)
	}
}
