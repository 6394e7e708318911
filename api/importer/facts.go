package importer

import (
	"github.com/gridhook/gridhook/storage"
)

// sharedHead has the common field of lines without an organization. The operator owns
// their resources.
type sharedHead struct {
	Resource string `json:"resource" doc:"The kind of resource of the line."`
}

type utilityLine struct {
	_ struct{} `required:"resource,eiaId,name"`

	sharedHead
	storage.Utility
}

func (l *utilityLine) prepare(*check) storage.Entity { return &l.Utility }

type demandResponseLine struct {
	_ struct{} `required:"resource,eiaId"`

	sharedHead
	storage.DemandResponse
}

func (l *demandResponseLine) prepare(*check) storage.Entity { return &l.DemandResponse }

type areaLine struct {
	_ struct{} `required:"resource,area"`

	sharedHead
	storage.Area
}

func (l *areaLine) prepare(*check) storage.Entity { return &l.Area }
