package signals

import (
	"errors"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/solar"
	"github.com/gridhook/gridhook/storage"
)

// measuredLoad is a home's measured load in the form of package pricing.
type measuredLoad struct {
	revision uint64
	daily    pricing.MeteredUse
	load     *solar.Metered
}

// addMeasured adds the home's measured load, if it has a month without many gaps.
func (r *Reader) addMeasured(s *homeInputs, home *Home) error {
	if known, err := r.anyMeasured(home.OrganizationID); !known {
		return err
	}
	record, err := r.view.Get(storage.KindMeasuredLoad.Ref(home.OrganizationID, home.ID))
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
		made := &measuredLoad{revision: record.Revision}
		made.daily, made.load = stored.Typical()
		return made, nil
	})
	if err == nil && measured.load != nil {
		s.measured, s.key.chance.measured = measured, measured.revision
	}
	return err
}

// anyMeasured reports whether an organization has or had a measured load. It looks once
// per view, so that homes of other organizations need no lookup.
func (r *Reader) anyMeasured(org string) (known bool, err error) {
	if r.measuredOrg != org {
		r.measuredOrg, r.measured = org, false
		err = r.view.Scan(storage.KindMeasuredLoad, org, "", func(storage.Record) bool { r.measured = true; return false })
	}
	return r.measured, err
}
