package storage

import (
	"errors"
	"fmt"

	"github.com/gridhook/gridhook/pricing"
)

// These errors are matched with errors.Is.
var (
	// ErrNotFound says that the organization has no such entity.
	ErrNotFound = errors.New("not found")
	// ErrExists says that an entity with the same identifier exists.
	ErrExists = errors.New("already exists")
	// ErrConflict says that another writer wrote first. Read again and decide anew.
	ErrConflict = errors.New("changed by another writer")
	// ErrUnavailable says that the log of record cannot accept the write now. The write
	// took no effect, or it is safe to repeat.
	ErrUnavailable = errors.New("the log of record does not respond")
)

// NotFoundError says which entity does not exist. It matches ErrNotFound.
type NotFoundError struct{ Ref Ref }

// Error names the entity.
func (e *NotFoundError) Error() string { return e.Ref.String() + ": " + ErrNotFound.Error() }

// Unwrap returns ErrNotFound.
func (e *NotFoundError) Unwrap() error { return ErrNotFound }

// ExistsError says which entity exists. It matches ErrExists.
type ExistsError struct{ Ref Ref }

// Error names the entity.
func (e *ExistsError) Error() string { return e.Ref.String() + ": " + ErrExists.Error() }

// Unwrap returns ErrExists.
func (e *ExistsError) Unwrap() error { return ErrExists }

// NotFound returns a *NotFoundError of ref if err is ErrNotFound itself. It returns every
// other error unchanged.
func NotFound(err error, ref Ref) error {
	if err == ErrNotFound { //nolint:errorlint // a wrapped error names its entity
		return &NotFoundError{ref}
	}
	return err
}

// DecodeError says that a stored record does not decode as its kind. The record is
// unusable until it is written again.
type DecodeError struct {
	Ref Ref
	// Err is the cause, such as "at revision 7 does not decode: ...".
	Err error
}

// Error names the record and the cause.
func (e *DecodeError) Error() string { return fmt.Sprintf("stored %s %s", e.Ref, e.Err) }

// Unwrap returns the cause.
func (e *DecodeError) Unwrap() error { return e.Err }

// NoRecord reports whether err says that there is no record, or none that decodes. A write
// replaces such a record.
func NoRecord(err error) bool {
	_, damaged := errors.AsType[*DecodeError](err)
	return damaged || errors.Is(err, ErrNotFound)
}

// FieldError is one error in one field.
type FieldError = pricing.FieldError

// InvalidError lists every wrong field.
type InvalidError = pricing.InvalidError

// Problems collects wrong fields.
type Problems = pricing.Problems

// IgnoreNotFound returns nil for ErrNotFound and every other error unchanged.
func IgnoreNotFound(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}
