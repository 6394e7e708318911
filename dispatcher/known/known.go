// Package known changes the stored record of the signals that an endpoint already has.
//
// An endpoint may ask for a home's signal only if it differs from the last delivered one.
// Its known signals are stored per slice of homes. The worker drops a home's known signal
// before it sends another signal, and keeps the new one after the response. So a newer
// trigger sends its signal if the last delivery is uncertain, or still in flight. After a
// change of the endpoint's URL or format nothing is known.
//
// known may import events and storage.
package known

import (
	"context"
	"errors"
	"fmt"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Log stores the records.
type Log interface {
	// Known and PutKnown read and write an endpoint's known signals of a slice of homes.
	// PutKnown replaces the state at the revision read by Known and returns the new
	// revision. Errors: storage.ErrConflict.
	Known(ctx context.Context, org, endpointID string, slice int) (events.Known, error)
	PutKnown(ctx context.Context, org, endpointID string, slice int, known events.Known) (revision uint64, err error)
}

// Place identifies the record of an endpoint and a slice of homes.
type Place struct {
	OrganizationID, EndpointID string
	Slice                      int
}

// Drop drops known signals and returns the others. It repeats drop after a concurrent
// write. Errors: storage.ErrUnavailable.
func Drop(ctx context.Context, log Log, at Place, drop func(*events.Known)) (known events.Known, err error) {
	const tries = 10
	for range tries {
		if known, err = log.Known(ctx, at.OrganizationID, at.EndpointID, at.Slice); err != nil {
			return known, err
		}
		before := len(known.Signals)
		if drop(&known); len(known.Signals) == before {
			return known, nil
		}
		if known.Revision, err = log.PutKnown(ctx, at.OrganizationID, at.EndpointID, at.Slice, known); !errors.Is(err, storage.ErrConflict) {
			return known, err
		}
	}
	return known, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
}

// Keep stores the known signals after deliveries to some homes. After a concurrent write
// it forgets these homes: another trigger's slice was delivered at the same time, and the
// order of the two is unknown.
func Keep(ctx context.Context, log Log, at Place, known events.Known, homes []string) error {
	_, err := log.PutKnown(ctx, at.OrganizationID, at.EndpointID, at.Slice, known)
	if errors.Is(err, storage.ErrConflict) {
		return Forget(ctx, log, at, homes)
	}
	return err
}

// Forget drops the known signals of some homes.
func Forget(ctx context.Context, log Log, at Place, homes []string) error {
	_, err := Drop(ctx, log, at, func(known *events.Known) {
		for _, home := range homes {
			delete(known.Signals, home)
		}
	})
	return err
}
