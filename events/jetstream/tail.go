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

// start says where to begin with a stream: after a sequence, or at a time if the sequence
// is 0 and the time is set.
type start struct {
	after uint64
	at    time.Time
}

func (s start) config() jetstream.OrderedConsumerConfig {
	if s.after == 0 && !s.at.IsZero() {
		return jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverByStartTimePolicy, OptStartTime: &s.at}
	}
	return jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: s.after + 1}
}

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
		switch {
		case ctx.Err() != nil && (err == nil || errors.Is(err, errInterrupted)):
			return nil
		case !errors.Is(err, errInterrupted):
			return fmt.Errorf("follow the stream %s: %w", stream, err)
		}
		level := slog.LevelWarn
		if !c.Connected() { // the log has the lost connection
			level = slog.LevelDebug
		}
		c.log.Log(ctx, level, "stream cannot be followed, retrying", "stream", stream, "error", err)
		periodic.Sleep(ctx, nakDelay)
	}
}

// follow is tail up to the first interruption. It moves from past the applied messages.
func follow[T any](ctx context.Context, c *Conn, stream string, from *start, every time.Duration, decode func(jetstream.Msg) (T, error), apply func([]events.Sequenced[T]) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	inbox := make(chan events.Sequenced[T], tailBuffer)
	unapplied := semaphore.NewWeighted(tailBytes)
	connection := c.nc.Stats().Reconnects
	var passing sync.Mutex // while the client replaces its consumer, two of its goroutines pass messages
	following, err := c.follow(ctx, stream, *from, func(m jetstream.Msg) {
		passing.Lock()
		defer passing.Unlock()
		if ctx.Err() != nil || unapplied.Acquire(ctx, weight(len(m.Data()))) != nil {
			return // no message may follow a gap
		}
		v, err := sequenced(m, decode)
		if err != nil {
			cancel(fmt.Errorf("message %d on the subject %s: %w", v.Sequence, m.Subject(), err))
			return
		}
		select {
		case inbox <- v:
		case <-ctx.Done():
		}
	})
	if err != nil {
		return err
	}
	defer following.Stop()
	closed := following.Closed() // each call starts a goroutine, which ends with the subscription
	check := time.NewTicker(nakDelay)
	defer check.Stop()
	var applied time.Time
	for {
		select {
		case first := <-inbox:
			if pause := every - time.Since(applied); pause > 0 {
				periodic.Sleep(ctx, pause)
			}
			batch := gather(first, inbox)
			if err := applyInOrder(from, batch, apply); err != nil {
				return err
			}
			for i := range batch {
				unapplied.Release(weight(len(batch[i].Data)))
			}
			applied = time.Now()
		case <-ctx.Done():
			if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
				return cause
			}
			return nil
		case <-closed:
			return errInterrupted
		case <-check.C:
			// The server's consumer may have died with the server, and the client takes
			// minutes to notice.
			if c.nc.Stats().Reconnects != connection {
				return fmt.Errorf("%w: the connection was lost", errInterrupted)
			}
		}
	}
}

// applyInOrder passes a batch to apply and moves from past it. If a message comes after later
// ones, as from a server that is behind the others, applyInOrder stops before it, and following
// begins again there. So the older of two records of one entity is never applied last.
func applyInOrder[T any](from *start, batch []events.Sequenced[T], apply func([]events.Sequenced[T]) error) error {
	n, last := 0, from.after
	for n < len(batch) && batch[n].Sequence > last {
		last = batch[n].Sequence
		n++
	}
	if n > 0 {
		if err := apply(batch[:n]); err != nil {
			return err
		}
		from.after = last
	}
	if n < len(batch) {
		from.after = batch[n].Sequence - 1
		return fmt.Errorf("%w: message %d came after message %d", errInterrupted, batch[n].Sequence, last)
	}
	return nil
}

// follow calls handle for every message from a start on, in order.
func (c *Conn) follow(ctx context.Context, stream string, from start, handle jetstream.MessageHandler) (jetstream.ConsumeContext, error) {
	consumer, err := c.js.OrderedConsumer(ctx, c.prefix.Name(stream), from.config())
	var following jetstream.ConsumeContext
	if err == nil {
		following, err = consumer.Consume(handle, jetstream.PullMaxBytes(max(tailBytes, 2*int(c.nc.MaxPayload()))),
			jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) {
				c.log.Debug("error while following a stream, continuing", "stream", stream, "error", err)
			}))
	}
	if err != nil && !refused(err) {
		err = fmt.Errorf("%w: %w", errInterrupted, err)
	}
	return following, err
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

func sequenced[T any](m jetstream.Msg, decode func(jetstream.Msg) (T, error)) (events.Sequenced[T], error) {
	meta, err := m.Metadata()
	if err != nil {
		return events.Sequenced[T]{}, err
	}
	v, err := decode(m)
	size := len(m.Subject()) + len(m.Data())
	return events.Sequenced[T]{Sequence: meta.Sequence.Stream, Stored: meta.Timestamp.UTC(), Size: size, Data: m.Data(), Value: v}, err
}

// values returns the values of a batch.
func values[T any](batch []events.Sequenced[T]) []T {
	list := make([]T, len(batch))
	for i := range batch {
		list[i] = batch[i].Value
	}
	return list
}
