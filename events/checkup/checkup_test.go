package checkup

import (
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/gridhook/gridhook/events/embedded"
	own "github.com/gridhook/gridhook/events/jetstream"
)

// A check of a healthy server describes it, and leaves nothing behind.
func TestLook_Embedded(t *testing.T) {
	s, err := embedded.Start(embedded.Options{Dir: t.TempDir(), StartTimeout: time.Minute, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Stop(time.Minute) }()
	o := Options{NATS: []nats.Option{s.Option()}, Streams: own.Options{Replicas: 1, Prefix: "TEST"}}
	for range 2 {
		f, err := Look(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if f.Version == "" || f.MaxPayload == 0 || f.Encrypted || f.Prefix != "TEST" {
			t.Errorf("the server is %+v", f)
		}
		if f.Refused != nil || f.Trial != nil || f.Ack <= 0 {
			t.Errorf("the trial ends with %v, %v after %s", f.Refused, f.Trial, f.Ack)
		}
		if len(f.Streams) != 0 || f.Account == nil || f.Account.Streams != 0 {
			t.Errorf("the account has %+v", f.Account)
		}
	}
}

// The clock of a server is the one of the quickest response.
func TestClock_Quickest(t *testing.T) {
	const ahead = time.Hour
	var f Facts
	for _, took := range []time.Duration{20 * time.Second, 10 * time.Second, 30 * time.Second} {
		now := time.Now()
		f.clock("a", now.Add(-took/2).Add(ahead), now.Add(-took))
	}
	f.clock("b", time.Now(), time.Now())
	f.clock("silent", time.Time{}, time.Now())
	if len(f.Clocks) != 2 || f.Clocks[0].Server != "a" || f.Clocks[1].Server != "b" {
		t.Fatalf("the clocks are %+v", f.Clocks)
	}
	if c := f.Clocks[0]; c.Ahead.Round(time.Second) != ahead || c.Within.Round(time.Second) != 5*time.Second {
		t.Errorf("the clock is %s ahead, within %s; want %s, within 5s", c.Ahead, c.Within, ahead)
	}
}
