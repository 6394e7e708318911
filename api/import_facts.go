package api

import "github.com/gridhook/gridhook/storage"

// sharedHead is what a line has of which the resource is the operator's own.
type sharedHead struct {
	Resource string `json:"resource"`
}

type utilityLine struct {
	sharedHead
	storage.Utility
}

func (l *utilityLine) prepare(*importer, storage.View, *pending, *problems) (storage.Entity, error) {
	return &l.Utility, nil
}

type demandResponseLine struct {
	sharedHead
	storage.DemandResponse
}

func (l *demandResponseLine) prepare(*importer, storage.View, *pending, *problems) (storage.Entity, error) {
	return &l.DemandResponse, nil
}

type areaLine struct {
	sharedHead
	storage.Area
}

func (l *areaLine) prepare(*importer, storage.View, *pending, *problems) (storage.Entity, error) {
	return &l.Area, nil
}
