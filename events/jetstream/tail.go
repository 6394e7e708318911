package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// errInterrupted says that the connection ended while a stream was followed.
var errInterrupted = errors.New("following the stream was interrupted")

// tail follows a stream from the message after the given sequence, in order and
// without gaps, and hands over what has arrived in batches. Where NATS does not
// answer it waits until it does. It returns when ctx ends (nil), when JetStream
// refuses, or when a message does not decode or apply fails: a view with a hole
// must not look whole.
//
// Every is the least time between two batches: what is costly to apply is applied
// together while much comes, and what comes alone is not kept waiting.
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
		sleep(ctx, nakDelay)
	}
}

// follow is tail up to the first interruption. It moves after on to what was
// handed over.
func follow[T any](ctx context.Context, c *Conn, stream string, after *uint64, every time.Duration, decode func(jetstream.Msg) (T, error), apply func([]T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	inbox := newInbox[T]()
	connection := c.nc.Stats().Reconnects
	following, err := c.follow(ctx, stream, *after, func(m jetstream.Msg) {
		if ctx.Err() != nil {
			return // nothing may come behind a hole
		}
		n, err := number(m, decode)
		if err != nil {
			cancel(err)
			return
		}
		inbox.put(ctx, n)
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
		case <-inbox.arrived:
			if pause := every - time.Since(applied); pause > 0 {
				sleep(ctx, pause)
			}
			batch, last := inbox.take()
			if len(batch) == 0 {
				continue // it came with the batch before
			}
			if err := apply(batch); err != nil {
				return err
			}
			inbox.applied(batch)
			*after, applied = last, time.Now()
		case <-ctx.Done():
			if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
				return cause
			}
			return nil
		case <-following.Closed():
			return errInterrupted
		case <-look.C:
			// The server's side of following may have died with the server, and
			// the client takes minutes to notice.
			if c.nc.Stats().Reconnects != connection {
				return fmt.Errorf("%w: the connection was lost", errInterrupted)
			}
		}
	}
}

// follow has every message after a sequence handed to handle, in order.
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

func number[T any](m jetstream.Msg, decode func(jetstream.Msg) (T, error)) (numbered[T], error) {
	meta, err := m.Metadata()
	if err != nil {
		return numbered[T]{}, err
	}
	v, err := decode(m)
	return numbered[T]{meta.Sequence.Stream, v}, err
}
