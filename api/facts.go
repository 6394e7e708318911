package api

import (
	"github.com/gridhook/gridhook/pricing/eligibility"
	"github.com/gridhook/gridhook/storage"
)

// overrides returns the operator's imported facts about places and utilities.
func overrides(v storage.View) (o eligibility.Overrides, err error) {
	utilities, err := shared[storage.Utility](v, storage.KindUtility)
	if err != nil {
		return o, err
	}
	for i := range utilities {
		o.Utilities = append(o.Utilities, utilities[i].Facts())
	}
	programs, err := shared[storage.DemandResponse](v, storage.KindDemandResponse)
	if err != nil {
		return o, err
	}
	for i := range programs {
		o.Programs = append(o.Programs, programs[i].Facts())
	}
	areas, err := shared[storage.Area](v, storage.KindArea)
	for i := range areas {
		if support, said := areas[i].Support(); said {
			o.Areas = append(o.Areas, support)
		}
		if territory, said := areas[i].Territory(); said {
			o.Territories = append(o.Territories, territory)
		}
	}
	return o, err
}

// shared returns the operator's entities of a kind, without those that do not decode.
func shared[T any, P entity[T]](v storage.View, kind storage.Kind) (list []T, err error) {
	for r, err := range storage.Live(v, kind, storage.Shared, "") {
		if err != nil {
			return nil, err
		}
		if e, err := storage.Decode[T, P](r); err == nil {
			list = append(list, e)
		}
	}
	return list, nil
}
