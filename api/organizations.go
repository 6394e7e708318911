package api

import (
	"context"
	"errors"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

type createOrganizationInput struct{ wire.CreateOrganizationInput }

func (in *createOrganizationInput) check(_ *server, c *rest.Call, p *rest.FieldErrors) {
	if in.ID == "" {
		in.ID = storage.NewID("org_", c.Now)
	}
	_ = p.AddError(in.organization().Validate()) // Validate returns field errors only
}

func (in *createOrganizationInput) organization() *storage.Organization {
	return &storage.Organization{
		ID: in.ID, Name: in.Name, ChildOrganizationIDs: in.ChildOrganizationIDs,
		Base: storage.Base{OrganizationID: storage.Shared},
	}
}

func (s *server) createOrganization(ctx context.Context, _ *rest.Call, in *createOrganizationInput) (storage.Organization, error) {
	o := in.organization()
	err := s.Store.Create(ctx, o)
	return *o, err
}

type updateOrganizationInput struct{ wire.UpdateOrganizationInput }

// check validates the organization as it would be after the update. The operation itself
// reports a missing organization.
func (in *updateOrganizationInput) check(s *server, c *rest.Call, p *rest.FieldErrors) {
	ref := storage.OrganizationRef(c.ID)
	if !ref.Valid() {
		return
	}
	if o, err := storage.Get[storage.Organization](s.Store, ref); err == nil {
		in.apply(&o)
		_ = p.AddError(o.Validate()) // Validate returns field errors only
	}
}

func (in *updateOrganizationInput) apply(o *storage.Organization) {
	if in.Name != nil {
		o.Name = *in.Name
	}
	if in.ChildOrganizationIDs != nil {
		o.ChildOrganizationIDs = *in.ChildOrganizationIDs
	}
	if in.Suspended != nil {
		o.Suspended = *in.Suspended
	}
}

func (s *server) updateOrganization(ctx context.Context, c *rest.Call, in *updateOrganizationInput) (storage.Organization, error) {
	return storage.Update(ctx, s.Store, storage.OrganizationRef(c.ID), func(o *storage.Organization) error {
		in.apply(o)
		return nil
	})
}

func (s *server) listOrganizations(_ context.Context, _ *rest.Call, in *wire.PageInput) (wire.Page[storage.Organization], error) {
	list, err := storage.List[storage.Organization](s.Store, storage.KindOrganization, storage.Shared, in.After, in.Limit+1)
	return rest.NewPage(list, in.Limit, func(o *storage.Organization) string { return o.ID }), err
}

func (s *server) getOrganization(_ context.Context, c *rest.Call, _ *struct{}) (storage.Organization, error) {
	return storage.Get[storage.Organization](s.Store, storage.OrganizationRef(c.ID))
}

// checkOrganization adds a field error if the organization does not exist. The operation
// itself reports errors of the store.
func (s *server) checkOrganization(p *rest.FieldErrors, org string) {
	if !storage.ValidID(org) {
		p.Addf("organizationId", rest.BadID)
		return
	}
	_, err := storage.Get[storage.Organization](s.Store, storage.OrganizationRef(org))
	p.Check(!errors.Is(err, storage.ErrNotFound), "organizationId", "there is no organization %q", org)
}
