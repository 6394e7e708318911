package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/events/periodic"
)

// source takes messages of a queue for one process.
type source struct {
	c     *Conn
	queue queue

	mu sync.Mutex
	// known is the stream's last sequence when this process started to take messages over
	// the connection of that number. Messages up to known may have been taken before,
	// even if the server does not know it. The server saves its deliveries with a delay,
	// and a kill loses them.
	known      uint64
	connection uint64
}

// setUp creates or updates the queue's consumer on the server. On a cluster each new
// consumer needs an election, so a process sets them up one after another.
func (s *source) setUp(ctx context.Context) (jetstream.Consumer, error) {
	s.c.settingUp.Lock()
	defer s.c.settingUp.Unlock()
	ctx, cancel := context.WithTimeout(ctx, s.c.publishWait)
	defer cancel()
	consumer, err := s.create(ctx)
	if damaged(err) {
		err = s.drop(ctx, err)
	}
	if errors.Is(err, jetstream.ErrStreamNotFound) && Derived(s.queue.stream) { // or it was dropped earlier
		if err = s.c.makeStream(ctx, s.c.config(s.c.prefix.standard(s.queue.stream), s.c.options)); err == nil {
			consumer, err = s.create(ctx)
		}
	}
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		err = s.look(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("set up the consumer %s: %w", s.queue.name, explain(err))
	}
	return consumer, nil
}

// reconnected waits for reconnectPause and returns the consumer to take messages from. A queue in
// order gets it anew.
func (s *source) reconnected(taking context.Context, consumer jetstream.Consumer) (jetstream.Consumer, error) {
	periodic.Sleep(taking, reconnectPause)
	if !s.queue.inOrder {
		return consumer, nil
	}
	return s.setUp(taking)
}

// orderedSince is how far back a new queue in order begins. Its older messages concern
// nobody any more.
const orderedSince = 24 * time.Hour

// create creates or updates the queue's consumer. A queue in order begins after the last
// message up to which all are acknowledged. So messages that a process could not finish come
// again in the order of the log.
func (s *source) create(ctx context.Context) (jetstream.Consumer, error) {
	config := s.queue.config()
	if !s.queue.inOrder {
		return s.c.js.CreateOrUpdateConsumer(ctx, s.queue.stream, config)
	}
	start := time.Now().Add(-orderedSince)
	config.DeliverPolicy, config.OptStartTime = jetstream.DeliverByStartTimePolicy, &start
	existing, err := s.c.js.Consumer(ctx, s.queue.stream, s.queue.name)
	switch {
	case err == nil: // the start of a consumer cannot be updated
		was := existing.CachedInfo().Config
		config.DeliverPolicy, config.OptStartTime = was.DeliverPolicy, was.OptStartTime
	case !errors.Is(err, jetstream.ErrConsumerNotFound):
		return nil, err
	}
	consumer, err := s.c.js.CreateOrUpdateConsumer(ctx, s.queue.stream, config)
	if err == nil {
		_, err = s.c.js.ResetConsumer(ctx, s.queue.stream, s.queue.name)
	}
	return consumer, err
}

// damaged reports whether the server cannot create a consumer: it cannot read the consumer's
// files, or cannot create any consumer now. The server gives no reason.
func damaged(err error) bool {
	const createFailed = 10012 // JSConsumerCreateErrF of nats-server
	answer, ok := errors.AsType[*jetstream.APIError](err)
	return ok && answer.ErrorCode == createFailed && answer.Code == http.StatusInternalServerError
}

