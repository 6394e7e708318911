package signals

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/gridhook/gridhook/storage"
)

// HomeError says that a home has no signal because of unusable stored data. A record of
// the home or of its prices does not decode, or its inputs make package pricing panic.
// The error is the outcome of that home. Repeating the calculation gives the same error
// until a record is written again.
//
// An error of a Reader that is neither a *HomeError nor an *Unpriceable nor
// storage.ErrNotFound is an error of the store.
type HomeError struct {
	// Reason is a sentence for the delivery log.
	Reason string
	// Err is the cause with its details, for the operator's log.
	Err error
}

// Error returns the reason and the cause.
func (e *HomeError) Error() string { return e.Reason + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *HomeError) Unwrap() error { return e.Err }

// homeError turns a *storage.DecodeError into a *HomeError and returns any other error
// unmodified.
func homeError(err error) error {
	undecodable, ok := errors.AsType[*storage.DecodeError](err)
	if _, already := errors.AsType[*HomeError](err); !ok || already {
		return err
	}
	ref := undecodable.Ref
	return &HomeError{fmt.Sprintf("the stored %s %q cannot be decoded: write it again", ref.Kind, ref.ID), err}
}

// calculate runs a calculation that does not read the store. It turns a panic into a
// *HomeError.
func calculate[V any](what func() (V, error)) (value V, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &HomeError{"an internal error: the calculation of the home's prices failed", fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
		}
	}()
	return what()
}
