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
	// Err is nil if the entity is stored. Errors: *InvalidError, *LimitError, *ErasedError,
	// ErrConflict, ErrUnavailable, and *NotFoundError if the home, plan, device or source of
	// the entity was deleted meanwhile.
	Err error
}

// Upsert creates or replaces many entities, durably and in atomic batches. No two may have the
// same reference. It reports and skips invalid entities. It does not write unchanged entities.
// When it returns, reads include all its writes.
func (s *Store) Upsert(ctx context.Context, entities []Entity) []UpsertResult {
	return s.UpsertFrom(ctx, math.MaxUint64, entities)
}

// Replace creates or replaces one entity. Among concurrent writers, the last one wins.
// Errors: *InvalidError, *LimitError, *ErasedError, ErrConflict, ErrUnavailable.
func (s *Store) Replace(ctx context.Context, e Entity) error {
	return s.retry(ctx, func() error { return s.Upsert(ctx, []Entity{e})[0].Err })
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
	u := upsert{s: s, quota: quota, from: revision, results: results}
	for i, e := range entities {
		if results[i].Change, err = u.add(ctx, i, e); err != nil {
			results[i] = UpsertResult{Err: err}
		}
	}
	u.flush(ctx)
	if err := s.WaitFor(ctx, u.newest); err != nil {
		addError(results, err)
	}
	u.undoLate(ctx, entities)
	return results
}

// undoLate removes the entities whose organization or parent was deleted meanwhile, and
// reports them.
func (u *upsert) undoLate(ctx context.Context, entities []Entity) {
	erased := map[string]error{} // by organization
	for i, r := range u.results {
		if r.Err != nil || r.Change == Unchanged {
			continue
		}
		ref := entities[i].Ref()
		err, known := erased[ref.Organization()]
		if !known {
			err = u.s.eraseLate(ctx, ref)
			erased[ref.Organization()] = err
		}
		if err == nil {
			err = u.s.deleteOrphan(ctx, ref)
		}
		if err != nil {
			u.results[i] = UpsertResult{Err: err}
		}
	}
}

// upsert is the state of one call of UpsertFrom.
type upsert struct {
	s       *Store
	quota   *quota
	from    uint64 // the revision from which the entities were made
	batch   []Write
	places  []int // of the batch's writes in results
	results []UpsertResult
	newest  uint64 // the last revision that the call wrote
}

// add adds the write of entity i to the batch, and stores a full batch.
func (u *upsert) add(ctx context.Context, i int, e Entity) (Change, error) {
	w, current, change, err := u.s.upsert(e, u.from)
	switch {
	case err != nil:
	case change == Created:
		err = u.quota.take(w, current)
	case change == Updated:
		err = u.quota.takeUpdate(w, current)
	}
	if err != nil || change == Unchanged {
		return change, err
	}
	u.batch, u.places = append(u.batch, w), append(u.places, i)
	if len(u.batch) == MaxBatch {
		u.flush(ctx)
	}
	return change, u.results[i].Err
}

// flush stores the batch.
func (u *upsert) flush(ctx context.Context) {
	last, err := u.s.flush(ctx, u.batch, u.from)
	u.newest = max(u.newest, last)
	if err != nil {
		for _, i := range u.places {
			u.results[i] = UpsertResult{Err: err}
		}
	}
	u.batch, u.places = nil, nil
}

// addError adds an error to the results of changes that have none.
func addError(results []UpsertResult, err error) {
	for i := range results {
		if results[i].Err == nil && results[i].Change != Unchanged {
			results[i].Err = err
		}
	}
}

// upsert returns the write that replaces the stored entity with e, and the replaced entity.
// Errors: ErrConflict if the stored entity has changed since a revision.
func (s *Store) upsert(e Entity, since uint64) (w Write, current Record, change Change, err error) {
	if err := Validate(e); err != nil {
		return w, current, "", err
	}
	current, err = s.replaced(e.Ref())
	if err != nil {
		return w, current, "", err
	}
	if current.Revision > since {
		return w, current, "", ErrConflict
	}
	change = Created
	if current.live() {
		same, err := unchanged(e, current)
		if same || err != nil {
			return w, current, Unchanged, err
		}
		change = Updated
	}
	w, err = s.replacement(e, current)
	return w, current, change, err
}

// unchanged gives e the times of current and reports whether the two are then equal.
func unchanged(e Entity, current Record) (bool, error) {
	was, b := baseOf(current), e.base()
	b.CreatedAt, b.UpdatedAt = was.CreatedAt, was.UpdatedAt
	value, err := encode(e)
	if home, ok := e.(*Home); ok && err == nil && !bytes.Equal(value, current.Value) {
		value, err = json.Marshal(home) // earlier versions stored all members
	}
	return bytes.Equal(value, current.Value), err
}

// flush appends a batch. An import states the desired values, so flush overwrites the
// values of another writer, unless they have changed since a revision. It retries only once.
func (s *Store) flush(ctx context.Context, batch []Write, since uint64) (uint64, error) {
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
		current, err := s.replaced(w.Ref)
		if _, erased := errors.AsType[*ErasedError](err); erased || err == nil && current.Revision > since {
			return 0, ErrConflict // the batch may have entities of other organizations
		}
		if err != nil {
			return last, err
		}
		batch[i].Expect, batch[i].First, batch[i].over = current.Revision, current.First, current.live()
		batch[i].At = s.writeTime(current)
	}
	return s.appendBatch(ctx, batch)
}
