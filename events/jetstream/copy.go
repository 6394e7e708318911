package jetstream

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/periodic"
	"github.com/gridhook/gridhook/storage"
)

// Raw is a message in its stored form. Its JSON form is a line of a backup.
type Raw struct {
	Sequence uint64      `json:"seq,omitempty"`
	Time     time.Time   `json:"at"` // in UTC
	Subject  string      `json:"subject"`
	Header   nats.Header `json:"header,omitempty"`
	Data     []byte      `json:"data"`
}

// Content says how to copy and restore a stream. Copy the streams in the order of
// Contents. Then no copied message refers to a message that an earlier copy missed.
type Content struct {
	Stream string
	// Queue reports whether messages leave the stream when they are done. The order and
	// the sequences of such messages mean nothing, and RestoreStream publishes them anew.
	// Messages of other streams keep theirs.
	Queue bool
	// Latest reports whether a message replaces the previous message on its subject.
	Latest bool

	// consumer is the durable consumer of this log, nil if there is none. derived reports
	// whether the consumer's work can be derived from the other copied streams.
	consumer *queue
	derived  bool
}

// Contents lists the streams that cannot be derived from other streams. It leaves out
// WORK, which can.
func Contents() []Content {
	return []Content{
		{Stream: requestsStream, Latest: true},
		{Stream: feedbackStream},
		{Stream: auditStream},
		{Stream: tasksStream, Queue: true},
		{Stream: knownStream, Queue: true, Latest: true},
		{Stream: retriesStream, Queue: true},
		{Stream: receiptsStream},
		{Stream: triggersStream, consumer: &startQueue, derived: true},
		{Stream: noticesStream, consumer: &noticeQueue},
		{Stream: stateStream, Latest: true},
	}
}

// ReceiptsStream is the stream with the outcomes of the queues' messages.
const ReceiptsStream = receiptsStream

// Copy passes a stream's messages to apply in order and returns the stream's last
// sequence. If the stream has Latest, apply receives the exact contents at one moment,
// plus some messages that were replaced just before.
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

// Handled returns the sequence up to which a restored log needs no processing. It is the
// consumer's position at the time of the call, or 0 for a log without a consumer. Call
// Handled before copying the streams with the consumer's results.
func (c *Conn) Handled(ctx context.Context, content Content) (uint64, error) {
	switch {
	case content.consumer == nil:
		return 0, nil
	case content.derived: // walks resume from their receipts
		return math.MaxUint64, nil
	}
	ctx, cancel := context.WithTimeout(ctx, publishWait)
	defer cancel()
	consumer, err := c.js.Consumer(ctx, c.prefix.Name(content.Stream), content.consumer.name)
	switch {
	case errors.Is(err, jetstream.ErrConsumerNotFound):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("%w: the consumer %s: %w", storage.ErrUnavailable, content.consumer.name, err)
	}
	return consumer.CachedInfo().AckFloor.Stream, nil
}

// errCopied stops tail at the end of the copy.
var errCopied = errors.New("copied")

// A copy that has received no message for quiet asks whether messages are left. It fails
// after stalled.
const (
	quiet   = time.Second
	stalled = 30 * time.Second
)

// copyLog follows a stream to its last sequence at the start of the copy, or to its last
// message if later messages have expired. If the stream has Latest, it continues until no
// message is ahead. At an earlier end, the copy could lack both versions of a message. The
// old version may be gone before the copy reaches it, and the new version may follow the
// end.
func (c *Conn) copyLog(ctx context.Context, content Content, end uint64, apply func([]Raw) error) (uint64, error) {
	moving, cancel := context.WithCancelCause(ctx)
	var position atomic.Uint64
	var applying atomic.Bool
	var watching sync.WaitGroup
	watching.Go(func() { cancel(c.awaitEnd(moving, content.Stream, &position, &applying)) })
	defer watching.Wait()
	defer cancel(nil)
	err := tail(moving, c, content.Stream, start{}, 0, c.raw, func(batch []events.Sequenced[Raw]) error {
		applying.Store(true)
		err := apply(values(batch))
		if applying.Store(false); err != nil {
			return err
		}
		if position.Store(batch[len(batch)-1].Sequence); position.Load() < end {
			return nil
		}
		if content.Latest {
			info, err := c.streamInfo(moving, content.Stream)
			if err != nil {
				return err
			}
			if end = info.State.LastSeq; position.Load() < end {
				return nil
			}
		}
		return errCopied
	})
	if errors.Is(err, errCopied) {
		err = nil
	} else {
		err = errors.Join(err, ctx.Err())
	}
	return position.Load(), err
}

