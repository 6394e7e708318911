package jetstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/semaphore"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/periodic"
)

// errInterrupted says that the connection ended while following a stream.
var errInterrupted = errors.New("following the stream was interrupted")

// tail follows a stream from a start, in order and without gaps. It passes messages to
// apply in batches and waits while NATS does not respond. It returns nil when ctx ends. It
// returns an error if JetStream refuses, if a message does not decode, or if apply fails:
// a projection with a gap must not look complete.
//
// every is the minimum time between two batches. A batch shares the cost of apply under
// load, and a single message is not delayed.
func tail[T any](ctx context.Context, c *Conn, stream string, from start, every time.Duration, decode func(jetstream.Msg) (T, error), apply func([]events.Sequenced[T]) error) error {
	for {
		err := follow(ctx, c, stream, &from, every, decode, apply)
		if again, err := c.interrupted(ctx, stream, err); !again {
			return err
		}
	}
}

// interruption marks an error of JetStream as an interruption, unless JetStream refuses. A
// missing stream may be made again.
func interruption(err error) error {
	if refused(err) && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return err
	}
	return fmt.Errorf("%w: %w", errInterrupted, err)
}

// interrupted reports whether err, the end of following a stream, is an interruption. It then
// waits before the next attempt. Otherwise it returns the error of the caller.
func (c *Conn) interrupted(ctx context.Context, stream string, err error) (again bool, failed error) {
	switch {
	case ctx.Err() != nil && (err == nil || errors.Is(err, errInterrupted)):
		return false, nil
	case !errors.Is(err, errInterrupted):
		return false, fmt.Errorf("follow the stream %s: %w", stream, err)
	}
	level := slog.LevelWarn
	if !c.Connected() { // the log has the lost connection
		level = slog.LevelDebug
	}
	c.log.Log(ctx, level, "stream cannot be followed, retrying", "stream", stream, "error", err)
	periodic.Sleep(ctx, nakDelay)
	return true, nil
}

// follow is tail up to the first interruption. It moves from past the applied messages.
func follow[T any](ctx context.Context, c *Conn, stream string, from *start, every time.Duration, decode func(jetstream.Msg) (T, error), apply func([]events.Sequenced[T]) error) error {
	var reading sync.WaitGroup
	defer reading.Wait()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	inbox := make(chan events.Sequenced[T], tailBuffer)
	unapplied := semaphore.NewWeighted(tailBytes)
	begin := *from
	reading.Go(func() {
		err := c.scanEach(ctx, stream, "", begin, true, func(m jetstream.Msg, meta *jetstream.MsgMetadata) bool {
			if unapplied.Acquire(ctx, weight(len(m.Data()))) != nil {
				return false
			}
			v, err := decode(m)
			if err != nil {
				cancel(fmt.Errorf("message %d on the subject %s: %w", meta.Sequence.Stream, m.Subject(), err))
				return false
			}
			size := len(m.Subject()) + len(m.Data())
			select {
			case inbox <- events.Sequenced[T]{Sequence: meta.Sequence.Stream, Stored: meta.Timestamp.UTC(), Size: size, Data: m.Data(), Value: v}:
				return true
			case <-ctx.Done():
				return false
			}
		})
		cancel(interruption(err))
	})
	var applied time.Time
	for {
		select {
		case first := <-inbox:
			if pause := every - time.Since(applied); pause > 0 {
				periodic.Sleep(ctx, pause)
			}
			batch := gather(first, inbox)
			if err := apply(batch); err != nil {
				return err
			}
			from.after = batch[len(batch)-1].Sequence
			for i := range batch {
				unapplied.Release(weight(len(batch[i].Data)))
			}
			applied = time.Now()
		case <-ctx.Done():
			if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
				return cause
			}
			return nil
		}
	}
}

// tailBatch is the maximum size of a batch. tailBuffer is the number of messages buffered
// meanwhile. tailBytes bounds the size of both in bytes, and of the messages that the client
// has not decoded yet.
const (
	tailBatch  = 5000
	tailBuffer = 1024
	tailBytes  = 16 << 20
)

// weight returns what a message of a size takes of tailBytes: all of it, if it is larger.
func weight(size int) int64 { return min(int64(size), tailBytes) }

// gather returns a batch of the first message and the buffered messages after it.
func gather[T any](first T, inbox <-chan T) []T {
	batch := []T{first}
	for len(batch) < tailBatch {
		select {
		case next := <-inbox:
			batch = append(batch, next)
		default:
			return batch
		}
	}
	return batch
}

// values returns the values of a batch.
func values[T any](batch []events.Sequenced[T]) []T {
	list := make([]T, len(batch))
	for i := range batch {
		list[i] = batch[i].Value
	}
	return list
}
