package importer

import (
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
)

// sharedHead has the common field of lines without an organization. The operator owns
// their resources.
type sharedHead struct {
	Resource string `json:"resource" doc:"What the line is."`
}

type utilityLine struct {
	_ struct{} `required:"resource,eiaId,name"`

	sharedHead
	storage.Utility
}

func (l *utilityLine) prepare(*importer, storage.View, *pending, *rest.FieldErrors) (storage.Entity, error) {
	return &l.Utility, nil
}

type demandResponseLine struct {
	_ struct{} `required:"resource,eiaId"`

	sharedHead
	storage.DemandResponse
}

func (l *demandResponseLine) prepare(*importer, storage.View, *pending, *rest.FieldErrors) (storage.Entity, error) {
	return &l.DemandResponse, nil
}

type areaLine struct {
	_ struct{} `required:"resource,area"`

	sharedHead
	storage.Area
}

func (l *areaLine) prepare(*importer, storage.View, *pending, *rest.FieldErrors) (storage.Entity, error) {
	return &l.Area, nil
}
