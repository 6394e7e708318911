package storage

import (
	"context"
	"errors"
)

// DeleteHome deletes a home with its devices and every record under its identifier. A new
// home with the same identifier inherits nothing. Errors: ErrNotFound, ErrConflict,
// ErrUnavailable.
func (s *Store) DeleteHome(ctx context.Context, org, id string) error {
	return s.deleteWith(ctx, KindHome.Ref(org, id), false, func(v View) ([]Ref, error) {
		refs := []Ref{KindSolar.Ref(org, id), KindUsage.Ref(org, id), KindMeasuredLoad.Ref(org, id), KindHomeMarket.Ref(org, id), KindOnboarding.Ref(org, id)}
		for d, err := range DevicesOf(v, org, id, "") {
			if undecodable := new(DecodeError); errors.As(err, &undecodable) {
				continue // its home is unknown
			}
			if err != nil {
				return nil, err
			}
			// A batch may end in between: the next one finds the device again.
			refs = append(refs, KindUserPreferences.Ref(org, d.ID), d.Ref())
		}
		return refs, nil
	})
}

// DeleteRatePlan deletes a plan with its events. A new plan with the same identifier does
// not inherit them. It refuses to delete a part of another plan, unless a shared plan takes
// its place. Errors: ErrNotFound, *PlanInUseError, ErrConflict, ErrUnavailable.
func (s *Store) DeleteRatePlan(ctx context.Context, org, id string) error {
	ref := KindRatePlan.Ref(org, id)
	err := s.View(func(v View) error {
		by, err := composedOf(v, ref)
		if by == nil || err != nil {
			return err
		}
		if shared, err := find(v, KindRatePlan.Ref(Shared, id)); org != Shared && shared.live() || err != nil {
			return err
		}
		return &PlanInUseError{ref, *by}
	})
	if err != nil {
		return err
	}
	return s.deleteWith(ctx, ref, true, with(KindPlanEvent.Ref(org, id)))
}

// DeleteSource deletes a source with its state. What it has fetched stays. Errors:
// ErrNotFound, ErrConflict, ErrUnavailable.
func (s *Store) DeleteSource(ctx context.Context, org, id string) error {
	return s.deleteWith(ctx, KindSource.Ref(org, id), false, with(KindSourceState.Ref(org, id)))
}

// with returns dependents that need no search.
func with(refs ...Ref) func(View) ([]Ref, error) {
	return func(View) ([]Ref, error) { return refs, nil }
}

// deleteWith deletes an entity with its dependents, which are more than one batch only for
// a home with hundreds of devices. If a shared entity replaces the deleted entity,
// Whole is false: the tombstone is then the newest change of what remains.
func (s *Store) deleteWith(ctx context.Context, ref Ref, replaceable bool, dependents func(View) ([]Ref, error)) (err error) {
	for more := true; more && err == nil; {
		err = s.Rewrite(ctx, func(v View) (r Revised, err error) {
			current, err := find(v, ref)
			switch {
			case err != nil:
				return r, err
			case !current.live():
				return r, &NotFoundError{ref}
			}
			if r.Whole = true; replaceable {
				shared, err := find(v, Ref{ref.Kind, Shared, ref.ID})
				if err != nil {
					return r, err
				}
				r.Whole = ref.Org != Shared && !shared.live()
			}
			gone, err := dependents(v)
			r.Gone = append(gone, ref)
			if more = len(r.Gone) > MaxBatch; more {
				r.Gone = r.Gone[:MaxBatch]
			}
			return r, err
		})
	}
	return err
}