// awaitEnd returns errCopied once a stream has no message after a position that has stopped,
// and another error if the position has stopped for long. While the receiver of a copy
// applies messages, however slowly, nothing has stopped. awaitEnd returns nil when ctx ends.
func (c *Conn) awaitEnd(ctx context.Context, stream string, position *atomic.Uint64, applying *atomic.Bool) error {
	var last uint64
	since := time.Now()
	for ctx.Err() == nil {
		periodic.Sleep(ctx, quiet)
		if at := position.Load(); at > last || applying.Load() {
			last, since = at, time.Now()
			continue
		}
		m, err := c.firstMessage(ctx, stream, ">", last+1)
		if m == nil && err == nil {
			return errCopied
		}
		if time.Since(since) > stalled {
			return errors.Join(fmt.Errorf("copy the stream %s: no message for %s", stream, stalled), err)
		}
	}
	return nil
}

func (c *Conn) raw(m jetstream.Msg) (Raw, error) {
	meta, err := m.Metadata()
	if err != nil {
		return Raw{}, err
	}
	stored := Raw{Sequence: meta.Sequence.Stream, Time: meta.Timestamp.UTC(), Subject: m.Subject(), Header: m.Headers(), Data: m.Data()}
	return renameMessage(stored, c.prefix.standard), nil
}

// copyQueue reads the messages one by one, because only a queue's workers may follow it.
func (c *Conn) copyQueue(ctx context.Context, name string, apply func([]Raw) error) error {
	for m, err := range c.messages(ctx, name, ">", 1) {
		if err != nil {
			return err
		}
		stored := Raw{m.Sequence, m.Time.UTC(), m.Subject, m.Header, m.Data}
		if err := apply([]Raw{renameMessage(stored, c.prefix.standard)}); err != nil {
			return err
		}
	}
	return nil
}

// WatchQueues calls handle for every new retry and task, with the name of its stream,
// until stop is called. stop returns when handle has received all earlier messages. So
// handle also sees messages that enter and leave a queue between two reads. WatchQueues
// leaves out messages that the server stores only on an empty subject. They can be derived
// from other data, and the server may have refused them.
func (c *Conn) WatchQueues(handle func(stream string, m Raw)) (stop func() error, err error) {
	unavailable := func(err error) error {
		if err == nil {
			return nil
		}
		return fmt.Errorf("%w: watch the queues: %w", storage.ErrUnavailable, err)
	}
	connection := c.nc.Stats().Reconnects
	sub, err := c.nc.Subscribe(c.prefix.Name(queuesWait), func(m *nats.Msg) {
		if m.Header.Get(jetstream.ExpectedLastSubjSeqHeader) != "" {
			return
		}
		stream := retriesStream
		if strings.HasPrefix(m.Subject, c.prefix.Name(taskWaitPrefix)) {
			stream = tasksStream
		}
		waiting := Raw{Time: time.Now().UTC(), Subject: m.Subject, Header: m.Header, Data: m.Data}
		handle(stream, renameMessage(waiting, c.prefix.standard))
	})
	if err != nil {
		return nil, unavailable(err)
	}
	const unlimited = -1
	err = errors.Join(sub.SetPendingLimits(unlimited, unlimited), c.nc.FlushTimeout(publishWait))
	if err != nil {
		return nil, unavailable(errors.Join(err, drained(sub)))
	}
	return func() error {
		err := c.nc.FlushTimeout(publishWait) // after the flush, all messages sent by the server are here
		err = errors.Join(err, drained(sub))
		if c.nc.Stats().Reconnects != connection {
			err = errors.Join(err, errors.New("the connection to NATS was lost"))
		}
		return unavailable(err)
	}, nil
}

// queuesWait matches the subjects of waiting retries and tasks.
const queuesWait = "gridhook.*.wait.>"

// drained ends a subscription and waits until its messages have been handled.
func drained(sub *nats.Subscription) error {
	done := make(chan struct{})
	sub.SetClosedHandler(func(string) { close(done) })
	err := sub.Drain()
	if err == nil {
		<-done
	}
	return err
}
