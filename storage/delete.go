package storage

import (
	"context"
	"maps"
	"slices"
)

// Delete replaces an entity with a tombstone, and with it what belongs to the entity: a home's
// devices and records, a plan's events, a source's state, a series' prices. A new entity with
// the same identifier inherits nothing. The prices that a source fetched stay. Delete refuses
// a part of another plan, unless a shared plan takes its place. Errors: ErrNotFound,
// *PlanInUseError, ErrConflict, ErrUnavailable.
func (s *Store) Delete(ctx context.Context, ref Ref) error {
	if _, err := s.existing(ref); err != nil {
		return err
	}
	whole := false
	// They are more than one batch only for a home with hundreds of devices.
	for more := true; more; {
		err := s.Rewrite(ctx, func(v View) (r Revised, err error) {
			if r.Whole, err = checkDeletion(v, ref); err != nil {
				return r, err
			}
			r.Gone, err = dependents(v, ref)
			r.Gone = append(r.Gone, ref)
			if more = len(r.Gone) > MaxBatch; more {
				r.Gone = r.Gone[:MaxBatch]
			}
			whole = r.Whole
			return r, err
		})
		if err != nil {
			return err
		}
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

// checkDeletion returns whether no remaining entity has the deletion as its newest change. A
// plan that a shared plan replaces has such entities. Errors: *PlanInUseError.
func checkDeletion(v View, ref Ref) (whole bool, err error) {
	if ref.Kind != KindRatePlan {
		return !ref.Kind.outlived(), nil
	}
	shared, err := find(v, KindRatePlan.Ref(Shared, ref.ID))
	if err != nil || ref.Org != Shared && shared.live() {
		return false, err
	}
	by, err := composedOf(v, ref)
	if by != nil {
		return false, &PlanInUseError{ref, *by}
	}
	return !shared.live(), err
}

// parents has the kinds of what a home, a rate plan, a device or a source has one of, with
// the kind of the owner. Both records have the same identifier.
var parents = map[Kind]Kind{
	KindSolar: KindHome, KindUsage: KindHome, KindMeasuredLoad: KindHome, KindHomeMarket: KindHome, KindOnboarding: KindHome,
	KindPlanEvent: KindRatePlan, KindUserPreferences: KindHVACDevice, KindSourceState: KindSource,
}

// dependents returns the references of what an entity has one of, of a home's devices and of a
// series' months.
func dependents(v View, ref Ref) (refs []Ref, err error) {
	for _, kind := range slices.Sorted(maps.Keys(parents)) {
		if parents[kind] == ref.Kind {
			refs = append(refs, kind.Ref(ref.Org, ref.ID))
		}
	}
	switch ref.Kind {
	case KindHome:
		err = v.Devices(ref.Org, ref.ID, "", func(r Record) bool {
			// A batch may end in between: the next one finds the device again.
			refs = append(refs, KindUserPreferences.Ref(ref.Org, r.ID), r.Ref)
			return true
		})
	case KindMarketSeries:
		series := MarketSeries{ID: ref.ID, Base: Base{OrganizationID: ref.Org}}
		for month, err := range series.months(v) {
			if err != nil {
				return nil, err
			}
			refs = append(refs, month.Ref)
		}
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
