package jetstream

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// LastOf returns the last trigger of a schedule that runs when prices change. It returns
// a zero trigger if the schedule has not run yet.
func (c *Conn) LastOf(ctx context.Context, org, scheduleID string) (events.Trigger, error) {
	return c.lastTrigger(ctx, triggerSubject(events.Trigger{OrganizationID: org, ScheduleID: scheduleID}))
}

// lastTrigger returns the last trigger on a subject, zero if the subject is empty.
func (c *Conn) lastTrigger(ctx context.Context, subject string) (events.Trigger, error) {
	t, sequence, err := lastValue[events.Trigger](ctx, c, triggersStream, subject)
	t.Sequence = sequence
	return t, err
}

// decodeTrigger decodes a trigger and sets its sequence in the log.
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

// PutSlice puts a slice on the queue. If the queue already holds the slice, PutSlice does
// nothing.
func (c *Conn) PutSlice(ctx context.Context, s events.Slice) error {
	// gofail: var sliceBefore struct{}
	none := jetstream.WithExpectLastSequencePerSubject(0)
	_, err := c.publishTraced(ctx, s.Trigger.Traceparent, sliceSubject(&s.Trigger, s.Number), sliceMessageID(s), s, none)
	if errors.Is(err, storage.ErrConflict) {
		err = nil
	}
	// gofail: var sliceAfter struct{}
	return err
}

// sliceMessageID returns the message id of a slice. A resumed slice gets a fresh id.
// Otherwise the server could drop it as a duplicate of a slice that the queue lost.
func sliceMessageID(s events.Slice) string {
	id := s.Trigger.ID + "." + s.Key()
	if s.Resumed {
		id += "." + nuid.Next()
	}
	return id
}

// Newest implements events.TriggerLog.
func (c *Conn) Newest(ctx context.Context, org string) (events.Trigger, error) {
	return c.lastTrigger(ctx, triggerPrefix+org+".*")
}

// Reached reports whether a trigger's walk has reached a slice. The slice is then queued,
// parked, or has a receipt. A slice leaves the queue only after its receipt is stored, so
// one of these always holds.
func (c *Conn) Reached(ctx context.Context, t events.Trigger, number int) (bool, error) {
	parked := t.ID + "." + events.ParkedKey(number)
	for _, place := range []struct{ stream, subject string }{
		{workStream, sliceSubject(&t, number)}, {retriesStream, retryWaitPrefix + parked}, {retriesStream, retryDuePrefix + walksLane + "." + parked},
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
	// gofail: var receiptBefore struct{}
	data, err := r.MarshalJSON() // json.Marshal would read the result once more
	if err != nil {
		return err
	}
	subject := c.prefix.Name(receiptSubject(r.OrganizationID, r.TriggerID, r.Key))
	_, err = c.publishMessage(ctx, message("", subject, data), r.TriggerID+"."+r.Key)
	// gofail: var receiptAfter struct{}
	return err
}

// HasReceipt reports whether a receipt with that key is stored.
func (c *Conn) HasReceipt(ctx context.Context, org, triggerID, key string) (bool, error) {
	return c.exists(ctx, receiptsStream, receiptSubject(org, triggerID, key))
}

// exists reports whether a stream has a message on a subject.
func (c *Conn) exists(ctx context.Context, stream, subject string) (bool, error) {
	m, err := c.lastMessage(ctx, stream, subject)
	return m != nil, err
}

// ConsumeTriggers calls handle for newly accepted triggers. See consume. A trigger that may
// have been taken before is dropped when its receipts have expired: nothing would show that
// its walk has ended, and it would be walked again. A new consumer gets all such triggers.
func (c *Conn) ConsumeTriggers(ctx, taking context.Context, slots int, handle events.Handler[events.Trigger]) error {
	return consume(ctx, taking, c, startQueue, slots, decodeTrigger, func(ctx context.Context, t events.Trigger, taken events.Taken) error {
		if taken.Redelivered && time.Since(t.CreatedAt.Time) > c.options.ReceiptsAge {
			return nil
		}
		return handle(ctx, t, taken)
	})
}

// ConsumeChanges calls handle for the triggers of an organization one at a time and in the
// order of the log, and for several organizations at once. Only one process may call it. See
// consume. An error of handle must mean that taking has ended.
func (c *Conn) ConsumeChanges(ctx, taking context.Context, handle events.Handler[events.Trigger]) error {
	l := &lines{c: c, ctx: ctx, taking: taking, handle: handle, byOrg: map[string]*line{}}
	defer l.running.Wait()
	return consumeFrom(ctx, taking, c, changeQueue, maxInOrder, decodeTrigger, handle, l.start)
}

// ConsumeSlices calls handle for slices, in that many slots for slices of surplus triggers and
// as many for all others. See consume.
func (c *Conn) ConsumeSlices(ctx, taking context.Context, slots int, handle events.Handler[events.Slice]) error {
	// The consumer of an earlier build selects all slices. The server refuses another one
	// until it is updated.
	if _, err := (&source{c: c, queue: sliceQueue.named(c.prefix)}).first(taking); err != nil && taking.Err() == nil {
		return err
	}
	group, taking := errgroup.WithContext(taking)
	for _, q := range []queue{sliceQueue, surplusQueue} {
		group.Go(func() error { return consume(ctx, taking, c, q, slots, work[events.Slice], handle) })
	}
	return group.Wait()
}

// TailTriggers follows the log of triggers for a projection.
func (c *Conn) TailTriggers(ctx context.Context, after uint64, apply func([]events.Sequenced[events.Trigger]) error) error {
	return tail(ctx, c, triggersStream, start{after: after}, 0, fromJSON[events.Trigger], apply)
}

// receiptsEvery is the minimum time between two batches of receipts. A walk produces
// hundreds of receipts a second, and storing one takes as long as storing ten.
const receiptsEvery = 20 * time.Millisecond

// TailReceipts follows the receipts for a projection.
func (c *Conn) TailReceipts(ctx context.Context, after uint64, apply func([]events.Sequenced[events.Receipt]) error) error {
	return tail(ctx, c, receiptsStream, start{after: after}, receiptsEvery, decodeReceipt, apply)
}

func decodeReceipt(m jetstream.Msg) (r events.Receipt, err error) {
	err = r.UnmarshalJSON(m.Data()) // json.Unmarshal would read the data once more
	return r, err
}

// Streams describes the streams that a ledger is folded from. Their creation times identify
// them. Errors: storage.ErrUnavailable.
func (c *Conn) Streams(ctx context.Context) (events.Streams, error) {
	triggers, err := c.streamInfo(ctx, triggersStream)
	if err != nil {
		return events.Streams{}, err
	}
	receipts, err := c.streamInfo(ctx, receiptsStream)
	if err != nil {
		return events.Streams{}, err
	}
	s := events.Streams{
		Identity:    triggers.Created.UTC().Format(time.RFC3339Nano) + " " + receipts.Created.UTC().Format(time.RFC3339Nano),
		LastTrigger: triggers.State.LastSeq, LastReceipt: receipts.State.LastSeq, Now: triggers.TimeStamp,
	}
	if triggers.State.Msgs > 0 {
		s.NewestTrigger = s.LastTrigger
	}
	if receipts.State.Msgs > 0 {
		s.NewestReceipt = s.LastReceipt
	}
	switch state := receipts.State; {
	case state.FirstSeq <= 1:
	case state.Msgs > 0:
		s.ReceiptsSince = state.FirstTime
	default:
		s.ReceiptsSince = state.LastTime
	}
	return s, nil
}
