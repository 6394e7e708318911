package api

import (
	"cmp"
	"context"
	"errors"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

func (s *server) createOrganization(ctx context.Context, c *rest.Call, in *wire.CreateOrganizationInput) (storage.Organization, error) {
	o := storage.Organization{ID: cmp.Or(in.ID, storage.NewID("org_", c.Now)), Name: in.Name, ChildOrganizationIDs: in.ChildOrganizationIDs}
	o.OrganizationID = storage.Shared
	err := s.create(ctx, c, &o)
	return o, err
}

func (s *server) updateOrganization(ctx context.Context, c *rest.Call, in *wire.UpdateOrganizationInput) (storage.Organization, error) {
	return update(ctx, s, c, storage.OrganizationRef(c.ID), func(o *storage.Organization, _ *rest.FieldErrors) error {
		o.Name, o.ChildOrganizationIDs = valueOr(in.Name, o.Name), valueOr(in.ChildOrganizationIDs, o.ChildOrganizationIDs)
		o.Suspended = valueOr(in.Suspended, o.Suspended)
		return nil
	})
}

// checkOrganization adds a field error if the organization does not exist. The operation
// itself reports errors of the store.
func (s *server) checkOrganization(p *rest.FieldErrors, org string) {
	if !storage.ValidID(org) {
		p.Addf("organizationId", storage.BadID)
		return
	}
	_, err := storage.Get[storage.Organization](s.Store, storage.OrganizationRef(org))
	p.Check(!errors.Is(err, storage.ErrNotFound), "organizationId", "there is no organization %q", org)
}
