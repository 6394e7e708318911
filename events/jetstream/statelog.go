package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/gridhook/gridhook/storage"
)

// StateLog is storage.Log on the STATE stream.
type StateLog struct{ c *Conn }

var _ storage.Log = StateLog{}

// StateLog is the log of record on this connection.
func (c *Conn) StateLog() StateLog { return StateLog{c} }

// envelope is a record as the stream keeps it; its subject is the reference and
// its sequence the revision. Version is the schema that it was written in.
type envelope struct {
	Version int             `json:"v"`
	First   uint64          `json:"first,omitempty"`
	At      int64           `json:"at"` // Unix milliseconds
	Deleted bool            `json:"deleted,omitempty"`
	Value   json.RawMessage `json:"value,omitempty"`
}

func encodeWrite(w storage.Write) ([]byte, error) {
	return json.Marshal(envelope{
		Version: storage.SchemaVersion, First: w.First, At: w.At.UnixMilli(), Deleted: w.Deleted, Value: w.Value,
	})
}

// decodeRecord reads a record of the stream.
func decodeRecord(m jetstream.Msg) (storage.Record, error) {
	ref, err := parseStateSubject(m.Subject())
	if err != nil {
		return storage.Record{}, err
	}
	meta, err := m.Metadata()
	if err != nil {
		return storage.Record{}, err
	}
	var e envelope
	if err := json.Unmarshal(m.Data(), &e); err != nil {
		return storage.Record{}, fmt.Errorf("%s at %d: %w", ref, meta.Sequence.Stream, err)
	}
	if e.Version > storage.SchemaVersion {
		return storage.Record{}, fmt.Errorf("%s at %d: %w", ref, meta.Sequence.Stream, newer(e.Version))
	}
	value, err := storage.Upgrade(ref.Kind, e.Version, e.Value)
	if err != nil {
		return storage.Record{}, fmt.Errorf("%s at %d: %w", ref, meta.Sequence.Stream, err)
	}
	return storage.Record{
		Ref: ref, Revision: meta.Sequence.Stream, First: e.First,
		At: time.UnixMilli(e.At).UTC(), Deleted: e.Deleted, Value: value,
	}, nil
}

// Append stores one write.
func (l StateLog) Append(ctx context.Context, w storage.Write) (uint64, error) {
	data, err := encodeWrite(w)
	if err != nil {
		return 0, err
	}
	subject, id := stateSubject(w.Ref), nuid.Next()
	revision, err := l.c.publish(ctx, subject, id, data, jetstream.WithExpectLastSequencePerSubject(w.Expect))
	if errors.Is(err, errAfterNoAnswer) {
		return l.own(ctx, subject, id, err)
	}
	return revision, err
}

// own resolves the conflict of a write that was sent again because no answer
// came: the rival may be the first sending of it, which the server does not
// recognize as it compares before it looks for repeats.
func (l StateLog) own(ctx context.Context, subject, id string, conflict error) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, l.c.publishWait)
	defer cancel()
	s, err := l.c.js.Stream(ctx, stateStream)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	last, err := s.GetLastMsgForSubject(ctx, subject)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	if last.Header.Get(jetstream.MsgIDHeader) != id {
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
	id := nuid.Next()
	for i, w := range ws {
		data, err := encodeWrite(w)
		if err != nil {
			return 0, err
		}
		m := &nats.Msg{Subject: stateSubject(w.Ref), Data: data, Header: nats.Header{
			batchIDHeader:                       {id},
			batchSequenceHeader:                 {strconv.Itoa(i + 1)},
			jetstream.ExpectedLastSubjSeqHeader: {strconv.FormatUint(w.Expect, 10)},
		}}
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

// commit sends the last message of a batch and waits for the answer.
func (l StateLog) commit(ctx context.Context, m *nats.Msg) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, publishTries*l.c.publishWait)
	defer cancel()
	answer, err := l.c.nc.RequestMsgWithContext(ctx, m)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	var ack struct {
		Sequence uint64              `json:"seq"`
		Error    *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(answer.Data, &ack); err != nil {
		return 0, fmt.Errorf("%w: the answer to a batch does not decode: %w", storage.ErrUnavailable, err)
	}
	if ack.Error != nil {
		return 0, refusal(ack.Error)
	}
	return ack.Sequence, nil
}

// Last is the revision of the newest record.
func (l StateLog) Last(ctx context.Context) (uint64, error) {
	info, err := l.info(ctx)
	if err != nil {
		return 0, err
	}
	return info.State.LastSeq, nil
}

// Identity is the stream's time of creation, and the schema that records are read
// in: a replica of another schema has other shapes.
func (l StateLog) Identity(ctx context.Context) (string, error) {
	info, err := l.info(ctx)
	if err != nil {
		return "", err
	}
	return info.Created.UTC().Format(time.RFC3339Nano) + " schema " + strconv.Itoa(storage.SchemaVersion), nil
}

func (l StateLog) info(ctx context.Context) (*jetstream.StreamInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, l.c.publishWait)
	defer cancel()
	s, err := l.c.js.Stream(ctx, stateStream)
	if err != nil {
		return nil, errors.Join(storage.ErrUnavailable, err)
	}
	return s.CachedInfo(), nil
}

// Tail hands the records after a revision to apply.
func (l StateLog) Tail(ctx context.Context, after uint64, apply func([]storage.Record) error) error {
	return tail(ctx, l.c, stateStream, after, 0, decodeRecord, apply)
}
