package jetstream

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Inspector looks whether the streams still hold what they held, and whether the
// queues hand out all that they have. A server that lost a part of its files says
// so nowhere: a flipped bit can cost thousands of messages without a word in its
// log. It is for one goroutine.
type Inspector struct {
	c *Conn
	// most is the most messages that STATE was seen with, under its identity.
	most     uint64
	identity string
	// astray counts the looks at which a queue's consumer was found beside its
	// stream.
	astray map[string]int
}

// NewInspector makes an inspector. Look looks.
func (c *Conn) NewInspector() *Inspector { return &Inspector{c: c, astray: map[string]int{}} }

// Finding is what a look found.
type Finding struct {
	// Damage says what the streams of record have lost, empty when nothing.
	Damage []string
	// Remade are the queues whose consumers passed messages over and were made
	// anew. What they had in hand comes again.
	Remade []string
}

// Look looks once. revision is the last of STATE that this process has applied.
// Errors are those of asking.
func (i *Inspector) Look(ctx context.Context, revision uint64) (Finding, error) {
	var f Finding
	var errs []error
	if damage, err := i.lookAtState(ctx, revision); err != nil {
		errs = append(errs, err)
	} else if damage != "" {
		f.Damage = append(f.Damage, damage)
	}
	for _, name := range []string{triggersStream, receiptsStream, noticesStream} {
		s, err := i.c.js.Stream(ctx, name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		// Nothing can be deleted there, and what is too old goes from the front.
		if n := s.CachedInfo().State.NumDeleted; n > 0 {
			f.Damage = append(f.Damage, fmt.Sprintf("%s has lost %d messages", name, n))
		}
	}
	for _, q := range append(retryQueues(), startQueue, sliceQueue, noticeQueue) {
		remade, err := i.lookAtQueue(ctx, q)
		if err != nil {
			errs = append(errs, err)
		}
		if remade {
			f.Remade = append(f.Remade, q.name)
		}
	}
	return f, errors.Join(errs...)
}

// lookAtState says what STATE has lost. Each entity has one message, its last,
// and a deleted one has its tombstone: there are never fewer than before.
func (i *Inspector) lookAtState(ctx context.Context, revision uint64) (damage string, err error) {
	s, err := i.c.js.Stream(ctx, stateStream)
	if err != nil {
		return "", err
	}
	info := s.CachedInfo()
	if identity := info.Created.String(); identity != i.identity {
		i.identity, i.most = identity, 0
	}
	i.most = max(i.most, info.State.Msgs)
	switch {
	case info.State.LastSeq < revision:
		return fmt.Sprintf("%s ends at %d, and %d was read before", stateStream, info.State.LastSeq, revision), nil
	case info.State.Msgs < i.most:
		return fmt.Sprintf("%s has %d messages, and had %d", stateStream, info.State.Msgs, i.most), nil
	}
	return "", nil
}

// looksAstray is how many looks in a row must find a consumer beside its stream:
// the two are asked one after the other.
const looksAstray = 2

// lookAtQueue finds a consumer that passes messages over, and makes it anew. After
// a power cut a stream that is not synced may be shorter than what the server
// remembers of its consumer: it would take what is stored next for handled.
func (i *Inspector) lookAtQueue(ctx context.Context, q queue) (remade bool, err error) {
	consumer, err := i.c.js.Consumer(ctx, q.stream, q.name)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		return false, nil // whoever takes from the queue makes it
	}
	if err != nil {
		return false, err
	}
	s, err := i.c.js.Stream(ctx, q.stream)
	if err != nil {
		return false, err
	}
	if !passesOver(consumer.CachedInfo(), s.CachedInfo()) {
		delete(i.astray, q.name)
		return false, nil
	}
	if i.astray[q.name]++; i.astray[q.name] < looksAstray {
		return false, nil
	}
	delete(i.astray, q.name)
	err = i.c.js.DeleteConsumer(ctx, q.stream, q.name)
	return err == nil, err
}

// passesOver reports whether a consumer is ahead of its stream, or, where what is
// handled is taken off the stream, has handled what still stands there.
func passesOver(c *jetstream.ConsumerInfo, s *jetstream.StreamInfo) bool {
	if c.Delivered.Stream > s.State.LastSeq {
		return true
	}
	return s.Config.Retention == jetstream.WorkQueuePolicy && c.Config.FilterSubject == s.Config.Subjects[0] &&
		s.State.Msgs > 0 && s.State.FirstSeq <= c.AckFloor.Stream
}
