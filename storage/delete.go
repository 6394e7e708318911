package storage

import "context"

// DeleteHome deletes a home with every record under its identifier. A new home with the
// same identifier inherits nothing. Errors: ErrNotFound, ErrConflict, ErrUnavailable.
func (s *Store) DeleteHome(ctx context.Context, org, id string) error {
	return s.deleteWith(ctx, HomeRef(org, id), false,
		SolarRef(org, id), UsageRef(org, id), MeasuredLoadRef(org, id), HomeMarketRef(org, id), OnboardingRef(org, id))
}

// DeleteRatePlan deletes a plan with its events. A new plan with the same identifier does
// not inherit them. It refuses to delete a part of another plan, unless a shared plan takes
// its place. Errors: ErrNotFound, *PlanInUseError, ErrConflict, ErrUnavailable.
func (s *Store) DeleteRatePlan(ctx context.Context, org, id string) error {
	ref := RatePlanRef(org, id)
	err := s.View(func(v View) error {
		by, err := composedOf(v, ref)
		if by == nil || err != nil {
			return err
		}
		if shared, err := find(v, RatePlanRef(Shared, id)); org != Shared && shared.live() || err != nil {
			return err
		}
		return &PlanInUseError{ref, *by}
	})
	if err != nil {
		return err
	}
	return s.deleteWith(ctx, ref, true, PlanEventsRef(org, id))
}

// DeleteSource deletes a source with its state. What it has fetched stays. Errors:
// ErrNotFound, ErrConflict, ErrUnavailable.
func (s *Store) DeleteSource(ctx context.Context, org, id string) error {
	return s.deleteWith(ctx, SourceRef(org, id), false, SourceStateRef(org, id))
}

// deleteWith deletes an entity with its dependent records. If a shared entity takes the
// place of the deleted entity, Whole is false: the tombstone is then the newest change of
// what remains.
func (s *Store) deleteWith(ctx context.Context, ref Ref, replaceable bool, with ...Ref) error {
	return s.Rewrite(ctx, func(v View) (r Revised, err error) {
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
		r.Gone = append(with, ref)
		return r, nil
	})
}
