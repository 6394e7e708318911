package jetstream

import (
	"context"
	"log/slog"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/events"
)

// Messages are gathered once and in order, in batches of limited size, at any speed of
// the producer and the consumer.
func TestGather_KeepsTheOrder(t *testing.T) {
	t.Parallel()
	inbox := make(chan int, tailBuffer)
	const n = 2*tailBatch + 7
	go func() {
		for i := range n {
			inbox <- 1000 + i
		}
	}()
	for next := 0; next < n; {
		batch := gather(<-inbox, inbox)
		if len(batch) > tailBatch {
			t.Fatalf("batch has %d messages", len(batch))
		}
		for _, v := range batch {
			if v != 1000+next {
				t.Fatalf("got message %d, want %d", v, next)
			}
			next++
		}
	}
}

// However slowly a projection applies large messages, few of them are in memory.
func TestTail_LargeMessages(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	const messages, size = 200, 256 << 10
	for i := range messages {
		must(t, b.nc.Publish(walkPrefix+"acme."+strconv.Itoa(i), make([]byte, size)))
	}
	ctx, cancel := context.WithCancel(within(t))
	var decoded, applied atomic.Int64
	all := make(chan struct{})
	decode := func(jetstream.Msg) (int, error) {
		if decoded.Add(1) == messages {
			close(all)
		}
		return 0, nil
	}
	must(t, tail(ctx, b.Conn, walksStream, start{}, 0, decode, func(batch []events.Sequenced[int]) error {
		if applied.Load() == 0 {
			select { // the other messages arrive meanwhile
			case <-all:
			case <-time.After(time.Second):
			}
		}
		if ahead := (decoded.Load() - applied.Load()) * size; ahead > tailBytes {
			t.Errorf("%d bytes are in memory, want at most %d", ahead, tailBytes)
		}
		if applied.Add(int64(len(batch))) == messages {
			cancel()
		}
		return nil
	}))
	if n := applied.Load(); n != messages {
		t.Errorf("applied %d messages, want %d", n, messages)
	}
}

// levels receives the levels of log records.
type levels chan slog.Level

func (l levels) Enabled(context.Context, slog.Level) bool { return true }
func (l levels) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l levels) WithGroup(string) slog.Handler            { return l }

func (l levels) Handle(_ context.Context, r slog.Record) error {
	l <- r.Level
	return nil
}

// While NATS is away, the tail of each stream does not warn each second.
func TestTail_QuietWhileDisconnected(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	logged := make(levels, 100)
	b.log = slog.New(logged)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- b.TailReceipts(ctx, 0, func([]events.Sequenced[events.Receipt]) error { return nil })
	}()
	b.wire.setDown(true)
	receive(t, logged) // the connection may have been lost just now
	if level := receive(t, logged); level != slog.LevelDebug {
		t.Errorf("a second attempt without a connection is logged as %s", level)
	}
	cancel()
	must(t, receive(t, ended))
}
