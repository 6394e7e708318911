package storage

import "errors"

// Organization is a tenant: it owns homes, devices, keys and endpoints, and sees
// nobody else's.
type Organization struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// ChildOrganizationIDs are the organizations that the keys of a channel
	// partner may act for.
	ChildOrganizationIDs []string `json:"childOrganizationIds,omitempty"`
	Base
}

// OrganizationRef names an organization. Every organization belongs to the
// operator.
func OrganizationRef(id string) Ref { return Ref{KindOrganization, Shared, id} }

// Ref names the organization.
func (o *Organization) Ref() Ref { return OrganizationRef(o.ID) }

// Validate names every wrong field.
func (o *Organization) Validate() error {
	var p Problems
	checkID(&p, "id", o.ID)
	p.Check(o.ID != Shared, "id", "%q is reserved", Shared)
	checkText(&p, "name", o.Name, 1, 255)
	for i, child := range o.ChildOrganizationIDs {
		checkID(&p, index("childOrganizationIds", i), child)
		p.Check(child != o.ID, index("childOrganizationIds", i), "an organization is not its own child")
		p.Check(child != Shared, index("childOrganizationIds", i), "%q is reserved", Shared)
	}
	return p.Err()
}

// EachOrganization hands every organization to do, until it fails.
func EachOrganization(v View, do func(org string) error) error {
	var failed error
	err := v.Scan(KindOrganization, Shared, "", func(r Record) bool {
		if !r.Deleted {
			failed = do(r.ID)
		}
		return failed == nil
	})
	return errors.Join(err, failed)
}
