package jetstream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"
)

// Inspector checks the streams for lost messages, and the queues for messages that are
// never handed out. It also reads the depth of the queues. A server that loses a part of
// its files does not report it: a flipped bit can cost thousands of messages without a log
// line. An Inspector is for one goroutine.
type Inspector struct {
	c *Conn
	// outOfStep counts consecutive checks that found a queue's consumer out of step with
	// its stream.
	outOfStep map[string]int
}

// NewInspector returns an inspector.
func (c *Conn) NewInspector() *Inspector { return &Inspector{c: c, outOfStep: map[string]int{}} }

// Depth is the number of messages in the queues.
type Depth struct {
	// Slices counts slices queued or in flight, one for each running trigger and slot.
	Slices uint64
	// RetriesWaiting counts retries that wait or are due.
	RetriesWaiting uint64
	// Unstarted counts accepted triggers whose walk has not begun.
	Unstarted uint64
	// DeadLetters counts messages that could not be processed.
	DeadLetters uint64
	// State is the last revision of the log of record.
	State uint64
	// Trigger and Receipt are the sequences of the newest stored messages, 0 without one.
	Trigger, Receipt uint64
	// Stored is the size of the account's files in bytes, and MaxStored its limit, 0 without one.
	Stored, MaxStored uint64
}

// Finding is the result of a check.
type Finding struct {
	Depth Depth
	// Damage describes the losses of the streams of record. It is empty if they are
	// intact.
	Damage []string
	// Recreated are the queues whose consumers skipped messages. Look deleted these
	// consumers, and the workers recreate them. Unacknowledged messages are delivered
	// again.
	Recreated []string
}

// Look checks all streams. revision is the last revision of STATE that this process has
// applied. records is the minimum number of messages in STATE at that revision. Look
// returns the errors of its requests with the stream of each. Every process of a fleet calls
// it each second. So it asks for each stream, each queue and the account once, and at the same
// time: NATS may be far away.
func (i *Inspector) Look(ctx context.Context, revision, records uint64) (Finding, error) {
	queues := map[string][]queue{}
	for _, q := range append(retryQueues(), startQueue, sliceQueue, surplusQueue, noticeQueue) {
		queues[q.stream] = append(queues[q.stream], q)
	}
	var f Finding
	var errs []error
	names := []string{stateStream, triggersStream, receiptsStream, noticesStream, workStream, retriesStream, DeadStream}
	found := make([]description, len(names))
	var group sync.WaitGroup
	for n, name := range names {
		group.Go(func() { found[n] = i.describe(ctx, name, queues[name]) })
	}
	group.Wait()
	for n, name := range names {
		if err := i.lookAt(ctx, name, queues[name], &found[n], revision, records, &f); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", i.c.prefix.Name(name), err))
			if ctx.Err() != nil { // NATS does not respond, and the other errors say the same
				break
			}
		}
	}
	if account, err := i.c.js.AccountInfo(ctx); err == nil { // nothing depends on it
		f.Depth.Stored, f.Depth.MaxStored = fullest(account)
	}
	return f, errors.Join(errs...)
}

// fullest returns the use and the limit of an account's file storage. An account may have tiers,
// one for each number of replicas. The fullest tier counts.
func fullest(a *jetstream.AccountInfo) (used, limit uint64) {
	for _, t := range append(slices.Collect(maps.Values(a.Tiers)), a.Tier) {
		of := uint64(max(t.Limits.MaxStore, 0))
		if of > 0 && (limit == 0 || float64(t.Store)/float64(of) > float64(used)/float64(limit)) {
			used, limit = t.Store, of
		}
	}
	return used, limit
}

// description is what NATS says about a stream and its queues. A queue without a consumer has
// nil.
type description struct {
	consumers []*jetstream.ConsumerInfo
	info      *jetstream.StreamInfo
	err       error
}

// describe asks for a stream after its queues, so that no queue is ahead of the stream.
func (i *Inspector) describe(ctx context.Context, name string, queues []queue) (d description) {
	if d.consumers, d.err = i.consumers(ctx, name, queues); d.err != nil {
		return d
	}
	s, err := i.c.js.Stream(ctx, i.c.prefix.Name(name))
	if err != nil {
		return description{err: err}
	}
	d.info = s.CachedInfo()
	return d
}

