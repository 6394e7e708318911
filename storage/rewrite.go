package storage

import (
	"context"
	"fmt"
)

// Revised describes a change of related entities.
type Revised struct {
	Put []Entity
	// Gone lists the entities to delete. Whole says that the entity which they belong to
	// is gone too. The log may then forget their tombstones, including tombstones from
	// earlier deletions.
	Gone  []Ref
	Whole bool
}

// Rewrite changes related entities atomically. change reads the entities from a view and
// returns the change, of at most MaxBatch writes. The log stores deletions first and then
// the other writes in their order. If another writer changed one of the entities in
// between, Rewrite retries with the new values, up to 5 times in total. It returns an
// error of change unmodified. Errors: *InvalidError, *LimitError for more stored bytes,
// ErrConflict, ErrUnavailable.
func (s *Store) Rewrite(ctx context.Context, change func(View) (Revised, error)) error {
	return s.retry(ctx, func() error { return s.rewrite(ctx, change) })
}

// rewrite makes one attempt.
func (s *Store) rewrite(ctx context.Context, change func(View) (Revised, error)) error {
	var batch []Write
	replaced := map[Ref]Record{} // by the entities of Put
	err := s.View(func(v View) error {
		revised, err := change(v)
		if err != nil {
			return err
		}
		for _, ref := range revised.Gone {
			current, err := find(v, ref)
			if err != nil {
				return err
			}
			if current.live() || revised.Whole && current.Deleted && current.Expires.IsZero() {
				batch = append(batch, s.tombstone(current, revised.Whole))
			}
		}
		for _, e := range revised.Put {
			w, current, err := s.replacementIn(v, e)
			if err != nil {
				return err
			}
			batch, replaced[w.Ref] = append(batch, w), current
		}
		return nil
	})
	if err == nil {
		err = s.checkGrowth(batch, replaced)
	}
	switch {
	case err != nil || len(batch) == 0:
		return err
	case len(batch) > MaxBatch:
		return fmt.Errorf("storage: a batch of %d entities exceeds the maximum of %d", len(batch), MaxBatch)
	}
	return s.append(ctx, batch...)
}

// replacementIn returns the write that stores an entity. current is the record of a view that
// the write replaces.
func (s *Store) replacementIn(v View, e Entity) (w Write, current Record, err error) {
	if err := Validate(e); err != nil {
		return w, current, err
	}
	current, err = find(v, e.Ref())
	if err == nil && !current.live() {
		err = s.refuseErased(v, e.Ref())
	}
	if err == nil {
		w, err = s.replacement(e, current)
	}
	return w, current, err
}

// checkGrowth checks the limit of stored bytes for the writes that replace records. Keys and
// the states of sources are bounded by themselves. Beyond the limit keys must be rotated and
// runs be recorded too.
func (s *Store) checkGrowth(batch []Write, replaced map[Ref]Record) error {
	q := quota{s: s, left: map[Ref]int{}}
	for _, w := range batch {
		if current, put := replaced[w.Ref]; put && w.Kind != KindKey && w.Kind != KindSourceState {
			if err := q.takeUpdate(w, current); err != nil {
				return err
			}
		}
	}
	return nil
}

// append stores a batch and returns when reads include it. Errors: as of appendBatch, and
// *ErasedError and *NotFoundError for new entities whose organization or parent was deleted
// meanwhile.
func (s *Store) append(ctx context.Context, batch ...Write) error {
	revision, err := s.appendBatch(ctx, batch)
	if err != nil {
		return err
	}
	if err := s.WaitFor(ctx, revision); err != nil {
		return err
	}
	for _, w := range batch {
		if w.over || w.Deleted {
			continue
		}
		err := s.eraseLate(ctx, w.Ref)
		if err == nil {
			err = s.deleteOrphan(ctx, w.Ref)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
