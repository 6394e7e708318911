package jetstream

import (
	"context"
	"fmt"
	"sync"
	"time"

	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/semaphore"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/periodic"
	"github.com/gridhook/gridhook/storage"
)

// ackWait is how long a worker may hold a message without a sign of life. After that
// another worker gets the message. Workers send three signs in that time.
const ackWait = 10 * time.Second

// nakDelay is the first delay before a redelivery. A message is redelivered if something
// was unavailable, such as NATS itself.
const nakDelay = time.Second

// maxNakDelay is the longest such delay.
const maxNakDelay = 30 * time.Second

// maxHandling limits the unacknowledged messages of a queue, over all workers.
const maxHandling = 65536

// queue is a durable consumer that all workers share. A queue in order has one consuming
// process, which handles the messages of an organization one at a time, in the order of the
// log.
type queue struct {
	stream, name, filter string
	inOrder              bool
}

// named returns the queue with its names on NATS.
func (q queue) named(p Prefix) queue {
	q.stream, q.filter = p.Name(q.stream), p.Name(q.filter)
	return q
}

var (
	startQueue  = queue{stream: triggersStream, name: "starters", filter: triggerPrefix + ">"}
	changeQueue = queue{stream: triggersStream, name: "changes", filter: triggerPrefix + ">", inOrder: true}
	sliceQueue  = queue{stream: workStream, name: "walkers", filter: workPrefix + "*.*"}
	// surplusQueue has the slices of surplus triggers. Otherwise a slice of another
	// organization would wait until all of them are taken.
	surplusQueue = queue{stream: workStream, name: "surplus", filter: surplusPrefix + "*.*"}
)

// pullWait is the duration of one request for a message. A request is never canceled: a
// message that arrived at that moment would be lost to everybody for ackWait. So an idle
// queue needs up to pullWait to stop. A queue in order has no such wait: after a reconnection
// its consumer begins again at the first unacknowledged message.
const pullWait = 500 * time.Millisecond

// reconnectPause is the time after a reconnection in which a process takes no message. The server
// delivers again what workers held during a long outage. In this time every process reconnects,
// at most 1.25 s after the first, and stores the outcomes that it holds. The time is longer than
// pullWait, so that the server has ended every earlier request.
const reconnectPause = 2 * time.Second

// consume takes messages of a queue in up to the given number of slots until taking ends.
// A message holds its slot until its handler returns or frees the slot. One request asks
// for as many messages as there are free slots, so that a long queue is taken quickly.
// Handlers run under ctx, so they may finish their messages after taking has ended.
// consume returns when all handlers have returned.
func consume[T any](ctx context.Context, taking context.Context, c *Conn, q queue, slots int, decode func(jetstream.Msg) (T, error), handle events.Handler[T]) error {
	return consumeFrom(ctx, taking, c, q, slots, decode, handle, nil)
}

// consumeFrom is consume with a function that gets the messages in their order. do handles the
// message, and free frees its slot.
func consumeFrom[T any](
	ctx, taking context.Context, c *Conn, q queue, slots int, decode func(jetstream.Msg) (T, error), handle events.Handler[T],
	start func(m jetstream.Msg, do, free func()),
) error {
	s := &source{c: c, queue: q.named(c.prefix)}
	consumer, err := s.first(taking)
	if taking.Err() != nil {
		return nil //nolint:nilerr // it ended before it began
	}
	if err != nil {
		return err
	}
	var handlers sync.WaitGroup
	defer handlers.Wait()
	if start == nil {
		start = func(_ jetstream.Msg, do, _ func()) { handlers.Go(do) }
	}
	free, connection := semaphore.NewWeighted(int64(slots)), c.nc.Stats().Reconnects
	for taking.Err() == nil && free.Acquire(taking, 1) == nil {
		if now := c.nc.Stats().Reconnects; now != connection {
			if again, err := s.reconnected(taking, consumer); err == nil {
				consumer, connection = again, now
			}
			free.Release(1)
			continue
		}
		n := 1
		for free.TryAcquire(1) {
			n++
		}
		batch, err := consumer.Fetch(n, jetstream.FetchMaxWait(pullWait))
		if err == nil {
			for m := range batch.Messages() {
				n--
				release := sync.OnceFunc(func() { free.Release(1) })
				start(m, func() {
					defer release()
					handleOne(ctx, taking, s, m, decode, handle, release)
				}, release)
			}
			err = batch.Error()
		}
		free.Release(int64(n))
		if err != nil && taking.Err() == nil {
			periodic.Sleep(taking, nakDelay)
			consumer = s.recreate(taking, consumer, err)
		}
	}
	return nil
}

