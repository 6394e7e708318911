package jetstream

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/storage"
)

// scanBatch is the number of messages of one request of a scan. scanWait is how long the server
// keeps the consumer of a scan whose process ended.
const (
	scanBatch = 1000
	scanWait  = 10 * time.Second
)

// errGap says that the connection lost messages of a scan.
var errGap = errors.New("messages were lost with the connection")

// scan iterates over the stored messages of a stream on a subject, from a sequence to before
// another. Unlike messages, it has one request for many messages. Errors: storage.ErrUnavailable.
func (c *Conn) scan(ctx context.Context, stream, subject string, start, end uint64) iter.Seq2[Raw, error] {
	return func(yield func(Raw, error) bool) {
		err := c.scanEach(ctx, c.prefix.Name(stream), subject, start, func(m Raw) bool {
			return m.Sequence < end && yield(m, nil)
		})
		if err != nil {
			yield(Raw{}, fmt.Errorf("%w: read the stream %s: %w", storage.ErrUnavailable, stream, err))
		}
	}
}

// scanEach calls do for each message from a sequence on, until it returns false.
func (c *Conn) scanEach(ctx context.Context, stream, subject string, start uint64, do func(Raw) bool) error {
	consumer, err := c.js.CreateConsumer(ctx, stream, jetstream.ConsumerConfig{
		FilterSubject: c.prefix.Name(subject), AckPolicy: jetstream.AckNonePolicy, DeliverPolicy: jetstream.DeliverByStartSequencePolicy,
		OptStartSeq: max(start, 1), InactiveThreshold: scanWait, MemoryStorage: true, Replicas: 1,
	})
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.publishWait)
		defer cancel()
		_ = c.js.DeleteConsumer(ctx, stream, consumer.CachedInfo().Name) // or the server does after scanWait
	}()
	left, last := consumer.CachedInfo().NumPending, uint64(0)
	for left > 0 && ctx.Err() == nil {
		batch, err := consumer.Fetch(int(min(left, scanBatch)), jetstream.FetchMaxWait(c.publishWait)) //nolint:gosec // at most scanBatch
		if err != nil {
			return err
		}
		before := last
		for m := range batch.Messages() {
			meta, err := m.Metadata()
			if err != nil {
				return err
			}
			if meta.Sequence.Consumer != last+1 {
				return errGap
			}
			last, left = meta.Sequence.Consumer, meta.NumPending
			if !do(Raw{meta.Sequence.Stream, meta.Timestamp.UTC(), m.Subject(), m.Headers(), m.Data()}) {
				return nil
			}
		}
		if err := batch.Error(); err != nil {
			return err
		}
		if last > before {
			continue
		}
		info, err := consumer.Info(ctx) // the server is slow, or the rest was removed meanwhile
		if err != nil {
			return err
		}
		if info.Delivered.Consumer != last {
			return errGap
		}
		left = info.NumPending
	}
	return ctx.Err()
}
