package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/events/internal/periodic"
)

// errInterrupted says that the connection ended while following a stream.
var errInterrupted = errors.New("following the stream was interrupted")

// tail follows a stream from the message after the given sequence, in order and without
// gaps. It passes messages to apply in batches and waits while NATS does not respond. It
// returns nil when ctx ends. It returns an error if JetStream refuses, if a message does
// not decode, or if apply fails: a projection with a gap must not look complete.
//
// every is the minimum time between two batches. A batch shares the cost of apply under
// load, and a single message is not delayed.
func tail[T any](ctx context.Context, c *Conn, stream string, after uint64, every time.Duration, decode func(jetstream.Msg) (T, error), apply func([]T) error) error {
	for {
		err := follow(ctx, c, stream, &after, every, decode, apply)
		switch {
		case ctx.Err() != nil && (err == nil || errors.Is(err, errInterrupted)):
			return nil
		case !errors.Is(err, errInterrupted):
			return fmt.Errorf("follow the stream %s: %w", stream, err)
		}
		c.log.Warn("a stream cannot be followed now; trying again", "stream", stream, "error", err)
		periodic.Sleep(ctx, nakDelay)
	}
}

// follow is tail up to the first interruption. It advances after past the applied
// messages.
func follow[T any](ctx context.Context, c *Conn, stream string, after *uint64, every time.Duration, decode func(jetstream.Msg) (T, error), apply func([]T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	inbox := make(chan numbered[T], tailBuffer)
	connection := c.nc.Stats().Reconnects
	following, err := c.follow(ctx, stream, *after, func(m jetstream.Msg) {
		if ctx.Err() != nil {
			return // no message may follow a gap
		}
		n, err := number(m, decode)
		if err != nil {
			cancel(err)
			return
		}
		select {
		case inbox <- n:
		case <-ctx.Done():
		}
	})
	if err != nil {
		return err
	}
	defer following.Stop()
	look := time.NewTicker(nakDelay)
	defer look.Stop()
	var applied time.Time
	for {
		select {
		case n := <-inbox:
			if pause := every - time.Since(applied); pause > 0 {
				periodic.Sleep(ctx, pause)
			}
			batch, last := gather(n, inbox)
			if err := apply(batch); err != nil {
				return err
			}
			*after, applied = last, time.Now()
		case <-ctx.Done():
			if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
				return cause
			}
			return nil
		case <-following.Closed():
			return errInterrupted
		case <-look.C:
			// The server's consumer may have died with the server, and the client takes
			// minutes to notice.
			if c.nc.Stats().Reconnects != connection {
				return fmt.Errorf("%w: the connection was lost", errInterrupted)
			}
		}
	}
}

// follow calls handle for every message after a sequence, in order.
func (c *Conn) follow(ctx context.Context, stream string, after uint64, handle jetstream.MessageHandler) (jetstream.ConsumeContext, error) {
	consumer, err := c.js.OrderedConsumer(ctx, stream, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: after + 1,
	})
	var following jetstream.ConsumeContext
	if err == nil {
		following, err = consumer.Consume(handle, jetstream.PullMaxMessages(2*tailBatch),
			jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) {
				c.log.Debug("following a stream met an error; it goes on by itself", "stream", stream, "error", err)
			}))
	}
	if err != nil && !refused(err) {
		err = fmt.Errorf("%w: %w", errInterrupted, err)
	}
	return following, err
}

// tailBatch is the maximum size of a batch. tailBuffer is the number of messages buffered
// meanwhile.
const (
	tailBatch  = 5000
	tailBuffer = 1024
)

// numbered is a message's value and its sequence.
type numbered[T any] struct {
	sequence uint64
	value    T
}

// gather returns a batch of the first message and the buffered messages after it. last is
// the sequence of the last message.
func gather[T any](n numbered[T], inbox <-chan numbered[T]) (batch []T, last uint64) {
	for batch = []T{n.value}; len(batch) < tailBatch; {
		select {
		case next := <-inbox:
			batch, n.sequence = append(batch, next.value), next.sequence
		default:
			return batch, n.sequence
		}
	}
	return batch, n.sequence
}

func number[T any](m jetstream.Msg, decode func(jetstream.Msg) (T, error)) (numbered[T], error) {
	meta, err := m.Metadata()
	if err != nil {
		return numbered[T]{}, err
	}
	v, err := decode(m)
	return numbered[T]{meta.Sequence.Stream, v}, err
}
