package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/periodic"
	"github.com/gridhook/gridhook/storage"
)

// Admit returns nil: the ledger knows the quotas.
func (c *Conn) Admit(context.Context, events.Trigger) error { return nil }

// Accept stores a trigger and returns its sequence once it is durable.
func (c *Conn) Accept(ctx context.Context, t events.Trigger) (uint64, error) {
	if err := c.gate.Refusal(); err != nil {
		return 0, err
	}
	// gofail: var bugAnswerFirst struct{}
	// if t.IdempotencyKey == "" {
	// 	go func() { time.Sleep(300 * time.Millisecond); _, _ = c.appendTrigger(context.WithoutCancel(ctx), t) }()
	// 	return 0, nil
	// }

	// gofail: var acceptBefore struct{}
	sequence, err := c.appendTrigger(ctx, t)
	// gofail: var acceptAfter struct{}
	return sequence, err
}

var _ events.TriggerLog = (*Conn)(nil)

// appendTrigger appends a trigger to the log, according to its kind.
func (c *Conn) appendTrigger(ctx context.Context, t events.Trigger) (uint64, error) {
	switch {
	case t.IdempotencyKey != "":
		return c.acceptIdempotent(ctx, t)
	case t.ScheduleID != "":
		return c.publishTraced(ctx, t.Traceparent, triggerSubject(t), t.ID, t, jetstream.WithExpectLastSequencePerSubject(t.Follows))
	}
	return c.publishTraced(ctx, t.Traceparent, triggerSubject(t), t.ID, t)
}

// acceptIdempotent stores a trigger unless the log has an unexpired trigger with the same
// idempotency key. The stream compares and sets, so one of two simultaneous requests
// wins, and the other finds it.
func (c *Conn) acceptIdempotent(ctx context.Context, t events.Trigger) (uint64, error) {
	const tries = 5
	subject := triggerSubject(t)
	var err error
	for range tries {
		var first events.Trigger
		if first, err = c.lastTrigger(ctx, subject); err != nil {
			return 0, err
		}
		switch {
		case first.ID == t.ID: // an earlier attempt was stored although it failed
			return first.Sequence, nil
		case repeats(&t, &first):
			return 0, &events.AlreadyAccepted{First: first}
		}
		var sequence uint64
		sequence, err = c.publishTraced(ctx, t.Traceparent, subject, t.ID, t, jetstream.WithExpectLastSequencePerSubject(first.Sequence))
		if !errors.Is(err, storage.ErrConflict) {
			return sequence, err
		}
	}
	return 0, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
}

// FirstRequest returns the unexpired trigger with the idempotency key of t, zero if there
// is none.
func (c *Conn) FirstRequest(ctx context.Context, t events.Trigger) (events.Trigger, error) {
	first, err := c.lastTrigger(ctx, triggerSubject(t))
	if err != nil || !repeats(&t, &first) {
		return events.Trigger{}, err
	}
	return first, nil
}

// repeats reports whether t has the same idempotency key as first, the last trigger on
// its subject, and the key has not expired.
func repeats(t, first *events.Trigger) bool {
	return first.ID != "" && t.IdempotencyKey != "" && t.CreatedAt.Before(first.CreatedAt.Add(storage.IdempotencyRetention))
}

// publishTries and publishWait limit one durable publish. Every attempt has the same
// message id, because a publish that timed out may have been stored.
const (
	publishTries = 3
	publishWait  = 4 * time.Second
)

// errAfterNoResponse is a storage.ErrConflict after an attempt without a response. The
// publish may conflict with its own first attempt.
var errAfterNoResponse = fmt.Errorf("%w, or by an earlier attempt without a response", storage.ErrConflict)

// publish stores the JSON of a value as a new message and waits until it is durable. Errors:
// storage.ErrConflict if an expectation does not hold, storage.ErrUnavailable if NATS does not
// respond or cannot store now.
func (c *Conn) publish(ctx context.Context, subject string, v any, opts ...jetstream.PublishOpt) (uint64, error) {
	return c.publishTraced(ctx, "", subject, nuid.Next(), v, opts...)
}