func handleOne[T any](ctx, taking context.Context, s *source, m jetstream.Msg, decode func(jetstream.Msg) (T, error), handle events.Handler[T], free func()) {
	log := s.c.log.With("queue", s.queue.name, "subject", m.Subject())
	v, err := decode(m)
	if err != nil {
		// The message will never decode. Store it as a dead letter instead of
		// redelivering it forever.
		if failed := s.putDeadLetter(ctx, m, err); failed != nil {
			log.Warn("poison message not stored as a dead letter, returned to the queue", "error", failed)
			_ = m.NakWithDelay(redeliveryDelay(m))
			return
		}
		log.Error("poison message stored as a dead letter", "error", err)
		_ = m.TermWithReason("stored as a dead letter")
		return
	}
	// gofail: var bugAckFirst struct{}
	// _ = m.DoubleAck(ctx)

	stop := keepAlive(m)
	if err = s.c.gate.wait(ctx, taking); err == nil {
		taken := events.Taken{Redelivered: s.redelivered(ctx, m), Size: len(m.Data()), Free: free}
		err = events.Recovered(func() error { return handle(ctx, v, taken) })
	}
	stop()
	if err != nil {
		if taking.Err() == nil { // a process that stops hands many back
			log.Warn("message not handled, returned to the queue", "error", err)
		}
		_ = m.NakWithDelay(redeliveryDelay(m))
		return
	}
	// gofail: var ackBefore struct{}
	err = acknowledge(taking, m)
	// gofail: var ackAfter struct{}
	if err != nil {
		log.Warn("acknowledgement not sent, the message may be redelivered", "error", err)
	}
}

// putDeadLetter stores a message that does not decode as a dead letter.
func (s *source) putDeadLetter(ctx context.Context, m jetstream.Msg, cause error) error {
	meta, err := m.Metadata()
	if err != nil {
		return err
	}
	return s.c.PutDeadLetter(ctx, events.DeadLetter{
		ID: fmt.Sprintf("%s.%d", s.queue.name, meta.Sequence.Stream), Kind: s.queue.name, Reason: m.Subject() + ": " + cause.Error(),
		At: storage.Time{Time: time.Now().UTC().Truncate(time.Millisecond)}, Body: m.Data(),
	})
}

// redeliveryDelay returns the delay before a redelivery. It starts at nakDelay and doubles
// up to maxNakDelay, as each attempt may have sent webhooks.
func redeliveryDelay(m jetstream.Msg) time.Duration {
	meta, err := m.Metadata()
	if err != nil {
		return nakDelay
	}
	const doublings = 5
	return min(nakDelay<<min(max(meta.NumDelivered, 1)-1, doublings), maxNakDelay)
}

// acknowledge tells the server that a message is done. A stopping process waits until the
// server has confirmed the acknowledgement.
func acknowledge(taking context.Context, m jetstream.Msg) error {
	if taking.Err() == nil {
		return m.Ack()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(taking), publishWait)
	defer cancel()
	return m.DoubleAck(ctx)
}

// keepAlive tells the server that a message is still in progress, until stop is called.
func keepAlive(m jetstream.Msg) (stop func()) {
	const every = ackWait / 3
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		for periodic.Sleep(ctx, every); ctx.Err() == nil; periodic.Sleep(ctx, every) {
			_ = m.InProgress() // a lost signal is repeated the next time
		}
	})
	return func() { cancel(); wg.Wait() }
}

// fromJSON decodes a message's body.
func fromJSON[T any](m jetstream.Msg) (T, error) {
	var v T
	err := jsonv1.Unmarshal(m.Data(), &v)
	return v, err
}

// work decodes a work message and refuses invalid values.
func work[T any, P interface {
	*T
	Check() error
}](m jetstream.Msg) (T, error) {
	v, err := fromJSON[T](m)
	if err != nil {
		return v, err
	}
	return v, P(&v).Check()
}
