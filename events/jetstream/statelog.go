package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// StateLog implements storage.Log on the STATE stream.
type StateLog struct{ c *Conn }

var _ storage.Log = StateLog{}

// StateLog returns the log of record on this connection.
func (c *Conn) StateLog() StateLog { return StateLog{c} }

// envelope is the stored form of a record. The message's subject is the reference, and
// its sequence is the revision. Version is the schema version of the writer.
type envelope struct {
	Version int               `json:"v"`
	First   uint64            `json:"first,omitempty"`
	At      int64             `json:"at"` // Unix milliseconds
	Deleted bool              `json:"deleted,omitempty"`
	Expires int64             `json:"expires,omitempty"` // Unix milliseconds
	Value   jsonv1.RawMessage `json:"value,omitempty"`
}

// encode returns the stored form of a write.
func (l StateLog) encode(w storage.Write) ([]byte, error) {
	e := envelope{Version: storage.SchemaVersion, First: w.First, At: w.At.UnixMilli(), Deleted: w.Deleted, Value: w.Value}
	if w.Forget {
		e.Expires = w.At.Add(l.retention(w)).UnixMilli()
	}
	return jsonv1.Marshal(e)
}

// retention returns the time after which STATE removes a tombstone with Forget.
func (l StateLog) retention(w storage.Write) time.Duration {
	if w.Kind == storage.KindErasure {
		return l.c.options.ErasureAge
	}
	return l.c.options.DeletionsAge
}

// decodeMessage decodes a record of the stream.
func decodeMessage(m jetstream.Msg) (storage.Record, error) {
	meta, err := m.Metadata()
	if err != nil {
		return storage.Record{}, err
	}
	return decodeRecord(m.Subject(), meta.Sequence.Stream, meta.Timestamp, m.Data())
}

// decodeRecord decodes a record that the server stored at a time. A writer whose clock was
// ahead wrote it at that time. Otherwise one such record would let the replicas forget every
// tombstone as expired. A tombstone expires by the clock of the server, which removes it.
func decodeRecord(subject string, sequence uint64, stored time.Time, data []byte) (storage.Record, error) {
	ref, err := parseStateSubject(subject)
	if err != nil {
		return storage.Record{}, err
	}
	var e envelope
	if err := jsonv1.Unmarshal(data, &e); err != nil {
		return storage.Record{}, err
	}
	if e.Version > storage.SchemaVersion {
		return storage.Record{}, newer(e.Version)
	}
	r := storage.Record{
		Ref: ref, Revision: sequence, First: e.First,
		At: time.UnixMilli(min(e.At, stored.UnixMilli())).UTC(), Deleted: e.Deleted, Value: e.Value,
	}
	if e.Expires != 0 {
		r.Expires = stored.UTC().Add(time.Duration(e.Expires-e.At) * time.Millisecond)
	}
	return r, nil
}

// Append stores one write.
func (l StateLog) Append(ctx context.Context, w storage.Write) (uint64, error) {
	if err := l.c.gate.Refusal(); err != nil {
		return 0, err
	}
	data, err := l.encode(w)
	if err != nil {
		return 0, err
	}
	subject, id := stateSubject(w.Ref), nuid.Next()
	opts := []jetstream.PublishOpt{jetstream.WithExpectLastSequencePerSubject(w.Expect)}
	if w.Forget {
		opts = append(opts, jetstream.WithMsgTTL(l.retention(w)))
	}
	revision, err := l.c.publishMessage(ctx, message("", l.c.prefix.Name(subject), data), id, opts...)
	if errors.Is(err, errAfterNoResponse) {
		return l.own(ctx, subject, id, err)
	}
	return revision, err
}

// own resolves a conflict after a repeated write. The conflicting record may be the first
// attempt of the same write. The server does not recognize the repetition, because it
// compares revisions before it looks for duplicates.
func (l StateLog) own(ctx context.Context, subject, id string, conflict error) (uint64, error) {
	last, err := l.c.lastMessage(ctx, stateStream, subject)
	if err != nil {
		return 0, err
	}
	if last == nil || last.Header.Get(jetstream.MsgIDHeader) != id {
		return 0, conflict
	}
	return last.Sequence, nil
}

// Headers of an atomic batch (NATS ADR-50).
const (
	batchIDHeader       = "Nats-Batch-Id"
	batchSequenceHeader = "Nats-Batch-Sequence"
	batchCommitHeader   = "Nats-Batch-Commit"
)

