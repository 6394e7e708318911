package storage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
)

// Change is the effect of an upsert on an entity.
type Change string

// The changes.
const (
	Created   Change = "created"
	Updated   Change = "updated"
	Unchanged Change = "unchanged"
)

// UpsertResult is the result for one entity of an Upsert.
type UpsertResult struct {
	// Change is empty if the entity is not stored. It is set beside ErrUnavailable if the
	// entity is stored, but reads do not include it yet.
	Change Change
	// Err is an *InvalidError, *LimitError, *ErasedError, ErrConflict or ErrUnavailable,
	// nil if the entity is stored.
	Err error
}

// Upsert creates or replaces many entities, durably and in atomic batches. It reports and
// skips invalid entities. It does not write unchanged entities. When it returns, reads
// include all its writes.
func (s *Store) Upsert(ctx context.Context, entities []Entity) []UpsertResult {
	return s.UpsertFrom(ctx, math.MaxUint64, entities)
}

// UpsertFrom is Upsert for entities that were made from a view at a revision. An entity that
// has changed since then gets ErrConflict, and so may others of its batch: make them again.
func (s *Store) UpsertFrom(ctx context.Context, revision uint64, entities []Entity) []UpsertResult {
	results := make([]UpsertResult, len(entities))
	quota, err := s.quota(ctx, entities...)
	if err != nil {
		addError(results, err)
		return results
	}
	defer quota.release()
	var batch []Write
	var places []int
	var newest uint64
	unseen := map[Ref]bool{} // entities of this call that reads may not include yet
	own := map[Ref]bool{}    // entities of earlier batches of this call
	changed := func(current Record) bool { return current.Revision > revision && !own[current.Ref] }
	flush := func() {
		last, err := s.flush(ctx, batch, changed)
		for i := range batch {
			own[batch[i].Ref] = err == nil
		}
		newest = max(newest, last)
		if err != nil {
			for _, i := range places {
				results[i] = UpsertResult{Err: err}
			}
		}
		batch, places = nil, nil
	}
	for i, e := range entities {
		if unseen[e.Ref()] {
			// Store the first write and wait for it, so that the second write compares
			// with the first.
			flush()
			if err := s.replica.WaitFor(ctx, newest); err != nil {
				results[i].Err = err
				continue
			}
			clear(unseen)
		}
		w, change, err := s.upsert(e, changed)
		if err == nil && change == Created {
			err = quota.take(w)
		}
		if err != nil {
			results[i].Err = err
			continue
		}
		if results[i].Change = change; change == Unchanged {
			continue
		}
		batch, places = append(batch, w), append(places, i)
		unseen[w.Ref] = true
		if len(batch) == MaxBatch {
			flush()
		}
	}
	flush()
	if err := s.replica.WaitFor(ctx, newest); err != nil {
		addError(results, err)
	}
	return results
}

// addError adds an error to the results of changes that have none.
func addError(results []UpsertResult, err error) {
	for i := range results {
		if results[i].Err == nil && results[i].Change != Unchanged {
			results[i].Err = err
		}
	}
}

// upsert returns the write that replaces the stored entity with e. Errors: ErrConflict if
// the stored entity has changed.
func (s *Store) upsert(e Entity, changed func(Record) bool) (w Write, change Change, err error) {
	if err := e.Validate(); err != nil {
		return w, "", err
	}
	current, err := s.replaced(e.Ref())
	if err != nil {
		return w, "", err
	}
	if changed(current) {
		return w, "", ErrConflict
	}
	change = Created
	if current.live() {
		same, err := unchanged(e, current)
		if same || err != nil {
			return w, Unchanged, err
		}
		change = Updated
	}
	w, err = s.replacement(e, current)
	return w, change, err
}

// unchanged gives e the times of current and reports whether the two are then equal.
func unchanged(e Entity, current Record) (bool, error) {
	was, b := baseOf(current), e.base()
	b.CreatedAt, b.UpdatedAt = was.CreatedAt, was.UpdatedAt
	value, err := json.Marshal(e)
	return bytes.Equal(value, current.Value), err
}

// flush appends a batch. An import states the desired values, so flush overwrites the
// values of another writer, unless they have changed. It retries only once.
func (s *Store) flush(ctx context.Context, batch []Write, changed func(Record) bool) (uint64, error) {
	if len(batch) == 0 {
		return 0, nil
	}
	last, err := s.appendBatch(ctx, batch)
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
		if changed(current) {
			return 0, ErrConflict
		}
		batch[i].Expect, batch[i].First, batch[i].over = current.Revision, current.First, current.live()
	}
	return s.appendBatch(ctx, batch)
}
