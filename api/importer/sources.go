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

// prepare keeps the stored enabled if the line does not name it, because an operator pauses
// a source.
func (l *sourceLine) prepare(c *check) storage.Entity {
	source := storage.Source{ID: l.ID, Base: storage.Base{OrganizationID: c.sharedOwner(&l.lineHead)}}
	before, found := replaced[storage.Source](c, source.Ref())
	if found {
		over := sourceLine{SourceSettings: storage.SourceSettings{Enabled: before.Enabled}}
		c.decodeOver(&over)
		l.Enabled = over.Enabled
	}
	c.failed(c.ConfigureSource(&l.SourceSettings, &source, &before, &c.p))
	return &source
}
