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
// Errors are those of asking. Every process of a fleet looks each second, so it asks
// for each stream once, and once for the consumers of those that have queues.
func (i *Inspector) Look(ctx context.Context, revision uint64) (Finding, error) {
	queues := map[string][]queue{}
	for _, q := range append(retryQueues(), startQueue, sliceQueue, noticeQueue) {
		queues[q.stream] = append(queues[q.stream], q)
	}
	var f Finding
	var errs []error
	for _, name := range []string{stateStream, triggersStream, receiptsStream, noticesStream, workStream, retriesStream} {
		errs = append(errs, i.lookAt(ctx, name, queues[name], revision, &f))
	}
	return f, errors.Join(errs...)
}

// lookAt looks at a stream and the queues on it.
func (i *Inspector) lookAt(ctx context.Context, name string, queues []queue, revision uint64, f *Finding) error {
	consumers, err := i.consumers(ctx, name, queues)
	if err != nil {
		return err
	}
	s, err := i.c.js.Stream(ctx, name)
	if err != nil {
		return err
	}
	info := s.CachedInfo()
	switch name {
	case stateStream:
		if damage := i.lookAtState(info, revision); damage != "" {
			f.Damage = append(f.Damage, damage)
		}
	case triggersStream, receiptsStream, noticesStream:
		// Nothing can be deleted there, and what is too old goes from the front.
		if n := info.State.NumDeleted; n > 0 {
			f.Damage = append(f.Damage, fmt.Sprintf("%s has lost %d messages", name, n))
		}
	}
	var errs []error
	for _, q := range queues {
		remade, err := i.lookAtQueue(ctx, q, consumers[q.name], info)
		errs = append(errs, err)
		if remade {
			f.Remade = append(f.Remade, q.name)
		}
	}
	return errors.Join(errs...)
}

// consumers are those of a stream that has queues, by name.
func (i *Inspector) consumers(ctx context.Context, stream string, queues []queue) (map[string]*jetstream.ConsumerInfo, error) {
	if len(queues) == 0 {
		return nil, nil
	}
	s, err := i.c.handle(ctx, stream)
	if err != nil {
		return nil, err
	}
	found := map[string]*jetstream.ConsumerInfo{}
	list := s.ListConsumers(ctx)
	for info := range list.Info() {
		found[info.Name] = info
	}
	return found, list.Err()
}

// lookAtState says what STATE has lost. Each entity has one message, its last,
// and a deleted one has its tombstone: there are never fewer than before.
func (i *Inspector) lookAtState(info *jetstream.StreamInfo, revision uint64) (damage string) {
	if identity := info.Created.String(); identity != i.identity {
		i.identity, i.most = identity, 0
	}
	i.most = max(i.most, info.State.Msgs)
	switch {
	case info.State.LastSeq < revision:
		return fmt.Sprintf("%s ends at %d, and %d was read before", stateStream, info.State.LastSeq, revision)
	case info.State.Msgs < i.most:
		return fmt.Sprintf("%s has %d messages, and had %d", stateStream, info.State.Msgs, i.most)
	}
	return ""
}

// looksAstray is how many looks in a row must find a consumer beside its stream:
// the two are asked one after the other.
const looksAstray = 2

// lookAtQueue finds a consumer that passes messages over, and makes it anew. After
// a power cut a stream that is not synced may be shorter than what the server
// remembers of its consumer: it would take what is stored next for handled.
func (i *Inspector) lookAtQueue(ctx context.Context, q queue, consumer *jetstream.ConsumerInfo, stream *jetstream.StreamInfo) (remade bool, err error) {
	if consumer == nil {
		return false, nil // whoever takes from the queue makes it
	}
	if !passesOver(consumer, stream) {
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
