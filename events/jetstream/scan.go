package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/storage"
)

// scanBatch is the maximum number of messages of one request. scanWait is how long the server
// keeps the consumer of a process that was killed.
const (
	scanBatch = 1000
	scanWait  = 20 * time.Second
)

// errGap says that the connection lost messages.
var errGap = errors.New("messages were lost with the connection")

// start says where to begin with a stream: after a sequence, or at a time if the sequence
// is 0 and the time is set.
type start struct {
	after uint64
	at    time.Time
}

// scan iterates over the stored messages of a stream on a subject, from a sequence to before
// another. Unlike messages, it has one request for many messages. Errors: storage.ErrUnavailable.
func (c *Conn) scan(ctx context.Context, stream, subject string, first, end uint64) iter.Seq2[Raw, error] {
	return func(yield func(Raw, error) bool) {
		err := c.scanEach(ctx, stream, subject, start{after: max(first, 1) - 1}, false, func(m jetstream.Msg, meta *jetstream.MsgMetadata) bool {
			return meta.Sequence.Stream < end && yield(Raw{meta.Sequence.Stream, meta.Timestamp.UTC(), m.Subject(), m.Headers(), m.Data()}, nil)
		})
		if err != nil {
			yield(Raw{}, fmt.Errorf("%w: read the stream %s: %w", storage.ErrUnavailable, stream, err))
		}
	}
}

// scanEach calls do for each message of a stream on a subject from a start on, in order and
// without gaps, until do returns false. It ends after the last stored message, unless follow is
// set.
func (c *Conn) scanEach(ctx context.Context, stream, subject string, from start, follow bool, do func(jetstream.Msg, *jetstream.MsgMetadata) bool) error {
	consumer, err := c.js.CreateConsumer(ctx, c.prefix.Name(stream), from.config(c.prefix.Name(subject)))
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.publishWait/4)
		defer cancel()
		_ = c.js.DeleteConsumer(ctx, c.prefix.Name(stream), consumer.CachedInfo().Name) // or the server does after scanWait
	}()
	bytes := jetstream.FetchMaxBytes(max(tailBytes, 2*int(c.nc.MaxPayload())))
	for left, last := consumer.CachedInfo().NumPending, uint64(0); left > 0 || follow; {
		n := scanBatch
		if !follow {
			n = int(min(left, scanBatch)) //nolint:gosec // at most scanBatch
		}
		batch, err := consumer.Fetch(n, jetstream.FetchMaxWait(c.publishWait/2), bytes)
		if err != nil {
			return err
		}
		before := last
		for m := range received(ctx, batch.Messages()) {
			meta, err := m.Metadata()
			if err != nil {
				return err
			}
			if meta.Sequence.Consumer != last+1 {
				return errGap
			}
			last, left = meta.Sequence.Consumer, meta.NumPending
			if !do(m, meta) {
				return nil
			}
		}
		if err := cmp.Or(ctx.Err(), batch.Error()); err != nil {
			return err
		}
		if last > before {
			continue
		}
		info, err := consumer.Info(ctx) // the server is slow, or the rest was removed meanwhile
		switch {
		case errors.Is(err, jetstream.ErrConsumerNotFound): // it ended with its server
			return errGap
		case err != nil:
			return err
		case info.Delivered.Consumer != last:
			return errGap
		}
		left = info.NumPending
	}
	return nil
}

// config returns the settings of a consumer that begins at the start.
func (s start) config(subject string) jetstream.ConsumerConfig {
	config := jetstream.ConsumerConfig{
		FilterSubject: subject, AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: scanWait, MemoryStorage: true, Replicas: 1,
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: s.after + 1,
	}
	if s.after == 0 && !s.at.IsZero() {
		config.DeliverPolicy, config.OptStartSeq, config.OptStartTime = jetstream.DeliverByStartTimePolicy, 0, &s.at
	}
	return config
}

// received iterates over the values from a channel until it is closed or ctx ends.
func received[T any](ctx context.Context, from <-chan T) iter.Seq[T] {
	return func(yield func(T) bool) {
		for {
			select {
			case v, ok := <-from:
				if !ok || !yield(v) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}
