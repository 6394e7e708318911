package storage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
)

// Change says what an upsert did.
type Change string

// The changes.
const (
	Created   Change = "created"
	Updated   Change = "updated"
	Unchanged Change = "unchanged"
)

// UpsertResult is what became of one entity of an Upsert.
type UpsertResult struct {
	Change Change
	// Err is an *InvalidError, ErrConflict or ErrUnavailable, nil when stored.
	Err error
}

// Upsert creates or replaces many entities, durably and in atomic batches: what
// is wrong is left out and reported, the rest is stored, and what is the same as
// before is not written. When it returns, reads include it all.
func (s *Store) Upsert(ctx context.Context, entities []Entity) []UpsertResult {
	results := make([]UpsertResult, len(entities))
	var batch []Write
	var places []int
	var newest uint64
	inBatch := map[Ref]bool{}
	flush := func() {
		last, err := s.flush(ctx, batch)
		newest = max(newest, last)
		if err != nil {
			for _, i := range places {
				results[i] = UpsertResult{Err: err}
			}
		}
		batch, places = nil, nil
		clear(inBatch)
	}
	for i, e := range entities {
		if ref := e.Ref(); inBatch[ref] {
			// The same entity twice: the second compares with the first.
			flush()
			if err := s.replica.WaitFor(ctx, newest); err != nil {
				results[i].Err = err
				continue
			}
		}
		w, change, err := s.upsert(e)
		results[i] = UpsertResult{Change: change, Err: err}
		if err != nil || change == Unchanged {
			continue
		}
		batch, places = append(batch, w), append(places, i)
		inBatch[w.Ref] = true
		if len(batch) == MaxBatch {
			flush()
		}
	}
	flush()
	if err := s.replica.WaitFor(ctx, newest); err != nil {
		for i := range results {
			if results[i].Err == nil && results[i].Change != Unchanged {
				results[i].Err = err
			}
		}
	}
	return results
}

// upsert makes the write that stores e in place of what is there.
func (s *Store) upsert(e Entity) (Write, Change, error) {
	if err := e.Validate(); err != nil {
		return Write{}, "", err
	}
	current, err := s.current(e.Ref())
	if err != nil {
		return Write{}, "", err
	}
	b, now, change := e.base(), Time{s.Now()}, Created
	b.CreatedAt, b.UpdatedAt = now, now
	if current.live() {
		change = Updated
		var was Base
		if err := json.Unmarshal(current.Value, &was); err != nil {
			return Write{}, "", err
		}
		b.CreatedAt, b.UpdatedAt = was.CreatedAt, was.UpdatedAt
	}
	value, err := json.Marshal(e)
	if err != nil {
		return Write{}, "", err
	}
	if bytes.Equal(value, current.Value) {
		return Write{}, Unchanged, nil
	}
	if change == Updated {
		b.UpdatedAt = now
		if value, err = json.Marshal(e); err != nil {
			return Write{}, "", err
		}
	}
	return Write{Ref: e.Ref(), Expect: current.Revision, First: current.First, At: now.Time, Value: value}, change, nil
}

// flush appends a batch. An import says what shall be, not what was: where
// somebody else wrote in between, it is written over theirs, once.
func (s *Store) flush(ctx context.Context, batch []Write) (uint64, error) {
	if len(batch) == 0 {
		return 0, nil
	}
	last, err := s.log.AppendBatch(ctx, batch)
	if !errors.Is(err, ErrConflict) {
		return last, err
	}
	if err := s.CatchUp(ctx); err != nil {
		return 0, err
	}
	for i, w := range batch {
		current, err := s.current(w.Ref)
		if err != nil {
			return last, err
		}
		batch[i].Expect, batch[i].First = current.Revision, current.First
	}
	return s.log.AppendBatch(ctx, batch)
}