// drop deletes the queue's stream, with its slices, if the server can create other consumers. A
// power cut can damage the files of a consumer whose stream has no fsync, and the server
// then never creates the consumer again. The resumer puts the slices again. The error is then
// jetstream.ErrStreamNotFound, otherwise the cause. The stream of any other queue stays.
func (s *source) drop(ctx context.Context, cause error) error {
	stream, err := s.c.js.Stream(ctx, s.queue.stream)
	if err != nil {
		return err
	}
	if stream.CachedInfo().Config.PersistMode != jetstream.AsyncPersistMode {
		return cause
	}
	trial, err := stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		FilterSubject: s.c.prefix.Name(workPrefix + "trial"), AckPolicy: jetstream.AckExplicitPolicy, InactiveThreshold: time.Minute,
	})
	if err != nil {
		return cause
	}
	s.c.log.Warn("NATS cannot read a queue's files, making its stream again", "queue", s.queue.name, "stream", s.queue.stream, "error", cause)
	err = stream.DeleteConsumer(ctx, trial.CachedInfo().Name)
	if err == nil {
		err = s.c.js.DeleteStream(ctx, s.queue.stream)
	}
	return cmp.Or(err, error(jetstream.ErrStreamNotFound))
}

// first is setUp until NATS responds. Until then SettingUp is true. Errors: a refusal by NATS.
func (s *source) first(ctx context.Context) (jetstream.Consumer, error) {
	s.c.withoutConsumer.Add(1)
	defer s.c.withoutConsumer.Add(-1)
	return retryUntilResponse(ctx, s.c.log.With("queue", s.queue.name), "set up a queue's consumer", s.setUp)
}

// retryUntilResponse calls ask until NATS responds or ctx ends. If ctx ends, it returns
// the last error.
func retryUntilResponse[T any](ctx context.Context, log *slog.Logger, what string, ask func(context.Context) (T, error)) (T, error) {
	for {
		response, err := ask(ctx)
		if err == nil || refused(err) || ctx.Err() != nil {
			return response, err
		}
		log.Warn("NATS cannot "+what+" now, retrying", "error", err)
		if periodic.Sleep(ctx, nakDelay); ctx.Err() != nil {
			return response, err
		}
	}
}

// refused reports whether NATS rejected a request. Temporary failures do not count: no
// connection, no leader, no response in time.
func refused(err error) bool {
	if answer, ok := errors.AsType[*jetstream.APIError](err); ok {
		return answer.Code < http.StatusInternalServerError
	}
	return errors.Is(err, nats.ErrConnectionClosed)
}

// config returns the settings of the consumer that all workers share.
func (q queue) config() jetstream.ConsumerConfig {
	handling, wait := maxHandling, ackWait
	if q.inOrder {
		handling, wait = maxInOrder, orderedWait
	}
	return jetstream.ConsumerConfig{
		Durable: q.name, FilterSubject: q.filter, AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: wait, MaxAckPending: handling, MaxDeliver: -1, DeliverPolicy: jetstream.DeliverAllPolicy,
	}
}

// look records the stream's last sequence.
func (s *source) look(ctx context.Context) error {
	connection := s.c.nc.Stats().Reconnects
	stream, err := s.c.js.Stream(ctx, s.queue.stream)
	if err != nil {
		return err
	}
	s.known, s.connection = stream.CachedInfo().State.LastSeq, connection
	return nil
}

// recreate returns the consumer to use after an error. It recreates a consumer that is
// gone from the server.
func (s *source) recreate(ctx context.Context, old jetstream.Consumer, err error) jetstream.Consumer {
	log := s.c.log.With("queue", s.queue.name)
	if !errors.Is(err, jetstream.ErrConsumerDeleted) && !errors.Is(err, jetstream.ErrConsumerNotFound) && !errors.Is(err, nats.ErrNoResponders) {
		log.Debug("queue request failed, retrying", "error", err)
		return old
	}
	consumer, err := s.setUp(ctx)
	if err == nil {
		return consumer
	}
	if ctx.Err() == nil {
		log.Warn("queue's consumer is missing and cannot be created, retrying", "error", err)
	}
	return old
}

// redelivered reports whether another worker may have taken the message before.
func (s *source) redelivered(ctx context.Context, m jetstream.Msg) bool {
	meta, err := m.Metadata()
	if err != nil || meta.NumDelivered > 1 {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.connection != s.c.nc.Stats().Reconnects && s.look(ctx) != nil {
		return true
	}
	return meta.Sequence.Stream <= s.known
}
