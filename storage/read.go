package storage

import (
	"bytes"
	"errors"
	"fmt"
	"iter"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Query returns the result of read on a consistent snapshot of the replica.
func Query[T any](s *Store, read func(View) (T, error)) (found T, err error) {
	err = s.View(func(v View) error {
		found, err = read(v)
		return err
	})
	return found, err
}

// lenient accepts everything that encoding/json accepts. This decoder takes half the time
// of encoding/json.
var lenient = jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsonv2.MatchCaseInsensitiveNames(true))

// Decode decodes a live record into its entity. Errors: ErrNotFound for a tombstone,
// *DecodeError.
func Decode[T any, P PointerTo[T]](r Record) (T, error) {
	var e T
	if r.Deleted {
		return e, ErrNotFound
	}
	if err := jsonv2.Unmarshal(r.Value, &e, lenient); err != nil {
		return e, &DecodeError{r.Ref, fmt.Errorf("at revision %d does not decode: %w", r.Revision, err)}
	}
	P(&e).base().OrganizationID = r.Org
	if named, ok := any(P(&e)).(interface{ setID(string) }); ok {
		named.setID(r.ID)
	}
	return e, nil
}

// Read returns one entity and its revision from a view. Errors: *NotFoundError,
// *DecodeError.
func Read[T any, P PointerTo[T]](v View, ref Ref) (e T, revision uint64, err error) {
	r, err := v.Get(ref)
	if err == nil {
		e, err = Decode[T, P](r)
	}
	return e, r.Revision, NotFound(err, ref)
}

// Get returns one entity. Errors: *NotFoundError, *DecodeError.
func Get[T any, P PointerTo[T]](s *Store, ref Ref) (T, error) {
	e, _, err := GetRevision[T, P](s, ref)
	return e, err
}

// GetRevision is Get with the entity's revision.
func GetRevision[T any, P PointerTo[T]](s *Store, ref Ref) (e T, revision uint64, err error) {
	err = s.View(func(v View) error {
		e, revision, err = Read[T, P](v, ref)
		return err
	})
	return e, revision, err
}

// ReadList returns up to limit live entities of an organization with identifiers after the
// given identifier. It passes the error of a record that does not decode to damaged and goes
// on.
func ReadList[T any, P PointerTo[T]](v View, kind Kind, org, after string, limit int, damaged func(error)) ([]T, error) {
	list := []T{}
	for r, err := range Live(v, kind, org, after) {
		if err != nil {
			return list, err
		}
		if len(list) >= limit {
			break
		}
		e, err := Decode[T, P](r)
		if err != nil {
			damaged(err)
			continue
		}
		list = append(list, e)
	}
	return list, nil
}

// Live iterates over the records of the live entities of an organization with identifiers
// after the given identifier. An error of the store ends the iteration.
func Live(v View, kind Kind, org, after string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if err := v.Scan(kind, org, after, func(r Record) bool { return r.Deleted || yield(r, nil) }); err != nil {
			yield(Record{}, err)
		}
	}
}

// LiveOf is Live for several owners, one after another.
func LiveOf(v View, kind Kind, owners ...string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for _, owner := range owners {
			for r, err := range Live(v, kind, owner, "") {
				if !yield(r, err) {
					return
				}
			}
		}
	}
}

// LiveEverywhere is Live for all owners: first the operator (Shared), then every
// organization.
func LiveEverywhere(v View, kind Kind) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		owners := []string{Shared}
		if err := EachOrganization(v, func(org string) error { owners = append(owners, org); return nil }); err != nil {
			yield(Record{}, err)
			return
		}
		LiveOf(v, kind, owners...)(yield)
	}
}

// Matching returns the records of all live entities of a kind that match.
func Matching(v View, kind Kind, matches func(Record) bool) (found []Record, err error) {
	for r, err := range LiveEverywhere(v, kind) {
		if err != nil {
			return nil, err
		}
		if matches(r) {
			found = append(found, r)
		}
	}
	return found, nil
}

// Each passes every live entity of a kind to do, with its record, until do fails. It passes
// the error of a record that does not decode to damaged and goes on, because the other
// entities must not suffer from it.
func Each[T any, P PointerTo[T]](v View, kind Kind, damaged func(error), do func(e P, r Record) error) error {
	for r, err := range LiveEverywhere(v, kind) {
		if err != nil {
			return err
		}
		e, err := Decode[T, P](r)
		if err != nil {
			damaged(err)
			continue
		}
		if err := do(&e, r); err != nil {
			return err
		}
	}
	return nil
}

// current returns a copy of the replica's record, the zero Record if there is none.
func (s *Store) current(ref Ref) (Record, error) {
	if !ref.Valid() {
		return Record{}, fmt.Errorf("storage: %q is no valid reference", ref.String())
	}
	return Query(s, func(v View) (Record, error) {
		rec, err := find(v, ref)
		rec.Value = bytes.Clone(rec.Value)
		return rec, err
	})
}

// existing is current for a live record. Errors: *NotFoundError.
func (s *Store) existing(ref Ref) (Record, error) {
	rec, err := s.current(ref)
	if err == nil && !rec.live() {
		err = &NotFoundError{ref}
	}
	return rec, err
}

// replaced returns what a new entity replaces, like current. Errors: *ErasedError.
func (s *Store) replaced(ref Ref) (Record, error) {
	rec, err := s.current(ref)
	if err == nil && !rec.live() {
		err = s.View(func(v View) error { return s.refuseErased(v, ref) })
	}
	return rec, err
}

// find returns a record of a view, the zero Record if there is none.
func find(v View, ref Ref) (Record, error) {
	rec, err := v.Get(ref)
	if errors.Is(err, ErrNotFound) {
		return Record{}, nil
	}
	return rec, err
}

// FindShared returns an organization's own live record, or else the live shared record
// with the same identifier. Errors: ErrNotFound.
func FindShared(v View, own Ref) (Record, error) {
	rec, err := find(v, own)
	if err == nil && !rec.live() {
		rec, err = find(v, own.Kind.Ref(Shared, own.ID))
	}
	if err == nil && !rec.live() {
		return Record{}, &NotFoundError{own}
	}
	return rec, err
}

// baseOf decodes the times of a live record. They are zero if the record does not decode.
func baseOf(current Record) (was Base) {
	if jsonv2.Unmarshal(current.Value, &was, lenient) != nil {
		return Base{}
	}
	return was
}
