package jetstream

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

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
func (c *Conn) Copy(ctx context.Context, content Content, apply func(Raw) error) (last uint64, err error) {
	info, err := c.streamInfo(ctx, content.Stream)
	switch {
	case err != nil:
		return 0, err
	case info.State.Msgs == 0:
		return info.State.LastSeq, nil
	case info.Config.Retention == jetstream.WorkQueuePolicy:
		return info.State.LastSeq, c.copyQueue(ctx, content.Stream, info.State.LastSeq, apply)
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

// copyLog reads a stream to its last sequence at the start of the copy. If the stream has
// Latest, it continues until it has read a range in which no message was replaced, or no message
// is ahead. At an earlier end, the copy could lack both versions of a message. The old version
// may be gone before the copy reaches it, and the new version may follow the end. It returns the
// last sequence of the copy, whose message may have expired.
func (c *Conn) copyLog(ctx context.Context, content Content, end uint64, apply func(Raw) error) (last uint64, err error) {
	for position := uint64(0); ; {
		unread := end - position
		err := c.copyRange(ctx, content.Stream, position, end, func(m Raw) error {
			unread--
			return apply(m)
		})
		if err != nil || !content.Latest || unread == 0 {
			return end, err
		}
		info, err := c.streamInfo(ctx, content.Stream)
		if err != nil || info.State.LastSeq == end {
			return end, err
		}
		position, end = end, info.State.LastSeq
	}
}

// A copy that gets no message asks again after quiet. It fails after stalled.
const (
	quiet   = time.Second
	stalled = 30 * time.Second
)

// copyRange reads the messages after a sequence up to end, without those that have expired.
func (c *Conn) copyRange(ctx context.Context, stream string, position, end uint64, apply func(Raw) error) error {
	for since := time.Now(); position < end; periodic.Sleep(ctx, quiet) {
		var err error
		for m, failed := range c.scan(ctx, stream, ">", position+1, end+1) {
			if err = failed; err != nil {
				break
			}
			if err := apply(renameMessage(m, c.prefix.standard)); err != nil {
				return err
			}
			position, since = m.Sequence, time.Now() // a slow receiver has not stopped
		}
		var next *jetstream.RawStreamMsg
		if err == nil { // the server of the scan may be behind the others
			next, err = c.firstMessage(ctx, stream, ">", position+1)
		}
		switch {
		case err == nil && (next == nil || next.Sequence > end):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Since(since) > stalled:
			return errors.Join(fmt.Errorf("copy the stream %s: no message for %s", stream, stalled), err)
		}
	}
	return nil
}

// copyQueue reads the messages one by one, because only a queue's workers may follow it. A
// message that is due gets a new sequence. So at end, the last sequence at the start of the copy,
// copyQueue continues once, to the last sequence then. WatchQueues has what arrives later.
func (c *Conn) copyQueue(ctx context.Context, name string, end uint64, apply func(Raw) error) error {
	continued := false
	for m, err := range c.messages(ctx, name, ">", 1) {
		if err != nil {
			return err
		}
		if m.Sequence > end {
			if continued {
				return nil
			}
			info, err := c.streamInfo(ctx, name)
			if err != nil {
				return err
			}
			end, continued = info.State.LastSeq, true
		}
		stored := Raw{m.Sequence, m.Time.UTC(), m.Subject, m.Header, m.Data}
		if err := apply(renameMessage(stored, c.prefix.standard)); err != nil {
			return err
		}
	}
	return nil
}

// watchedBytes limits the messages that wait for the handle of WatchQueues.
var watchedBytes = 256 << 20 // tests lower it

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
	err = errors.Join(sub.SetPendingLimits(unlimited, watchedBytes), c.nc.FlushTimeout(publishWait))
	if err != nil {
		return nil, unavailable(errors.Join(err, drained(sub)))
	}
	return func() error {
		err := c.nc.FlushTimeout(publishWait)   // after the flush, all messages sent by the server are here
		if lost, _ := sub.Dropped(); lost > 0 { // it fails only if the subscription has ended
			err = errors.Join(err, fmt.Errorf("%d new retries and tasks are lost, because the backup is read too slowly: read it faster", lost))
		}
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
