package client

import "net/url"

// nothing is the body of an operation that needs none.
var nothing = struct{}{}

// segment is an identifier as part of a path.
func segment(id string) string { return url.PathEscape(id) }

// ofOrganization asks for a page of what belongs to an organization.
type ofOrganization struct {
	OrganizationID string `json:"organizationId,omitempty"`
	Page
}
