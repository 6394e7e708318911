package signals

import (
	"errors"

	"github.com/gridhook/gridhook/pricing/solar"
	"github.com/gridhook/gridhook/storage"
)

// measuredLoad is a home's measured load in the form of package pricing, nil if no month is
// measured.
type measuredLoad struct {
	revision uint64
	*solar.Metered
}

// addMeasured adds the home's measured load, if it has a month without many gaps.
func (r *Reader) addMeasured(s *homeInputs, home *Home) error {
	if known, err := r.anyMeasured(); !known {
		return err
	}
	record, err := r.view.Get(storage.KindMeasuredLoad.Ref(r.org, home.ID))
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	s.revision = max(s.revision, record.Revision)
	if record.Deleted {
		return nil
	}
	measured, err := r.pricer.loads.get(record.Revision, func() (*measuredLoad, error) {
		stored, err := storage.Decode[storage.MeasuredLoad](record)
		if err != nil {
			return nil, err
		}
		return &measuredLoad{record.Revision, stored.Typical()}, nil
	})
	if err == nil && measured.Metered != nil {
		s.measured, s.key.chance.measured = measured, measured.revision
	}
	return err
}

// findMeasured reports whether the organization has or had a measured load. Homes of other
// organizations need no lookup.
func (r *Reader) findMeasured() (found bool, err error) {
	err = r.view.Scan(storage.KindMeasuredLoad, r.org, "", func(storage.Record) bool { found = true; return false })
	return found, err
}
