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
			Description: "Secrets are masked, as in every response. Keys, schedules, OpenADR objects and deliveries are not lines of an import " +
				"and are left out. Ask for the next page until next is null.",
			Body: rest.BodyOptional,
		}, (*server).exportOrganization),
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
