package api

import (
	"context"
	"errors"

	"github.com/gridhook/gridhook/storage"
)

type createOrganizationInput struct {
	// ID is by default made for you.
	ID   string `json:"id" null:"no"`
	Name string `json:"name"`
	// ChildOrganizationIDs are the organizations that a channel partner's keys
	// may act for.
	ChildOrganizationIDs []string `json:"childOrganizationIds"`
}

func (in *createOrganizationInput) check(_ *server, c *call, p *problems) {
	if in.ID == "" {
		in.ID = storage.NewID("org_", c.now)
	}
	_ = p.addError(in.organization().Validate()) // nothing but field errors
}

func (in *createOrganizationInput) organization() *storage.Organization {
	return &storage.Organization{
		ID: in.ID, Name: in.Name, ChildOrganizationIDs: in.ChildOrganizationIDs,
		Base: storage.Base{OrganizationID: storage.Shared},
	}
}

func (s *server) createOrganization(ctx context.Context, _ *call, in *createOrganizationInput) (storage.Organization, error) {
	o := in.organization()
	err := s.Store.Create(ctx, o)
	return *o, err
}

func (s *server) listOrganizations(_ context.Context, _ *call, in *pageInput) (Page[storage.Organization], error) {
	list, err := storage.List[storage.Organization](s.Store, storage.KindOrganization, storage.Shared, in.After, in.Limit+1)
	return newPage(list, in.Limit, func(o *storage.Organization) string { return o.ID }), err
}

func (s *server) getOrganization(_ context.Context, c *call, _ *struct{}) (storage.Organization, error) {
	return storage.Get[storage.Organization](s.Store, storage.OrganizationRef(c.id))
}

// ofOrganization is an input that names an organization.
type ofOrganization struct {
	OrganizationID string `json:"organizationId"`
}

func (in *ofOrganization) check(s *server, _ *call, p *problems) {
	s.checkOrganization(p, in.OrganizationID)
}

// checkOrganization wants an organization that exists: to name another is a
// mistake in the field. Faults of the store are left to the operation itself.
func (s *server) checkOrganization(p *problems, org string) {
	if !storage.ValidID(org) {
		p.Addf("organizationId", badID)
		return
	}
	_, err := storage.Get[storage.Organization](s.Store, storage.OrganizationRef(org))
	p.Check(!errors.Is(err, storage.ErrNotFound), "organizationId", "there is no organization %q", org)
}

// organizationPageInput asks for a page of what an organization has.
type organizationPageInput struct {
	ofOrganization
	pageInput
}

func (in *organizationPageInput) check(s *server, c *call, p *problems) {
	in.ofOrganization.check(s, c, p)
	in.pageInput.check(s, c, p)
}
