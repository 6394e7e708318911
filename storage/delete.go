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
	whole := false
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
			whole = r.Whole
			return r, err
		})
	}
	if err != nil {
		return err
	}
	return s.deleteLate(ctx, ref, whole, dependents)
}

// deleteLate deletes dependents of a deleted entity that were created after its deletion
// had read them. It does nothing if the entity exists again.
func (s *Store) deleteLate(ctx context.Context, ref Ref, whole bool, dependents func(View) ([]Ref, error)) error {
	return s.Rewrite(ctx, func(v View) (r Revised, err error) {
		current, err := find(v, ref)
		if err != nil || current.live() {
			return r, err
		}
		gone, err := dependents(v)
		return Revised{Gone: gone[:min(len(gone), MaxBatch)], Whole: whole}, err
	})
}

// parents has the kinds of what a home, a rate plan or a device has one of, with the kind of
// the owner. Both records have the same identifier.
var parents = map[Kind]Kind{
	KindSolar: KindHome, KindUsage: KindHome, KindMeasuredLoad: KindHome, KindHomeMarket: KindHome, KindOnboarding: KindHome,
	KindPlanEvent: KindRatePlan, KindUserPreferences: KindHVACDevice,
}

// deleteOrphan deletes a new entity if its parent was deleted between the check of the
// caller and the write. A new parent with the same identifier would inherit it. Errors:
// *NotFoundError of the parent, ErrConflict, ErrUnavailable.
func (s *Store) deleteOrphan(ctx context.Context, ref Ref) error {
	kind, found := parents[ref.Kind]
	if !found {
		return nil
	}
	parent, err := s.current(kind.Ref(ref.Org, ref.ID))
	if err != nil || !parent.Deleted {
		return err
	}
	if err := s.deleteLate(ctx, parent.Ref, true, with(ref)); err != nil {
		return err
	}
	return &NotFoundError{parent.Ref}
}