// publishTraced is publish with a trace, and with the message id of earlier attempts. The trace
// context goes into a message header, for people who inspect NATS.
func (c *Conn) publishTraced(ctx context.Context, place events.Traceparent, subject, messageID string, v any, opts ...jetstream.PublishOpt) (uint64, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return 0, err
	}
	return c.publishMessage(ctx, message(place, c.prefix.Name(subject), data), messageID, opts...)
}

// publishNew is publish for a subject without a message. If the subject has a message, fresh is
// false and nothing changes.
func (c *Conn) publishNew(ctx context.Context, subject string, v any, opts ...jetstream.PublishOpt) (fresh bool, err error) {
	_, err = c.publish(ctx, subject, v, append(opts, jetstream.WithExpectLastSequencePerSubject(0))...)
	if errors.Is(err, storage.ErrConflict) {
		return false, nil
	}
	return err == nil, err
}

// publishMessage is publish with an encoded value.
func (c *Conn) publishMessage(ctx context.Context, m *nats.Msg, messageID string, opts ...jetstream.PublishOpt) (uint64, error) {
	opts = append(opts, jetstream.WithMsgID(messageID))
	var failed error
	for range publishTries {
		if failed != nil { // the server may have come back with older files
			if err := c.gate.Refusal(); err != nil {
				return 0, fmt.Errorf("%w, after %w", err, failed)
			}
		}
		try, cancel := context.WithTimeout(ctx, c.publishWait)
		ack, err := whenDecided(try, func() (*jetstream.PubAck, error) { return c.js.PublishMsg(try, m, opts...) })
		cancel()
		if err == nil {
			return ack.Sequence, nil
		}
		if refused, ok := errors.AsType[*jetstream.APIError](err); ok {
			err = refusal(refused)
			switch {
			case failed == nil:
			case errors.Is(err, storage.ErrConflict):
				err = errAfterNoResponse
			default:
				err = fmt.Errorf("%w, after %w", err, failed)
			}
			return 0, err
		}
		if errors.Is(err, nats.ErrMaxPayload) {
			return 0, tooLarge(err)
		}
		if !errors.Is(failed, context.DeadlineExceeded) { // after a timeout, the value may be stored
			failed = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return 0, fmt.Errorf("%w: %w", storage.ErrUnavailable, failed)
}

// whenDecided repeats a write that a cluster refuses because an earlier write of the subject or
// of the message is not decided yet. So a conflict is always with a stored message.
func whenDecided[T any](ctx context.Context, write func() (T, error)) (T, error) {
	for {
		ack, err := write()
		refused, ok := errors.AsType[*jetstream.APIError](err)
		if !ok || refused.ErrorCode != subjectInProcess && refused.ErrorCode != messageInProcess {
			return ack, err
		}
		if periodic.Sleep(ctx, undecidedDelay); ctx.Err() != nil {
			return ack, err
		}
	}
}

// undecidedDelay is about the time that a cluster needs to store a message.
const undecidedDelay = 10 * time.Millisecond

func message(place events.Traceparent, subject string, data []byte) *nats.Msg {
	m := &nats.Msg{Subject: subject, Data: data}
	if place != "" {
		m.Header = nats.Header{events.TraceHeader: {string(place)}}
	}
	return m
}

// tooLarge returns the error for a message above the server's size limit. A retry does
// not help.
func tooLarge(err error) error {
	return fmt.Errorf("%w: set max_payload: 8MB in the NATS server", err)
}

// refusal converts a JetStream error into an error of package storage.
func refusal(e *jetstream.APIError) error {
	if e.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		return storage.ErrConflict
	}
	return fmt.Errorf("%w: %w", storage.ErrUnavailable, e)
}

// Error codes of a clustered server (nats-server errors.json): JSStreamWrongLastSequenceConstantErr
// for a subject with a message that is not stored yet, JSStreamDuplicateMessageConflict for a
// repeated message that is not stored yet.
const (
	subjectInProcess = 10164
	messageInProcess = 10158
)
