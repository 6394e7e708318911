package storage

import "context"

// AuditEntry records that a caller changed something: who, what, when and from where. It
// contains no body and no secret.
type AuditEntry struct {
	ID   string `json:"id" doc:"Rises with time." example:"aud_000000000042"`
	Time Time   `json:"time"`
	// OrganizationID is empty for what every organization shares, and for an import into
	// several organizations.
	OrganizationID string `json:"organizationId" doc:"Empty for what all organizations share, and for an import into several organizations." example:"acme"`
	KeyID          string `json:"keyId" doc:"The API key or operator key of the caller. operator is the configured operator key." example:"operator"`
	KeyName        string `json:"keyName" doc:"The name of an operator key, otherwise empty." example:"ada"`
	Operation      string `json:"operation" doc:"The operationId of the operation." example:"updateEndpoint"`
	Kind           string `json:"kind" doc:"The resource in the operation's path." example:"endpoints"`
	ObjectID       string `json:"objectId" doc:"Empty if the operation concerns several objects." example:"ep_01JZ2E6K8M0000000000000000"`
	Status         int    `json:"status" doc:"The status of the response: 200 or 201, 409 if streams of an earlier version refuse to erase, or 5xx if the change may or may not have been stored." example:"200"`
	RequestID      string `json:"requestId" example:"req_01JZ2E6K8M0000000000000000"`
	Client         string `json:"client" doc:"The address of the client." example:"192.0.2.7"`
}

// BootstrapKeyID is the AuditEntry.KeyID of the configured operator key.
const BootstrapKeyID = "operator"

// AuditFilter selects audit entries. An empty field matches every entry.
type AuditFilter struct {
	OrganizationID string `json:"organizationId" pattern:"id" doc:"An organization, which may be deleted. _ selects what all organizations share."`
	KeyID          string `json:"keyId" pattern:"id" doc:"An API key or an operator key. operator is the configured operator key."`
	Operation      string `json:"operation" pattern:"id" doc:"The operationId of an operation, such as createEndpoint."`
	Since          Time   `json:"since" doc:"since and until bound the time of the change: from the first, and before the second."`
	Until          Time   `json:"until"`
}

// AuditLog stores audit entries in a stream of their own, not in the log of record.
type AuditLog interface {
	// PutAudit stores an entry and returns when it is durable. Errors: ErrUnavailable.
	PutAudit(ctx context.Context, e AuditEntry) error
	// Audit lists entries, newest first. before is the identifier of an entry, and the
	// list continues with older entries. Empty starts with the newest entry. Errors:
	// *InvalidError, ErrUnavailable.
	Audit(ctx context.Context, f AuditFilter, before string, limit int) ([]AuditEntry, error)
}
