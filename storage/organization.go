package storage

// Organization is a tenant. It owns homes, devices, keys and endpoints, and cannot see
// other organizations' entities.
type Organization struct {
	ID                   string   `json:"id" pattern:"id" example:"partner"`
	Name                 string   `json:"name" minLength:"1" maxLength:"255" example:"Partner Inc."`
	ChildOrganizationIDs []string `json:"childOrganizationIds,omitempty" itemsPattern:"id" doc:"The organizations that the keys of a channel partner may act for." example:"[\"partner-east\"]"`
	// Suspended organizations keep their data, but Gridhook does nothing for them. It
	// refuses their keys, does not run their schedules and sends nothing to their
	// endpoints.
	Suspended bool `json:"suspended,omitempty" readOnly:"true" doc:"Whether the organization is suspended: its keys are refused, its schedules do not run and its endpoints receive nothing."`
	Base
}

// IsSuspended reports whether an organization is suspended.
func IsSuspended(v View, org string) (bool, error) {
	o, _, err := Read[Organization](v, OrganizationRef(org))
	return o.Suspended, IgnoreNotFound(err)
}

// IsActive reports whether an organization is not suspended, for tasks that read every
// organization. An organization whose record does not decode is not active, because the
// others must not suffer from it.
func IsActive(v View, org string) (bool, error) {
	suspended, err := IsSuspended(v, org)
	if NoRecord(err) {
		return false, nil
	}
	return err == nil && !suspended, err
}

// OrganizationRef names an organization. Every organization belongs to the operator.
func OrganizationRef(id string) Ref { return KindOrganization.Ref(Shared, id) }

// Ref names the organization.
func (o *Organization) Ref() Ref { return OrganizationRef(o.ID) }

// Check adds every wrong field.
func (o *Organization) Check(p *Problems) {
	p.Check(o.ID != Shared, "id", "%q is reserved", Shared)
	for i, child := range o.ChildOrganizationIDs {
		p.Check(child != o.ID, index("childOrganizationIds", i), "must not be the organization itself")
		p.Check(child != Shared, index("childOrganizationIds", i), "%q is reserved", Shared)
	}
}

// EachOrganization calls do with each organization until do fails.
func EachOrganization(v View, do func(org string) error) error {
	for r, err := range Live(v, KindOrganization, Shared, "") {
		if err == nil {
			err = do(r.ID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
