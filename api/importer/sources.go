package importer

import "github.com/gridhook/gridhook/storage"

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
	before, found := replaced[storage.Source](c, source.Ref())
	if found && !c.names("enabled") {
		l.Enabled = before.Enabled
	}
	c.failed(c.ConfigureSource(&l.SourceSettings, &source, &before, &c.p))
	return &source
}
