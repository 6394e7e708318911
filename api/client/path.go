package client

import "net/url"

// nothing is the body of operations without input.
var nothing = struct{}{}

// segment escapes an identifier for a path.
func segment(id string) string { return url.PathEscape(id) }

// ofOrganization requests a page of an organization's resources.
type ofOrganization struct {
	OrganizationID string `json:"organizationId,omitempty"`
	Page
}
