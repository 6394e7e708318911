package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Accept stores a trigger and returns its sequence once it is durable.
func (c *Conn) Accept(ctx context.Context, t events.Trigger) (uint64, error) {
	data, err := json.Marshal(t)
	if err != nil {
		return 0, err
	}
	switch {
	case t.OnceKey != "":
		return c.acceptOnce(ctx, t, data)
	case t.ScheduleID != "":
		return c.publish(ctx, triggerSubject(t), t.ID, data, jetstream.WithExpectLastSequencePerSubject(t.Follows))
	}
	return c.publishTraced(ctx, t.Traceparent, triggerSubject(t), t.ID, data)
}

var _ events.TriggerLog = (*Conn)(nil)

// acceptOnce stores a trigger where none of its OnceKey stands, or only one that
// is too old to count. The stream compares and sets, so of two that come at the
// same time one wins, and the other finds it.
func (c *Conn) acceptOnce(ctx context.Context, t events.Trigger, data []byte) (uint64, error) {
	const tries = 5
	subject := triggerSubject(t)
	var err error
	for range tries {
		var first events.Trigger
		if first, err = c.lastTrigger(ctx, subject); err != nil {
			return 0, err
		}
		switch {
		case first.ID == t.ID: // an earlier try came through although it failed
			return first.Sequence, nil
		case first.ID != "" && t.CreatedAt.Before(first.CreatedAt.Add(storage.OnceFor)):
			return 0, &events.AlreadyAccepted{First: first}
		}
		var sequence uint64
		sequence, err = c.publishTraced(ctx, t.Traceparent, subject, t.ID, data, jetstream.WithExpectLastSequencePerSubject(first.Sequence))
		if !errors.Is(err, storage.ErrConflict) {
			return sequence, err
		}
	}
	return 0, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
}

// LastOf is the last trigger of a schedule that runs when prices change, zero when
// there was none.
func (c *Conn) LastOf(ctx context.Context, org, scheduleID string) (events.Trigger, error) {
	return c.lastTrigger(ctx, triggerSubject(events.Trigger{OrganizationID: org, ScheduleID: scheduleID}))
}

// lastTrigger is the trigger that stands on a subject, zero when there is none.
func (c *Conn) lastTrigger(ctx context.Context, subject string) (t events.Trigger, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.publishWait)
	defer cancel()
	s, err := c.handle(ctx, triggersStream)
	if err != nil {
		return t, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	m, err := s.GetLastMsgForSubject(ctx, subject)
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return t, nil
	case err != nil:
		return t, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	err = json.Unmarshal(m.Data, &t)
	t.Sequence = m.Sequence
	return t, err
}

// decodeTrigger reads a trigger with its place in the log.
func decodeTrigger(m jetstream.Msg) (events.Trigger, error) {
	t, err := work[events.Trigger](m)
	if err != nil {
		return t, err
	}
	meta, err := m.Metadata()
	if err != nil {
		return t, err
	}
	t.Sequence = meta.Sequence.Stream
	return t, nil
}

// PutSlice puts a slice on the queue. A slice that is still on it is not put
// again.
func (c *Conn) PutSlice(ctx context.Context, s events.Slice) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = c.publishTraced(ctx, s.Trigger.Traceparent, sliceSubject(s.Trigger.ID, s.Number), sliceMessageID(s), data,
		jetstream.WithExpectLastSequencePerSubject(0))
	if errors.Is(err, storage.ErrConflict) {
		return nil
	}
	return err
}

// sliceMessageID names one putting of a slice. A slice that the queue lost must
// not be taken for the one that the queue remembers.
func sliceMessageID(s events.Slice) string {
	id := s.Trigger.ID + "." + s.Key()
	if s.Resumed {
		id += "." + nuid.Next()
	}
	return id
}

// Newest is an organization's newest trigger, zero when it has none.
func (c *Conn) Newest(ctx context.Context, org string) (events.Trigger, error) {
	return c.trigger(ctx, func(ctx context.Context, s jetstream.Stream) (*jetstream.RawStreamMsg, error) {
		return s.GetLastMsgForSubject(ctx, triggerPrefix+org+".*")
	})
}

// Next is an organization's first trigger after a sequence, zero when it has none.
func (c *Conn) Next(ctx context.Context, org string, after uint64) (events.Trigger, error) {
	return c.trigger(ctx, func(ctx context.Context, s jetstream.Stream) (*jetstream.RawStreamMsg, error) {
		return s.GetMsg(ctx, after+1, jetstream.WithGetMsgSubject(triggerPrefix+org+".*"))
	})
}

