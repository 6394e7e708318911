package importer

import (
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/storage"
)

// sourceLine is a source of an organization, or a shared source if the line has no
// organization.
type sourceLine struct {
	_ struct{} `required:"resource,id,adapter"`

	lineHead
	ID string `json:"id" pattern:"id"`
	storage.SourceSettings
}

func (l *sourceLine) prepare(c *check) storage.Entity {
	source := storage.Source{ID: l.ID, Base: storage.Base{OrganizationID: c.sharedOwner(&l.lineHead)}}
	var before storage.Source
	if source.Ref().Valid() {
		var err error
		before, _, err = storage.Read[storage.Source](c.v, source.Ref())
		c.failed(rest.Ignore(err, storage.ErrNotFound))
	}
	c.failed(c.ConfigureSource(&l.SourceSettings, &source, &before, &c.p))
	return &source
}
