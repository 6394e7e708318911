package jetstream

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/storage"
)

// Raw is a message as a stream keeps it.
type Raw struct {
	Sequence uint64
	Time     time.Time
	Subject  string
	Header   nats.Header
	Data     []byte
}

// Content says how a stream is copied and put back. The order of Contents is the
// order in which they must be copied: nothing that is copied refers to something
// that is copied before and was not yet there.
type Content struct {
	Stream string
	// Queue says that messages are taken off when they are done with: their order
	// and sequences mean nothing, and they are put back by publishing them. Those of
	// the others are kept.
	Queue bool
	// Latest says that a message takes the place of the one before on its subject.
	Latest bool

	// taken is what takes the messages of a log, nil where nothing does. begun says
	// that what it does with them follows from what is copied besides.
	taken *queue
	begun bool
}

// Contents are the streams whose content cannot be derived from the others'. What
// WORK holds can.
func Contents() []Content {
	return []Content{
		{Stream: tasksStream, Queue: true},
		{Stream: knownStream, Queue: true, Latest: true},
		{Stream: retriesStream, Queue: true},
		{Stream: receiptsStream},
		{Stream: triggersStream, taken: &startQueue, begun: true},
		{Stream: noticesStream, taken: &noticeQueue},
		{Stream: stateStream, Latest: true},
	}
}

// ReceiptsStream is the name of the stream that says what came of the queues' messages.
const ReceiptsStream = receiptsStream

// Copy hands over what a stream holds, in order, and returns its last sequence
// then. Of a stream in which messages take the place of others, what is handed
// over is exactly what it held at one moment, with some that were replaced just
// before.
func (c *Conn) Copy(ctx context.Context, content Content, apply func([]Raw) error) (last uint64, err error) {
	info, err := c.streamInfo(ctx, content.Stream)
	switch {
	case err != nil:
		return 0, err
	case info.State.Msgs == 0:
		return info.State.LastSeq, nil
	case info.Config.Retention == jetstream.WorkQueuePolicy:
		return info.State.LastSeq, c.copyQueue(ctx, content.Stream, apply)
	}
	return c.copyLog(ctx, content, info.State.LastSeq, apply)
}

// Handled is up to which sequence the messages of a log need not be handled again
// when it is put back: as far as they were when this is asked, which must be before
// what comes of them is copied. It is 0 where nothing handles them.
func (c *Conn) Handled(ctx context.Context, content Content) (uint64, error) {
	switch {
	case content.taken == nil:
		return 0, nil
	case content.begun: // walks are taken up by their receipts
		return math.MaxUint64, nil
	}
	ctx, cancel := context.WithTimeout(ctx, publishWait)
	defer cancel()
	consumer, err := c.js.Consumer(ctx, content.Stream, content.taken.name)
	switch {
	case errors.Is(err, jetstream.ErrConsumerNotFound):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("%w: the consumer %s: %w", storage.ErrUnavailable, content.taken.name, err)
	}
	return consumer.CachedInfo().AckFloor.Stream, nil
}

func (c *Conn) streamInfo(ctx context.Context, name string) (*jetstream.StreamInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, publishWait)
	defer cancel()
	s, err := c.js.Stream(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("%w: the stream %s: %w", storage.ErrUnavailable, name, err)
	}
	return s.CachedInfo(), nil
}

// errCopied ends following a stream: it is copied.
var errCopied = errors.New("copied")

// stalled is how long nothing may come of a stream that is being copied.
const stalled = 30 * time.Second