// lookAt checks a stream and its queues.
func (i *Inspector) lookAt(ctx context.Context, name string, queues []queue, found *description, revision, records uint64, f *Finding) error {
	if found.err != nil {
		return found.err
	}
	consumers, info := found.consumers, found.info
	switch name {
	case stateStream:
		f.Depth.State = info.State.LastSeq
		if damage := lookAtState(info, revision, records); damage != "" {
			f.Damage = append(f.Damage, damage)
		}
	case triggersStream, receiptsStream, noticesStream:
		// These streams deny deletion, and messages expire only from the front.
		if n := info.State.NumDeleted; n > 0 {
			f.Damage = append(f.Damage, fmt.Sprintf("%s has lost %d messages", name, n))
		}
		switch {
		case info.State.Msgs == 0:
		case name == triggersStream:
			f.Depth.Trigger = info.State.LastSeq
		case name == receiptsStream:
			f.Depth.Receipt = info.State.LastSeq
		}
	case workStream:
		f.Depth.Slices = info.State.Msgs
	case retriesStream:
		f.Depth.RetriesWaiting = info.State.Msgs
	case DeadStream:
		f.Depth.DeadLetters = info.State.Msgs
	}
	var errs []error
	for n, q := range queues {
		if starters := consumers[n]; q == startQueue && starters != nil {
			f.Depth.Unstarted = starters.NumPending + uint64(starters.NumAckPending) //nolint:gosec // a count
		}
		recreated, err := i.lookAtQueue(ctx, q, consumers[n], info)
		errs = append(errs, err)
		if recreated {
			f.Recreated = append(f.Recreated, q.name)
		}
	}
	return errors.Join(errs...)
}

// consumers returns the consumers of a stream's queues, nil for those that do not exist. It
// does not list the stream's consumers: the server would wait seconds for those on a server
// that is down.
func (i *Inspector) consumers(ctx context.Context, stream string, queues []queue) ([]*jetstream.ConsumerInfo, error) {
	found := make([]*jetstream.ConsumerInfo, len(queues))
	group, ctx := errgroup.WithContext(ctx)
	for n, q := range queues {
		group.Go(func() error {
			c, err := i.c.js.Consumer(ctx, i.c.prefix.Name(stream), q.name)
			if errors.Is(err, jetstream.ErrConsumerNotFound) {
				return nil
			}
			if err == nil {
				found[n] = c.CachedInfo()
			}
			return err
		})
	}
	return found, group.Wait()
}

// lookAtState describes losses of STATE. Each entity has one message, its last. A deleted
// entity has its tombstone until the tombstone expires.
func lookAtState(info *jetstream.StreamInfo, revision, records uint64) (damage string) {
	switch {
	case info.State.LastSeq < revision:
		return fmt.Sprintf("%s ends at %d, and %d was read before", stateStream, info.State.LastSeq, revision)
	// A replica that is behind may still have the records of a deleted organization.
	case info.State.LastSeq == revision && info.State.Msgs < records:
		return fmt.Sprintf("%s has %d messages, and %d were read of it", stateStream, info.State.Msgs, records)
	}
	return ""
}

// outOfStepChecks is the number of consecutive checks that must find a consumer out of
// step. The server describes the consumer and the stream at different moments.
const outOfStepChecks = 2

// lookAtQueue deletes a consumer that skips messages. The next worker recreates it. After
// a power cut, a stream without fsync may be shorter than the consumer's state says. The
// consumer would then skip new messages as already handled.
func (i *Inspector) lookAtQueue(ctx context.Context, q queue, consumer *jetstream.ConsumerInfo, stream *jetstream.StreamInfo) (recreated bool, err error) {
	if consumer == nil {
		return false, nil // a worker that takes from the queue creates it
	}
	if over, err := i.passesOver(ctx, q.stream, consumer, stream); !over || err != nil {
		delete(i.outOfStep, q.name)
		return false, err
	}
	if i.outOfStep[q.name]++; i.outOfStep[q.name] < outOfStepChecks {
		return false, nil
	}
	delete(i.outOfStep, q.name)
	err = i.c.js.DeleteConsumer(ctx, i.c.prefix.Name(q.stream), q.name)
	return err == nil, err
}

// passesOver reports whether a consumer is ahead of its stream. On a work queue it also
// reports whether the stream still holds a message of the consumer that the consumer has
// acknowledged. Errors: storage.ErrUnavailable.
func (i *Inspector) passesOver(ctx context.Context, name string, c *jetstream.ConsumerInfo, s *jetstream.StreamInfo) (bool, error) {
	switch {
	case c.Delivered.Stream > s.State.LastSeq:
		return true, nil
	case s.Config.Retention != jetstream.WorkQueuePolicy || s.State.Msgs == 0 || s.State.FirstSeq > c.AckFloor.Stream:
		return false, nil
	}
	// The first message of the stream may belong to another consumer.
	first, err := i.c.firstMessage(ctx, name, i.c.prefix.standard(c.Config.FilterSubject), s.State.FirstSeq)
	return first != nil && first.Sequence <= c.AckFloor.Stream, err
}
