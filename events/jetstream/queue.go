package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/events"
)

// ackWait is how long a message may go without a sign of life from the worker
// that took it before another gets it. Workers give a sign three times as often.
const ackWait = 10 * time.Second

// nakDelay is the pause before a message is tried again that could not be
// handled because something was not there, such as NATS itself.
const nakDelay = time.Second

// maxNakDelay is the longest such pause.
const maxNakDelay = 30 * time.Second

// maxHandling bounds the messages that all workers together may hold of a queue.
const maxHandling = 16384

// queue is a durable consumer that all workers share.
type queue struct{ stream, name, filter string }

var (
	startQueue = queue{triggersStream, "starters", triggerSubjects}
	sliceQueue = queue{workStream, "walkers", workSubjects}
)

// pullWait is how long one request for a message stands. It is never cut short:
// a message that came at that moment would be lost to everybody for ackWait. So
// it is also how long an idle slot takes to stop.
const pullWait = 500 * time.Millisecond

// Handler handles one message. An error hands it back for a later try.
type Handler[T any] func(ctx context.Context, v T, taken events.Taken) error

// consume runs up to a number of slots that take messages of a queue and handle them,
// one at a time each but for those that were freed early, until taking ends. While
// nothing comes one slot waits for it; each that gets something starts another.
// Handlers run under ctx, so they may finish what they hold after taking has ended. It
// returns when all slots are done.
func consume[T any](ctx context.Context, taking context.Context, c *Conn, q queue, slots int, decode func(jetstream.Msg) (T, error), handle Handler[T]) error {
	s := &source{c: c, queue: q}
	consumer, err := s.first(taking)
	if taking.Err() != nil {
		return nil //nolint:nilerr // it ended before it began
	}
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	crew := &crew{slots: slots}
	var slot func()
	slot = func() {
		consumer := consumer
		var freed atomic.Bool // then another goroutine has the slot
		for taking.Err() == nil && !freed.Load() {
			m, err := consumer.Next(jetstream.FetchMaxWait(pullWait))
			switch {
			case err == nil:
				if crew.took() {
					wg.Go(slot)
				}
				handleOne(ctx, taking, s, m, decode, handle, sync.OnceFunc(func() {
					freed.Store(true)
					crew.waits()
					wg.Go(slot)
				}))
				if !freed.Load() {
					crew.waits()
				}
			case errors.Is(err, nats.ErrTimeout):
				if crew.mayLeave() {
					return
				}
			case taking.Err() == nil:
				sleep(taking, nakDelay)
				consumer = s.mend(taking, consumer, err)
			}
		}
	}
	crew.begins()
	wg.Go(slot)
	wg.Wait()
	return nil
}

func handleOne[T any](ctx, taking context.Context, s *source, m jetstream.Msg, decode func(jetstream.Msg) (T, error), handle Handler[T], free func()) {
	log := s.c.log.With("queue", s.queue.name, "subject", m.Subject())
	v, err := decode(m)
	if err != nil {
		// It will never be otherwise: set it aside loudly instead of for ever again.
		log.Error("a message cannot be taken and is dropped", "error", err)
		_ = m.TermWithReason("cannot be taken")
		return
	}
	stop := keepAlive(m)
	err = guarded(ctx, v, events.Taken{Redelivered: s.redelivered(ctx, m), Free: free}, handle)
	stop()
	if err != nil {
		log.Warn("a message could not be handled now and is handed back", "error", err)
		_ = m.NakWithDelay(handBackPause(m))
		return
	}
	if err := acknowledge(taking, m); err != nil {
		log.Warn("an acknowledgement could not be sent; the message may come again", "error", err)
	}
}

// handBackPause is the pause before a message is tried again: nakDelay at first,
// doubling each time up to maxNakDelay, as each try may have sent webhooks.
func handBackPause(m jetstream.Msg) time.Duration {
	meta, err := m.Metadata()
	if err != nil {
		return nakDelay
	}
	const doublings = 5
	return min(nakDelay<<min(max(meta.NumDelivered, 1)-1, doublings), maxNakDelay)
}

// acknowledge tells the server that a message is done with. A process that is
// stopping waits until the server knows.
func acknowledge(taking context.Context, m jetstream.Msg) error {
	if taking.Err() == nil {
		return m.Ack()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(taking), publishWait)
	defer cancel()
	return m.DoubleAck(ctx)
}

// guarded turns a panic of a handler into an error: one message must not take
// the worker down.
func guarded[T any](ctx context.Context, v T, taken events.Taken, handle Handler[T]) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return handle(ctx, v, taken)
}

// keepAlive tells the server that a message is still being handled, until the
// returned function is called.
func keepAlive(m jetstream.Msg) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(ackWait / 3)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = m.InProgress() // if it is lost, the next one tells
			case <-done:
				return
			}
		}
	})
	return func() { close(done); wg.Wait() }
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// fromJSON decodes a message's body.
func fromJSON[T any](m jetstream.Msg) (T, error) {
	var v T
	err := json.Unmarshal(m.Data(), &v)
	return v, err
}

// work decodes what is to be worked on, and refuses what nobody can have put there.
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
