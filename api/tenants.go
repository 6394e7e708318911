package api

import (
	"context"
	"encoding/json"

	"github.com/gridhook/gridhook/api/importer"
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// tenantRoutes returns the operations on everything that one organization has.
func (s *server) tenantRoutes() []rest.Route {
	return []rest.Route{
		do(s, rest.Route{
			Path: "/v1/admin/organizations/{id}/export", Name: "exportOrganization", Role: storage.RoleAdmin,
			Summary: "Export an organization as lines of an import",
			Description: "Secrets are masked, as in every response. Keys, schedules, notification channels, OpenADR objects and deliveries are not lines of an import " +
				"and are left out. Ask for the next page until next is null.",
			Body: rest.BodyOptional,
		}, (*server).exportOrganization),
		do(s, rest.Route{
			Path: "/v1/admin/organizations/{id}/usage", Name: "getOrganizationUsage", Role: storage.RoleRead,
			Summary: "Get what an organization takes up",
		}, (*server).organizationUsage),
	}
}

func (s *server) exportOrganization(_ context.Context, c *rest.Call, in *wire.ExportInput) (page wire.Page[json.RawMessage], err error) {
	err = s.Store.View(func(v storage.View) error {
		lines, next, err := importer.Export(v, c.ID, in.After, in.Limit, settingsOf)
		if page.Data = lines; next != "" {
			page.Next = &next
		}
		return err
	})
	return page, err
}

func (s *server) organizationUsage(_ context.Context, c *rest.Call, _ *struct{}) (u wire.OrganizationUsage, err error) {
	err = s.Store.View(func(v storage.View) error {
		if _, _, err := storage.Read[storage.Organization](v, storage.OrganizationRef(c.ID)); err != nil {
			return err
		}
		u = wire.OrganizationUsage{
			OrganizationID: c.ID, Homes: v.Count(storage.KindHome, c.ID), Devices: v.Count(storage.KindHVACDevice, c.ID),
			Endpoints: v.Count(storage.KindWebhookEndpoint, c.ID), Schedules: v.Count(storage.KindSchedule, c.ID), Keys: v.Count(storage.KindKey, c.ID),
		}
		u.StoredBytes, err = storage.StoredBytes(v, c.ID)
		return err
	})
	if err != nil {
		return u, err
	}
	triggers, err := s.Ledger.Usage(c.ID)
	u.WaitingTriggers, u.HistoryBytes, u.Deliveries = triggers.Waiting, triggers.Bytes, triggers.Deliveries
	return u, err
}
