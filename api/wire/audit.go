package wire

import "github.com/gridhook/gridhook/storage"

// ListAuditInput filters the audit log. An empty field matches every entry.
type ListAuditInput struct {
	// OrganizationID may be a deleted organization.
	OrganizationID string        `json:"organizationId,omitempty" pattern:"id" doc:"An organization, which may be deleted. _ selects what all organizations share."`
	KeyID          string        `json:"keyId,omitempty" pattern:"id" doc:"An API key or an operator key. operator is the configured operator key."`
	Operation      string        `json:"operation,omitempty" pattern:"id" doc:"The operationId of an operation, such as createEndpoint."`
	Since          *storage.Time `json:"since,omitempty" doc:"since and until bound the time of the change: from the first, and before the second."`
	Until          *storage.Time `json:"until,omitempty"`
	PageInput
}
