package api

import (
	"context"
	"encoding/json"

	"github.com/gridhook/gridhook/api/importer"
	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// tenantRoutes are the operations on everything that one organization has.
var tenantRoutes = []operation{
	do(rest.Route{
		Path: "/v1/admin/organizations/{id}/export", Name: "exportOrganization", Role: storage.RoleAdmin, Errors: []string{},
		Summary: "Export an organization as lines of an import",
		Description: "Secrets are masked, as in every response. Keys have no secrets: an import of a key that is not stored gives it a new secret, and needs the role admin. " +
			"Revoked and expired keys, replays and deliveries are left out. Ask for the next page until next is null.",
	}, (*server).exportOrganization),
	do(rest.Route{
		Path: "/v1/admin/organizations/{id}/usage", Name: "getOrganizationUsage", Role: storage.RoleRead,
		Summary: "Get what an organization takes up",
	}, (*server).organizationUsage),
	do(rest.Route{
		Path: "/v1/admin/organizations/{id}/delete", Name: "deleteOrganization", Role: storage.RoleAdmin,
		Summary: "Delete an organization and erase its records",
		Description: "At once its keys are refused, and nothing of it can be read or sent. The response is a receipt. " +
			"A large organization takes several requests: repeat the request until complete is true. " +
			"Feedback belongs to the operator and stays: the first receipt lists submissions that may be about the organization.",
	}, (*server).deleteOrganization),
}

// deleteOrganization is safe to repeat. A repeat continues an interrupted deletion.
func (s *server) deleteOrganization(ctx context.Context, c *rest.Call, in *wire.DeleteOrganizationInput) (wire.ErasedOrganization, error) {
	c.Wrong.Check(in.Confirm == c.ID, "confirm", "must be the identifier of the organization to delete")
	if err := c.Wrong.Err(); err != nil {
		return wire.ErasedOrganization{}, err
	}
	feedback, err := s.feedbackAbout(ctx, c.ID)
	if err != nil {
		return wire.ErasedOrganization{}, err
	}
	e, err := s.Store.EraseOrganization(ctx, c.ID)
	return wire.ErasedOrganization{ID: c.ID, Deleted: err == nil, Complete: e.Complete, Records: e.Records, ErasedBy: storage.Time{Time: e.By}, Feedback: feedback}, err
}

func (s *server) exportOrganization(_ context.Context, c *rest.Call, in *wire.ExportInput) (page wire.Page[json.RawMessage], err error) {
	err = s.Store.View(func(v storage.View) error {
		lines, next, err := importer.Export(v, c.ID, in.After, in.Limit, c.Now)
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
			StoredBytes: v.Size(c.ID),
		}
		return nil
	})
	if err != nil {
		return u, err
	}
	triggers, err := s.Ledger.Usage(c.ID)
	u.WaitingTriggers, u.HistoryBytes, u.Deliveries = triggers.Waiting, triggers.Bytes, triggers.Deliveries
	return u, err
}
