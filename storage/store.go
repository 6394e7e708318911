package storage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Entity is what every stored noun is, by pointer. Its JSON form is what the log
// keeps.
type Entity interface {
	// Ref names the entity.
	Ref() Ref
	// Validate returns an *InvalidError naming every wrong field, or nil.
	Validate() error

	base() *Base
}

// Base is what every entity has. It is embedded in each.
type Base struct {
	// OrganizationID is the organization that the entity belongs to, Shared for
	// the operator's own. It is part of the reference, not of the JSON form.
	OrganizationID string `json:"-"`
	// CreatedAt and UpdatedAt are set by the store.
	CreatedAt Time `json:"createdAt"`
	UpdatedAt Time `json:"updatedAt"`
}

func (b *Base) base() *Base { return b }

// pointer constrains P to be the pointer to T that is an Entity.
type pointer[T any] interface {
	*T
	Entity
}

// Store reads from the replica and writes through the log.
type Store struct {
	log     Log
	replica Replica
	now     func() time.Time
}

// NewStore joins a log and the replica that follows it.
func NewStore(log Log, replica Replica, now func() time.Time) *Store {
	return &Store{log: log, replica: replica, now: now}
}

// View runs fn on a consistent reading of the replica.
func (s *Store) View(fn func(View) error) error { return s.replica.View(fn) }

// Revision is the last revision that reads include.
func (s *Store) Revision() uint64 { return s.replica.Revision() }

// WaitFor returns once reads include the revision: causal consistency for
// those who were told of a write by somebody else.
func (s *Store) WaitFor(ctx context.Context, revision uint64) error {
	return s.replica.WaitFor(ctx, revision)
}

// Now is the store's clock, in UTC and whole milliseconds as timestamps are
// shown.
func (s *Store) Now() time.Time { return s.now().UTC().Truncate(time.Millisecond) }

// Decode turns a live record into its entity. Errors: ErrNotFound for a
// tombstone.
func Decode[T any, P pointer[T]](r Record) (T, error) {
	var e T
	if r.Deleted {
		return e, ErrNotFound
	}
	if err := json.Unmarshal(r.Value, &e); err != nil {
		return e, fmt.Errorf("stored %s at revision %d does not decode: %w", r.Ref, r.Revision, err)
	}
	P(&e).base().OrganizationID = r.Org
	if named, ok := any(P(&e)).(interface{ setID(string) }); ok {
		named.setID(r.ID)
	}
	return e, nil
}

// Read returns one entity and its revision from a view. Errors: ErrNotFound.
func Read[T any, P pointer[T]](v View, ref Ref) (T, uint64, error) {
	r, err := v.Get(ref)
	if err != nil {
		var none T
		return none, 0, err
	}
	e, err := Decode[T, P](r)
	return e, r.Revision, err
}

// Get returns one entity. Errors: ErrNotFound.
func Get[T any, P pointer[T]](s *Store, ref Ref) (e T, err error) {
	err = s.View(func(v View) error {
		e, _, err = Read[T, P](v, ref)
		return err
	})
	return e, err
}

// List returns up to limit live entities of an organization whose identifiers
// sort after the given one.
func List[T any, P pointer[T]](s *Store, kind Kind, org, after string, limit int) (list []T, err error) {
	err = s.View(func(v View) error {
		list, err = ReadList[T, P](v, kind, org, after, limit)
		return err
	})
	return list, err
}

// ReadList is List on a view that is already open.
func ReadList[T any, P pointer[T]](v View, kind Kind, org, after string, limit int) ([]T, error) {
	list := []T{}
	var failed error
	err := v.Scan(kind, org, after, func(r Record) bool {
		if len(list) >= limit {
			return false
		}
		if r.Deleted {
			return true
		}
		e, err := Decode[T, P](r)
		if err != nil {
			failed = err
			return false
		}
		list = append(list, e)
		return true
	})
	return list, errors.Join(err, failed)
}

// Create stores a new entity and sets its times. Errors: *InvalidError,
// ErrExists, ErrUnavailable.
func (s *Store) Create(ctx context.Context, e Entity) error {
	current, err := s.current(e.Ref())
	if err != nil {
		return err
	}
	if current.live() {
		return ErrExists
	}
	err = s.write(ctx, e, current)
	if errors.Is(err, ErrConflict) { // somebody created it between the look and the write
		return ErrExists
	}
	return err
}

// Update reads an entity, lets change alter it, and stores it if nobody wrote in
// between; if somebody did, it waits until the replica has what they wrote and
// starts again, a few times. An error of change is returned as it is. Errors:
// ErrNotFound, *InvalidError, ErrConflict, ErrUnavailable.
func Update[T any, P pointer[T]](ctx context.Context, s *Store, ref Ref, change func(*T) error) (T, error) {
	const tries = 5
	var e T
	var err error
	for range tries {
		var current Record
		if current, err = s.current(ref); err != nil {
			return e, err
		}
		if !current.live() {
			return e, ErrNotFound
		}
		if e, err = Decode[T, P](current); err != nil {
			return e, err
		}
		if err = change(&e); err != nil {
			return e, err
		}
		if err = s.write(ctx, P(&e), current); !errors.Is(err, ErrConflict) {
			return e, err
		}
		if behind := s.CatchUp(ctx); behind != nil {
			return e, behind
		}
	}
	return e, err
}

// Delete leaves a tombstone. Errors: ErrNotFound, ErrConflict, ErrUnavailable.
func (s *Store) Delete(ctx context.Context, ref Ref) error {
	current, err := s.current(ref)
	if err != nil {
		return err
	}
	if !current.live() {
		return ErrNotFound
	}
	return s.append(ctx, Write{Ref: ref, Expect: current.Revision, First: current.First, At: s.Now(), Deleted: true})
}

// current is a copy of the record as the replica has it, zero when there is none.
func (s *Store) current(ref Ref) (Record, error) {
	if !ref.Valid() {
		return Record{}, fmt.Errorf("storage: %q is no valid reference", ref.String())
	}
	var rec Record
	err := s.View(func(v View) (err error) {
		rec, err = v.Get(ref)
		rec.Value = bytes.Clone(rec.Value)
		return err
	})
	if errors.Is(err, ErrNotFound) {
		return Record{}, nil
	}
	return rec, err
}

// write stores e in place of current, whose zero value means that there is none.
func (s *Store) write(ctx context.Context, e Entity, current Record) error {
	if err := e.Validate(); err != nil {
		return err
	}
	b, now := e.base(), Time{s.Now()}
	if b.CreatedAt.IsZero() {
		b.CreatedAt = now
	}
	b.UpdatedAt = now
	value, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("storage: %s does not encode: %w", e.Ref(), err)
	}
	return s.append(ctx, Write{Ref: e.Ref(), Expect: current.Revision, First: current.First, At: now.Time, Value: value})
}

func (s *Store) append(ctx context.Context, w Write) error {
	revision, err := s.log.Append(ctx, w)
	if err != nil {
		return err
	}
	return s.replica.WaitFor(ctx, revision)
}

// CatchUp returns once reads include everything that the log holds now.
func (s *Store) CatchUp(ctx context.Context) error {
	last, err := s.log.Last(ctx)
	if err != nil {
		return err
	}
	return s.replica.WaitFor(ctx, last)
}