// trigger reads a trigger of the log, zero where there is none.
func (c *Conn) trigger(ctx context.Context, read func(context.Context, jetstream.Stream) (*jetstream.RawStreamMsg, error)) (events.Trigger, error) {
	ctx, cancel := context.WithTimeout(ctx, publishWait)
	defer cancel()
	s, err := c.handle(ctx, triggersStream)
	if err != nil {
		return events.Trigger{}, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	m, err := read(ctx, s)
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return events.Trigger{}, nil
	case err != nil:
		return events.Trigger{}, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	var t events.Trigger
	err = json.Unmarshal(m.Data, &t)
	t.Sequence = m.Sequence
	return t, err
}

// Reached reports whether a trigger's walk has come to a slice: it is queued, is
// parked, or has its receipt. A slice is taken off the queue only after its receipt is
// stored, so one of the two holds from the moment it was put.
func (c *Conn) Reached(ctx context.Context, t events.Trigger, number int) (bool, error) {
	parked := t.ID + "." + events.ParkedKey(number)
	for _, place := range []struct{ stream, subject string }{
		{workStream, sliceSubject(t.ID, number)}, {retriesStream, retryWaitPrefix + parked}, {retriesStream, retryDuePrefix + walksLane + "." + parked},
	} {
		if there, err := c.exists(ctx, place.stream, place.subject); there || err != nil {
			return there, err
		}
	}
	s := events.Slice{Number: number}
	return c.HasReceipt(ctx, t.OrganizationID, t.ID, s.Key())
}

// PutReceipt stores a receipt and returns when it is durable.
func (c *Conn) PutReceipt(ctx context.Context, r events.Receipt) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = c.publish(ctx, receiptSubject(r.OrganizationID, r.TriggerID, r.Key), r.TriggerID+"."+r.Key, data)
	return err
}

// HasReceipt reports whether a receipt of that key is stored.
func (c *Conn) HasReceipt(ctx context.Context, org, triggerID, key string) (bool, error) {
	return c.exists(ctx, receiptsStream, receiptSubject(org, triggerID, key))
}

// exists reports whether a stream has a message on a subject.
func (c *Conn) exists(ctx context.Context, stream, subject string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, c.publishWait)
	defer cancel()
	s, err := c.handle(ctx, stream)
	if err == nil {
		_, err = s.GetLastMsgForSubject(ctx, subject)
	}
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return false, nil
	}
	return false, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
}

// ConsumeTriggers hands newly accepted triggers to handle. See consume.
func (c *Conn) ConsumeTriggers(ctx, taking context.Context, slots int, handle func(context.Context, events.Trigger, events.Taken) error) error {
	return consume(ctx, taking, c, startQueue, slots, decodeTrigger, handle)
}

// ConsumeSlices hands slices to handle.
func (c *Conn) ConsumeSlices(ctx, taking context.Context, slots int, handle func(context.Context, events.Slice, events.Taken) error) error {
	return consume(ctx, taking, c, sliceQueue, slots, work[events.Slice], handle)
}

// TailTriggers follows the log of triggers for a view of it.
func (c *Conn) TailTriggers(ctx context.Context, after uint64, apply func([]events.Sequenced[events.Trigger]) error) error {
	return tail(ctx, c, triggersStream, after, 0, sequenced[events.Trigger], apply)
}

// receiptsEvery is the least time between two batches of receipts. A walk has hundreds
// a second, and to store what comes of one takes as long as to store that of ten.
const receiptsEvery = 20 * time.Millisecond

// TailReceipts follows the receipts for a view of them.
func (c *Conn) TailReceipts(ctx context.Context, after uint64, apply func([]events.Sequenced[events.Receipt]) error) error {
	return tail(ctx, c, receiptsStream, after, receiptsEvery, sequenced[events.Receipt], apply)
}

func sequenced[T any](m jetstream.Msg) (events.Sequenced[T], error) {
	v, err := fromJSON[T](m)
	if err != nil {
		return events.Sequenced[T]{}, err
	}
	meta, err := m.Metadata()
	if err != nil {
		return events.Sequenced[T]{}, err
	}
	return events.Sequenced[T]{Sequence: meta.Sequence.Stream, Value: v}, nil
}

// Identity names the streams that a ledger is folded from: their times of
// creation.
func (c *Conn) Identity(ctx context.Context) (string, error) {
	var parts []string
	for _, name := range []string{triggersStream, receiptsStream} {
		s, err := c.js.Stream(ctx, name)
		if err != nil {
			return "", fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
		}
		parts = append(parts, s.CachedInfo().Created.UTC().Format(time.RFC3339Nano))
	}
	return strings.Join(parts, " "), nil
}

// Ends are the last sequences of the triggers and of the receipts.
func (c *Conn) Ends(ctx context.Context) (triggers, receipts uint64, err error) {
	ends := map[string]*uint64{triggersStream: &triggers, receiptsStream: &receipts}
	for name, end := range ends {
		s, err := c.js.Stream(ctx, name)
		if err != nil {
			return 0, 0, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
		}
		*end = s.CachedInfo().State.LastSeq
	}
	return triggers, receipts, nil
}

// KeptTrigger is the sequence of the newest trigger that is kept, 0 when none is.
// Errors: storage.ErrUnavailable.
func (c *Conn) KeptTrigger(ctx context.Context) (uint64, error) {
	s, err := c.js.Stream(ctx, triggersStream)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	if state := s.CachedInfo().State; state.Msgs > 0 {
		return state.LastSeq, nil
	}
	return 0, nil
}
