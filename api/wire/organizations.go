package wire

import (
	"github.com/gridhook/gridhook/storage"
)

// OrganizationUsage is what an organization takes up.
type OrganizationUsage struct {
	OrganizationID  string `json:"organizationId" example:"acme"`
	Homes           int    `json:"homes" example:"1200"`
	Devices         int    `json:"devices" example:"300"`
	Endpoints       int    `json:"endpoints" doc:"Webhook endpoints, disabled ones included." example:"2"`
	Schedules       int    `json:"schedules" example:"1"`
	Keys            int    `json:"keys" doc:"API keys, revoked ones included." example:"3"`
	StoredBytes     int64  `json:"storedBytes" doc:"The size of the stored records, without triggers and deliveries." example:"900000"`
	WaitingTriggers int    `json:"waitingTriggers" doc:"Price triggers that are not completed." example:"1"`
	HistoryBytes    int64  `json:"historyBytes" doc:"The size of the stored triggers, receipts, notices and waiting retries." example:"52000000"`
	Deliveries      int    `json:"deliveries" doc:"Deliveries in the delivery log." example:"806400"`
}

// ErasedOrganization is the receipt of a deleted organization.
type ErasedOrganization struct {
	ID       string `json:"id" example:"acme"`
	Deleted  bool   `json:"deleted" example:"true"`
	Complete bool   `json:"complete" doc:"Whether every record is erased. If not, send the request again." example:"true"`
	// Records counts by kind.
	Records  map[storage.Kind]int `json:"records" doc:"The number of records that this request erased, by kind." example:"{\"home\": 1200, \"key\": 3}"`
	ErasedBy storage.Time         `json:"erasedBy,omitzero" doc:"When the last trigger and receipt have passed their retention. Absent until complete. The identifier is free again afterwards."`
	// Feedback is in the receipt of the first request only.
	Feedback []string `json:"feedback,omitempty" doc:"The submissions of feedback whose text has the organization's identifier or name, or the host of an endpoint. They are not erased: see deleteFeedback." example:"[\"fb_01JZ2E6K8M0000000000000000\"]"`
}

// ExportInput requests a page of an export.
type ExportInput struct {
	Limit int    `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"100" doc:"The maximum number of records, by default 100. A record may have several lines."`
	After string `json:"after,omitempty" pattern:"export" doc:"The value of next of the previous page."`
}
