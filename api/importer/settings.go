package importer

import (
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

type channelLine struct {
	_ struct{} `required:"resource,organizationId,id,kind,address"`

	lineHead
	ID string `json:"id" pattern:"id"`
	storage.ChannelSettings
}

func (l *channelLine) prepare(c *check) storage.Entity {
	ch := storage.Channel{ID: l.ID, Base: storage.Base{OrganizationID: l.OrganizationID}}
	c.owner(&l.lineHead)
	before, found := replaced[storage.Channel](c, ch.Ref())
	c.keep(found, "enabled", &l.Enabled, before.Enabled)
	c.failed(c.ConfigureChannel(&l.ChannelSettings, &ch, &before, &c.p))
	return &ch
}

type scheduleLine struct {
	_ struct{} `required:"resource,organizationId,id"`

	lineHead
	ID string `json:"id" pattern:"id"`
	wire.ScheduleSettings
}

// prepare returns the schedule. A scheduler finds a new schedule and plans its first run.
func (l *scheduleLine) prepare(c *check) storage.Entity {
	s := storage.NewSchedule(l.OrganizationID)
	s.ID = l.ID
	c.owner(&l.lineHead)
	before, found := replaced[storage.Schedule](c, s.Ref())
	c.keep(found, "enabled", &l.Enabled, before.Enabled)
	c.ConfigureSchedule(&l.ScheduleSettings, &s, &c.p)
	return &s
}

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
	c.keep(found, "enabled", &l.Enabled, before.Enabled)
	c.failed(c.ConfigureSource(&l.SourceSettings, &source, &before, &c.p))
	return &source
}
