package api

import (
	"sync"

	"github.com/gridhook/gridhook/pricing/eligibility"
	"github.com/gridhook/gridhook/pricing/urdb"
	"github.com/gridhook/gridhook/storage"
)

// index caches a value derived from each record of a kind. It reads a record once per
// revision.
type index[T any] struct {
	kind storage.Kind
	read func(storage.Record) T

	mu    sync.Mutex
	known map[storage.Ref]indexed[T]
}

type indexed[T any] struct {
	revision uint64
	value    T
}

func newIndex[T any](kind storage.Kind, read func(storage.Record) T) *index[T] {
	return &index[T]{kind: kind, read: read, known: map[storage.Ref]indexed[T]{}}
}

// each calls use with the derived value of each of an owner's records.
func (x *index[T]) each(v storage.View, owner string, use func(T)) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return v.Scan(x.kind, owner, "", func(r storage.Record) bool {
		if r.Deleted {
			delete(x.known, r.Ref)
			return true
		}
		made, ok := x.known[r.Ref]
		if !ok || made.revision != r.Revision {
			made = indexed[T]{revision: r.Revision, value: x.read(r)}
			x.known[r.Ref] = made
		}
		use(made.value)
		return true
	})
}

// facts are the operator's imported facts about places and utilities.
type facts struct {
	utilities *index[storage.Utility]
	programs  *index[storage.DemandResponse]
	areas     *index[storage.Area]
}

// newFacts returns indexes of the imported facts. An undecodable record becomes a zero
// value, which overrides nothing.
func newFacts() facts {
	return facts{
		utilities: newIndex(storage.KindUtility, decodeOrZero[storage.Utility]),
		programs:  newIndex(storage.KindDemandResponse, decodeOrZero[storage.DemandResponse]),
		areas:     newIndex(storage.KindArea, decodeOrZero[storage.Area]),
	}
}

func decodeOrZero[T any, P entity[T]](r storage.Record) T {
	e, _ := storage.Decode[T, P](r)
	return e
}

// add appends the facts to overrides and leaves the existing elements unchanged.
func (f *facts) add(v storage.View, o *eligibility.Overrides) error {
	o.Utilities, o.Programs = o.Utilities[:len(o.Utilities):len(o.Utilities)], o.Programs[:len(o.Programs):len(o.Programs)]
	o.Areas, o.Territories = o.Areas[:len(o.Areas):len(o.Areas)], o.Territories[:len(o.Territories):len(o.Territories)]
	err := f.utilities.each(v, storage.Shared, func(u storage.Utility) {
		if u.EIAID != 0 {
			o.Utilities = append(o.Utilities, u.Facts())
		}
	})
	if err != nil {
		return err
	}
	err = f.programs.each(v, storage.Shared, func(d storage.DemandResponse) {
		if d.EIAID != 0 {
			o.Programs = append(o.Programs, d.Facts())
		}
	})
	if err != nil {
		return err
	}
	return f.areas.each(v, storage.Shared, func(a storage.Area) {
		if support, said := a.Support(); said {
			o.Areas = append(o.Areas, support)
		}
		if territory, said := a.Territory(); said {
			o.Territories = append(o.Territories, territory)
		}
	})
}

// eiaIDOf returns the EIA number of a stored plan's utility. It returns 0 if the tariff
// has no number or the plan is unreadable. An unreadable plan is unavailable anyway.
func eiaIDOf(r storage.Record) int {
	plan, err := storage.Decode[storage.RatePlan](r)
	if err != nil {
		return 0
	}
	tariff, err := urdb.Parse(plan.Tariff)
	if err != nil {
		return 0
	}
	return tariff.Info().EIAID
}
