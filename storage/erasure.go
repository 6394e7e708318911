package storage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Erasure is the state of an organization's deletion.
type Erasure struct {
	// Records counts the records that this call overwrote in the log, by kind.
	Records map[Kind]int
	// Complete reports whether the log has no record of the organization any more. If not,
	// the same call continues.
	Complete bool
	// By is when the last trigger, receipt or dead letter of the organization has passed its
	// retention, zero until Complete. Until then its identifier cannot be used again.
	By time.Time
}

// ErasedError says that an organization is deleted. Its identifier is free again at Until,
// zero for an unfinished deletion.
type ErasedError struct {
	Org   string
	Until time.Time
}

// Error says until when the identifier is refused.
func (e *ErasedError) Error() string {
	if e.Until.IsZero() {
		return fmt.Sprintf("the organization %q is being deleted", e.Org)
	}
	return fmt.Sprintf("the organization %q was deleted, its identifier is free again at %s", e.Org, e.Until.UTC().Format(time.RFC3339))
}

// ErrNotErasable says that a stream does not overwrite records.
var ErrNotErasable = errors.New("the stream refuses to overwrite records, because an earlier version created it")

// erasureIDSize is the length of a mark's identifier in bytes.
const erasureIDSize = 20

// ErasureRef names the mark of a deleted organization. It is a tombstone whose identifier
// is a hash, so that the log does not store the organization's identifier. From the mark
// on, a replica has no record of the organization. The mark expires at Erasure.By.
func ErasureRef(org string) Ref {
	return KindErasure.Ref(Shared, Hash("gridhook organization "+org, erasureIDSize))
}

// Hides reports whether the mark of an erasure hides its organization's records of a time.
// Records of a later organization with the same identifier are newer than the mark's expiry.
func (r Record) Hides(at time.Time) bool {
	return r.Revision > 0 && (r.Expires.IsZero() || at.Before(r.Expires))
}

// IsErased reports whether an organization is deleted and its mark has not expired.
// Replicas keep an expired mark for some time.
func IsErased(v View, org string, now time.Time) (bool, error) {
	mark, err := find(v, ErasureRef(org))
	return mark.Hides(now), err
}

// UnfinishedErasures returns the number of deleted organizations with records in the log.
// Each needs another call of EraseOrganization.
func UnfinishedErasures(v View) (n int, err error) {
	err = v.Scan(KindErasure, Shared, "", func(mark Record) bool {
		if mark.Expires.IsZero() {
			n++
		}
		return true
	})
	return n, err
}

// eraseTimeout is how long one call overwrites records. The log rewrites a part of a file
// for each record, so a large organization takes several calls.
const eraseTimeout = 10 * time.Second

// EraseOrganization deletes an organization with everything that it owns. When it returns,
// reads include the deletion, even if Erasure is not complete. It may be repeated after any
// error, also once the deletion is complete. Errors: ErrNotFound, ErrNotErasable,
// ErrUnavailable.
func (s *Store) EraseOrganization(ctx context.Context, org string) (e Erasure, err error) {
	if _, err := s.markErased(ctx, org, false); err != nil {
		return e, err
	}
	if err := s.forgetChild(ctx, org); err != nil {
		return e, err
	}
	limited, cancel := context.WithTimeout(ctx, eraseTimeout)
	defer cancel()
	e.Records, err = s.log.Erase(limited, org)
	if limited.Err() != nil && ctx.Err() == nil {
		return e, nil
	}
	if err != nil {
		return e, err
	}
	mark, err := s.markErased(ctx, org, true)
	e.Complete, e.By = err == nil, mark.Expires
	return e, err
}

// markErased stores the mark of a deleted organization. A complete mark expires. An
// incomplete mark stays until the deletion is complete: without it, a replica would show
// the records that are left.
func (s *Store) markErased(ctx context.Context, org string, complete bool) (mark Record, err error) {
	ref := ErasureRef(org)
	err = s.retry(ctx, func() error {
		if mark, err = s.current(ref); err != nil {
			return err
		}
		if !mark.Hides(s.Now()) {
			if _, err := Get[Organization](s, OrganizationRef(org)); err != nil {
				return err
			}
		} else if !complete || !mark.Expires.IsZero() {
			return nil
		}
		mark.Ref = ref // there may be none
		w := s.tombstone(mark, true)
		w.Forget = complete
		if err := s.append(ctx, w); err != nil {
			return err
		}
		mark, err = s.current(ref)
		return err
	})
	return mark, err
}

// forgetChild removes a deleted organization from the organizations that may act for it.
func (s *Store) forgetChild(ctx context.Context, org string) error {
	parents, err := Query(s, func(v View) ([]Record, error) {
		return Matching(v, KindOrganization, func(r Record) bool {
			o, err := Decode[Organization](r) // an undecodable one must not keep the others from being deleted
			return err == nil && slices.Contains(o.ChildOrganizationIDs, org)
		})
	})
	if err != nil {
		return err
	}
	for i := range parents {
		_, err := Update(ctx, s, parents[i].Ref, func(o *Organization) error {
			o.ChildOrganizationIDs = slices.DeleteFunc(o.ChildOrganizationIDs, func(child string) bool { return child == org })
			return nil
		})
		if IgnoreNotFound(err) != nil { // a parent may have been deleted meanwhile
			return err
		}
	}
	return nil
}

// refuseErased returns an *ErasedError if a new entity would belong to a deleted
// organization.
func (s *Store) refuseErased(v View, ref Ref) error {
	org := ref.Organization()
	mark, err := find(v, ErasureRef(org))
	if err == nil && mark.Hides(s.Now()) {
		err = &ErasedError{org, mark.Expires}
	}
	return err
}

// eraseLate erases the organization of a written entity again if the organization is deleted.
// refuseErased misses a deletion by another process that this replica did not have yet, or
// that came between the check and the write. The entity would stay in the log, and a new
// replica would show it once the mark has expired. The caller has waited until reads include
// the entity. If they have any record of it, a later organization has the identifier, and its
// mark seems to hide it only because this process's clock is behind. Errors: *ErasedError,
// ErrUnavailable.
func (s *Store) eraseLate(ctx context.Context, ref Ref) error {
	err := s.View(func(v View) error {
		if rec, err := find(v, ref); err != nil || rec.Revision > 0 {
			return err
		}
		return s.refuseErased(v, ref)
	})
	if _, erased := errors.AsType[*ErasedError](err); erased {
		limited, cancel := context.WithTimeout(ctx, eraseTimeout)
		defer cancel()
		// The mark of a deletion that cannot be completed does not expire.
		if _, failed := s.log.Erase(limited, ref.Organization()); failed != nil && !errors.Is(failed, ErrNotErasable) {
			return failed
		}
	}
	return err
}
