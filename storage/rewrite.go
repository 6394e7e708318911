package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Revised is what shall be stored of entities that belong together.
type Revised struct {
	Put []Entity
	// Gone are those that shall be no more.
	Gone []Ref
}

// Rewrite changes entities that belong together: change reads them from a view and
// says what shall be, of at most MaxBatch. It is stored all or none, those that are
// gone first and then the others in their order, and only if nobody wrote to one of
// them in between; if somebody did, it starts again with what they wrote, a few
// times. An error of change is returned as it is. Errors: *InvalidError, ErrConflict,
// ErrUnavailable.
func (s *Store) Rewrite(ctx context.Context, change func(View) (Revised, error)) error {
	const tries = 5
	var err error
	for range tries {
		var last uint64
		if last, err = s.rewrite(ctx, change); err == nil {
			return s.replica.WaitFor(ctx, last)
		}
		if !errors.Is(err, ErrConflict) {
			return err
		}
		if behind := s.CatchUp(ctx); behind != nil {
			return behind
		}
	}
	return err
}

// rewrite makes one try and returns the revision of the last write, 0 when there
// was nothing to write.
func (s *Store) rewrite(ctx context.Context, change func(View) (Revised, error)) (uint64, error) {
	var batch []Write
	err := s.View(func(v View) error {
		revised, err := change(v)
		if err != nil {
			return err
		}
		for _, ref := range revised.Gone {
			current, err := v.Get(ref)
			switch {
			case err == nil && current.live():
				batch = append(batch, Write{Ref: ref, Expect: current.Revision, First: current.First, At: s.Now(), Deleted: true})
			case err != nil && !errors.Is(err, ErrNotFound):
				return err
			}
		}
		for _, e := range revised.Put {
			w, err := s.replacement(v, e)
			if err != nil {
				return err
			}
			batch = append(batch, w)
		}
		return nil
	})
	switch {
	case err != nil || len(batch) == 0:
		return 0, err
	case len(batch) > MaxBatch:
		return 0, fmt.Errorf("storage: %d entities are to be stored together, at most %d can be", len(batch), MaxBatch)
	}
	return s.log.AppendBatch(ctx, batch)
}

// replacement is the write that stores e in the place of what a view has.
func (s *Store) replacement(v View, e Entity) (Write, error) {
	if err := e.Validate(); err != nil {
		return Write{}, err
	}
	current, err := v.Get(e.Ref())
	if err != nil && !errors.Is(err, ErrNotFound) {
		return Write{}, err
	}
	b, now := e.base(), Time{s.Now()}
	b.CreatedAt, b.UpdatedAt = now, now
	if current.live() {
		var was Base
		if err := json.Unmarshal(current.Value, &was); err != nil {
			return Write{}, fmt.Errorf("stored %s at revision %d does not decode: %w", current.Ref, current.Revision, err)
		}
		b.CreatedAt = was.CreatedAt
	}
	value, err := json.Marshal(e)
	if err != nil {
		return Write{}, fmt.Errorf("storage: %s does not encode: %w", e.Ref(), err)
	}
	return Write{Ref: e.Ref(), Expect: current.Revision, First: current.First, At: now.Time, Value: value}, nil
}