// copyLog follows a stream to its end: as it was when this began, or, where
// messages are replaced, to a moment at which nothing is ahead. What is read of
// such a stream up to an earlier end may lack both the old message, which was
// gone when its turn came, and the new one, which came after the end.
func (c *Conn) copyLog(ctx context.Context, content Content, end uint64, apply func([]Raw) error) (position uint64, err error) {
	moving, cancel := context.WithCancel(ctx)
	defer cancel()
	watch := time.AfterFunc(stalled, cancel)
	defer watch.Stop()
	err = tail(moving, c, content.Stream, 0, 0, raw, func(batch []Raw) error {
		watch.Reset(stalled)
		if err := apply(batch); err != nil {
			return err
		}
		if position = batch[len(batch)-1].Sequence; position < end {
			return nil
		}
		if content.Latest {
			info, err := c.streamInfo(moving, content.Stream)
			if err != nil {
				return err
			}
			if end = info.State.LastSeq; position < end {
				return nil
			}
		}
		return errCopied
	})
	switch {
	case errors.Is(err, errCopied):
		return position, nil
	case err == nil:
		err = fmt.Errorf("copy the stream %s: nothing came for %s", content.Stream, stalled)
	}
	return position, errors.Join(err, ctx.Err())
}

func raw(m jetstream.Msg) (Raw, error) {
	meta, err := m.Metadata()
	if err != nil {
		return Raw{}, err
	}
	return Raw{Sequence: meta.Sequence.Stream, Time: meta.Timestamp, Subject: m.Subject(), Header: m.Headers(), Data: m.Data()}, nil
}

// copyQueue reads the messages one by one: nobody but its workers may follow a
// queue.
func (c *Conn) copyQueue(ctx context.Context, name string, apply func([]Raw) error) error {
	s, err := c.js.Stream(ctx, name)
	if err != nil {
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	for next := uint64(1); ; {
		one, cancel := context.WithTimeout(ctx, publishWait)
		m, err := s.GetMsg(one, next, jetstream.WithGetMsgSubject(">"))
		cancel()
		switch {
		case errors.Is(err, jetstream.ErrMsgNotFound):
			return nil
		case err != nil:
			return fmt.Errorf("copy the stream %s: %w", name, err)
		}
		if err := apply([]Raw{{m.Sequence, m.Time, m.Subject, m.Header, m.Data}}); err != nil {
			return err
		}
		next = m.Sequence + 1
	}
}

// WatchQueues hands over every retry and every task from now on that is put on its
// queue, with the name of its stream, until stop is called, which returns once all have
// been handed over that were put before. One may be put and taken off again between two
// looks at its queue. What is put only where nothing waits is left out: it follows from
// something else, and may not have been stored.
func (c *Conn) WatchQueues(handle func(stream string, m Raw)) (stop func() error, err error) {
	connection := c.nc.Stats().Reconnects
	var stops []func() error
	for stream, subjects := range map[string]string{retriesStream: retryWaitSubjects, tasksStream: taskWaitSubjects} {
		sub, err := c.nc.Subscribe(subjects, func(m *nats.Msg) {
			if m.Header.Get(jetstream.ExpectedLastSubjSeqHeader) == "" {
				handle(stream, Raw{Time: time.Now(), Subject: m.Subject, Header: m.Header, Data: m.Data})
			}
		})
		if err == nil {
			const unlimited = -1
			err = sub.SetPendingLimits(unlimited, unlimited)
			stops = append(stops, func() error { return drained(sub) })
		}
		if err != nil {
			return nil, fmt.Errorf("%w: watch the queues: %w", storage.ErrUnavailable, errors.Join(err, all(stops)))
		}
	}
	if err := c.nc.FlushTimeout(publishWait); err != nil {
		return nil, fmt.Errorf("%w: watch the queues: %w", storage.ErrUnavailable, errors.Join(err, all(stops)))
	}
	return func() error {
		err := c.nc.FlushTimeout(publishWait) // what the server has sent is here now
		err = errors.Join(err, all(stops))
		if c.nc.Stats().Reconnects != connection {
			err = errors.Join(err, fmt.Errorf("%w: the connection to NATS was lost", storage.ErrUnavailable))
		}
		return err
	}, nil
}

func all(stops []func() error) (err error) {
	for _, stop := range stops {
		err = errors.Join(err, stop())
	}
	return err
}

// drained ends a subscription, and waits until what came has been handled.
func drained(sub *nats.Subscription) error {
	done := make(chan struct{})
	sub.SetClosedHandler(func(string) { close(done) })
	err := sub.Drain()
	if err == nil {
		<-done
	}
	return err
}
