package storage

import (
	"context"
	"maps"
	"slices"
)

// DeleteHome deletes a home with its devices and every record under its identifier. A new
// home with the same identifier inherits nothing. Errors: ErrNotFound, ErrConflict,
// ErrUnavailable.
func (s *Store) DeleteHome(ctx context.Context, org, id string) error {
	return s.deleteWith(ctx, KindHome.Ref(org, id))
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
	return s.deleteWith(ctx, ref)
}

// DeleteSource deletes a source with its state. The fetched prices stay. Errors:
// ErrNotFound, ErrConflict, ErrUnavailable.
func (s *Store) DeleteSource(ctx context.Context, org, id string) error {
	return s.deleteWith(ctx, KindSource.Ref(org, id))
}

// deleteWith deletes an entity with its dependents. They are more than one batch only for a
// home with hundreds of devices. If a shared plan replaces the deleted plan, Whole is false:
// the tombstone is then the newest change of what remains.
func (s *Store) deleteWith(ctx context.Context, ref Ref) (err error) {
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
			shared, err := find(v, ref.Kind.Ref(Shared, ref.ID))
			if err != nil {
				return r, err
			}
			r.Gone, err = dependents(v, ref)
			r.Gone = append(r.Gone, ref)
			if more = len(r.Gone) > MaxBatch; more {
				r.Gone = r.Gone[:MaxBatch]
			}
			whole = ref.Kind != KindRatePlan || !shared.live()
			r.Whole = whole
			return r, err
		})
	}
	if err != nil {
		return err
	}
	// Parts that were created after the deletion had read them. The entity may exist again.
	return s.Rewrite(ctx, func(v View) (r Revised, err error) {
		current, err := find(v, ref)
		if err != nil || current.live() {
			return r, err
		}
		r.Whole = whole
		r.Gone, err = dependents(v, ref)
		return r, err
	})
}

// parents has the kinds of what a home, a rate plan, a device or a source has one of, with
// the kind of the owner. Both records have the same identifier.
var parents = map[Kind]Kind{
	KindSolar: KindHome, KindUsage: KindHome, KindMeasuredLoad: KindHome, KindHomeMarket: KindHome, KindOnboarding: KindHome,
	KindPlanEvent: KindRatePlan, KindUserPreferences: KindHVACDevice, KindSourceState: KindSource,
}

// dependents returns the references of what an entity has one of, and of a home's devices.
func dependents(v View, ref Ref) (refs []Ref, err error) {
	for _, kind := range slices.Sorted(maps.Keys(parents)) {
		if parents[kind] == ref.Kind {
			refs = append(refs, kind.Ref(ref.Org, ref.ID))
		}
	}
	if ref.Kind == KindHome {
		err = v.Devices(ref.Org, ref.ID, "", func(r Record) bool {
			// A batch may end in between: the next one finds the device again.
			refs = append(refs, KindUserPreferences.Ref(ref.Org, r.ID), r.Ref)
			return true
		})
	}
	return refs, err
}

// deleteOrphan deletes a new entity if its parent was deleted between the check of the
// caller and the write. A new parent with the same identifier would inherit it. Errors:
// *NotFoundError of the parent, ErrConflict, ErrUnavailable.
func (s *Store) deleteOrphan(ctx context.Context, ref Ref) error {
	kind, found := parents[ref.Kind]
	parent := kind.Ref(ref.Org, ref.ID)
	if ref.Kind == KindHVACDevice {
		d, err := Get[HVACDevice](s, ref)
		if err != nil && !NoRecord(err) {
			return err
		}
		parent, found = KindHome.Ref(ref.Org, d.HomeID), d.HomeID != ""
	}
	if !found {
		return nil
	}
	current, err := s.current(parent)
	if err != nil || !current.Deleted {
		return err
	}
	err = s.Rewrite(ctx, func(v View) (r Revised, err error) {
		current, err := find(v, parent)
		if err != nil || current.live() {
			return r, err
		}
		if ref.Kind == KindHVACDevice { // another writer may have moved it
			d, _, err := Read[HVACDevice](v, ref)
			if err != nil && !NoRecord(err) || err == nil && d.HomeID != parent.ID {
				return r, err
			}
		}
		refs, err := dependents(v, ref)
		return Revised{Gone: append(refs, ref), Whole: true}, err
	})
	if err != nil {
		return err
	}
	return &NotFoundError{parent}
}
