package doctor

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/events/checkup"
	own "github.com/gridhook/gridhook/events/jetstream"
)

func TestStreams_Changed(t *testing.T) {
	s := external(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	conn, err := own.Connect(ctx, s.ClientURL(), own.Options{Replicas: 1, TriggersAge: 720 * time.Hour, ReceiptsAge: 25 * time.Hour}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	r := examine(t, config.Worker, nil, "--nats", s.ClientURL()) // without the ages of the other processes
	r.want(t, "streams", OK, "on disk, with 1 replica;")
	r = examine(t, config.Worker, nil, "--nats", s.ClientURL(), "--nats-replicas", "3") // a process would not start
	r.want(t, "jetstream permissions", Problem, "replicas > 1 not supported in non-clustered mode -> start the other NATS servers")
	r.want(t, "streams", Warning, "GRIDHOOK_STATE has 1 replica instead of 3 -> correct the jetstream permissions first, then restart")
	nc, _ := nats.Connect(s.ClientURL())
	defer nc.Close()
	js, _ := jetstream.New(nc)
	stream, err := js.Stream(ctx, "GRIDHOOK_TRIGGERS")
	if err != nil {
		t.Fatal(err)
	}
	changed := stream.CachedInfo().Config
	changed.MaxBytes, changed.MaxAge = 1<<20, time.Hour
	if _, err := js.UpdateStream(ctx, changed); err != nil {
		t.Fatal(err)
	}
	r = examine(t, config.Worker, nil, "--nats", s.ClientURL())
	r.want(t, "streams", Problem, "GRIDHOOK_TRIGGERS has a limit at which it drops the oldest")
	if got := r.of("streams"); !strings.Contains(got, "GRIDHOOK_TRIGGERS drops messages after 1h0m0s") {
		t.Errorf("the findings on streams are\n%s", got)
	}
}

func judgeStreams(r *Report, f *checkup.Facts) { r.streams(&config.Config{}, f) }

// TestStreams_OwnAreValid checks that the streams that Gridhook creates pass these
// checks.
func TestStreams_OwnAreValid(t *testing.T) {
	for _, replicas := range []int{1, 3} {
		for _, cfg := range own.Configs(own.Options{Replicas: replicas, TriggersAge: time.Hour, ReceiptsAge: time.Hour}) {
			var r Report
			if r.stream("streams", "", &checkup.Stream{Is: jetstream.StreamInfo{Config: cfg}, Want: cfg}); len(r.Findings) > 0 {
				t.Errorf("%s: %+v", cfg.Name, r.Findings)
			}
		}
	}
	if !slices.ContainsFunc(wanted, func(c jetstream.StreamConfig) bool { return c.Name == "GRIDHOOK_STATE" }) {
		t.Error("the stream of the state is not checked")
	}
}
