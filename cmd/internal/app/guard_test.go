package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gridhook/gridhook/events/embedded"
	"github.com/gridhook/gridhook/events/jetstream"
	"github.com/gridhook/gridhook/storage"
)

func TestRetryUnavailable_UntilResponse(t *testing.T) {
	away, refused := fmt.Errorf("%w: no leader", storage.ErrUnavailable), errors.New("too old for this state")
	for name, c := range map[string]struct {
		answers []error // the last error repeats
		asked   int
		want    error
	}{
		"it answers":              {[]error{nil}, 1, nil},
		"it answers in the end":   {[]error{away, away, nil}, 3, nil},
		"it refuses":              {[]error{away, refused}, 2, refused},
		"starting takes too long": {[]error{away}, 5, storage.ErrUnavailable},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 9*guardEvery/2)
			defer cancel()
			a, asked := &App{Options: Options{Log: slog.New(slog.DiscardHandler)}}, 0
			err := a.retryUnavailable(ctx, func(context.Context) error {
				asked++
				return c.answers[min(asked, len(c.answers))-1]
			})
			if !errors.Is(err, c.want) || asked != c.asked {
				t.Errorf("%s: %v after %d attempts, want %v after %d", name, err, asked, c.want, c.asked)
			}
		})
	}
}

// The embedded server is restarted less and less often while that does not help. A disk that
// is full again does not delay the restart after it.
func TestRestartBackoff(t *testing.T) {
	now := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	var b restartBackoff
	restarts := func(want ...time.Duration) {
		t.Helper()
		for _, wait := range want {
			if wait > 0 && b.over(now.Add(wait-1)) || !b.over(now.Add(wait)) {
				t.Fatalf("delay is %s, want %s", b.delay, wait)
			}
			now = now.Add(wait)
			b.restarted(now)
		}
	}
	restarts(0, 5*time.Second, 10*time.Second, 20*time.Second, 40*time.Second, time.Minute, time.Minute)
	b.healthy(now.Add(59 * time.Second))
	restarts(time.Minute)
	b.healthy(now.Add(time.Minute))
	restarts(0, 5*time.Second, 10*time.Second)
	for range 5 {
		b.diskFull()
		restarts(5 * time.Second)
	}
}

// A fault counts when two inspections in a row find the same one. A server that creates one
// stream after another has another fault at each inspection.
func TestRepeated_Found(t *testing.T) {
	var r repeated
	for i, step := range []struct{ fault, want string }{
		{"", ""}, {"stream A", ""}, {"stream B", ""}, {"", ""}, {"stream A", ""}, {"stream A", "stream A"}, {"stream A", "stream A"}, {"", ""}, {"stream A", ""},
	} {
		if got := r.found(step.fault); got != step.want {
			t.Errorf("inspection %d finds %q: it counts as %q, want %q", i, step.fault, got, step.want)
		}
	}
}

// TestGuard_Disconnected checks that the guard does not repeat every second what the log says
// once: that NATS is gone.
func TestGuard_Disconnected(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	s, err := embedded.Start(embedded.Options{Dir: t.TempDir(), StartTimeout: 2 * time.Minute, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := jetstream.ConnectBare("", jetstream.Options{}, log, s.Option())
	if err = errors.Join(err, conn.Close(), s.Stop(2*time.Minute)); err != nil {
		t.Fatal(err)
	}
	g := guard{app: &App{conn: conn}}
	if err := g.inspect(t.Context()); err != nil {
		t.Errorf("the guard reports %v", err)
	}
}