// AppendBatch stores the writes as one atomic batch: one fsync for all.
func (l StateLog) AppendBatch(ctx context.Context, ws []storage.Write) (uint64, error) {
	if len(ws) == 1 {
		return l.Append(ctx, ws[0])
	}
	if err := l.c.gate.Refusal(); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, publishTries*l.c.publishWait)
	defer cancel()
	revision, err := whenDecided(ctx, func() (uint64, error) { return l.batch(ctx, ws) })
	if refused, ok := errors.AsType[*jetstream.APIError](err); ok {
		err = refusal(refused)
	}
	return revision, err
}

// batch publishes the writes as one atomic batch. Errors: storage.ErrUnavailable,
// *jetstream.APIError.
func (l StateLog) batch(ctx context.Context, ws []storage.Write) (uint64, error) {
	id := nuid.Next()
	for i, w := range ws {
		data, err := l.encode(w)
		if err != nil {
			return 0, err
		}
		m := &nats.Msg{Subject: l.c.prefix.Name(stateSubject(w.Ref)), Data: data, Header: nats.Header{
			batchIDHeader:                       {id},
			batchSequenceHeader:                 {strconv.Itoa(i + 1)},
			jetstream.ExpectedLastSubjSeqHeader: {strconv.FormatUint(w.Expect, 10)},
		}}
		if w.Forget {
			m.Header.Set(jetstream.MsgTTLHeader, l.retention(w).String())
		}
		if i < len(ws)-1 {
			if err := l.c.nc.PublishMsg(m); err != nil {
				return 0, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
			}
			continue
		}
		m.Header.Set(batchCommitHeader, "1")
		return l.commit(ctx, m)
	}
	return 0, nil
}

// commit sends the last message of a batch and waits for the response. Errors: see batch.
func (l StateLog) commit(ctx context.Context, m *nats.Msg) (uint64, error) {
	answer, err := l.c.nc.RequestMsgWithContext(ctx, m)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	var ack struct {
		Sequence uint64              `json:"seq"`
		Error    *jetstream.APIError `json:"error"`
	}
	if err := jsonv1.Unmarshal(answer.Data, &ack); err != nil {
		return 0, fmt.Errorf("%w: the response to a batch does not decode: %w", storage.ErrUnavailable, err)
	}
	if ack.Error != nil {
		return 0, ack.Error
	}
	return ack.Sequence, nil
}

// State describes the stream. It is another one after its creation anew, and for a reader of
// another schema version: the replica then has other shapes.
func (l StateLog) State(ctx context.Context) (storage.LogState, error) {
	info, err := l.c.streamInfo(ctx, stateStream)
	if err != nil {
		return storage.LogState{}, err
	}
	const skew = 24 // fraction of the retention by which clocks may differ
	age := l.c.options.DeletionsAge
	return storage.LogState{
		Identity: info.Created.UTC().Format(time.RFC3339Nano) + " schema " + strconv.Itoa(storage.SchemaVersion),
		Last:     info.State.LastSeq, WholeSince: info.TimeStamp.Add(age/skew - age),
	}, nil
}

// Newest returns the revision of the newest record that the stream still stores.
func (l StateLog) Newest(ctx context.Context) (uint64, error) {
	m, err := l.c.lastMessage(ctx, stateStream, statePrefix+">")
	if m == nil || err != nil {
		return 0, err
	}
	return m.Sequence, nil
}

// Read returns the last record of an entity, zero if there is none.
func (l StateLog) Read(ctx context.Context, ref storage.Ref) (storage.Record, error) {
	m, err := l.c.lastMessage(ctx, stateStream, stateSubject(ref))
	if m == nil || err != nil {
		return storage.Record{}, err
	}
	r, err := decodeRecord(m.Subject, m.Sequence, m.Time, m.Data)
	if err != nil {
		return r, fmt.Errorf("message %d on the subject %s: %w", m.Sequence, m.Subject, err)
	}
	return r, nil
}

// Tail passes the records after a revision to apply.
func (l StateLog) Tail(ctx context.Context, after uint64, apply func([]storage.Record) error) error {
	return tail(ctx, l.c, stateStream, start{after: after}, 0, decodeMessage, func(batch []events.Sequenced[storage.Record]) error {
		return apply(values(batch))
	})
}
