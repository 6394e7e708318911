package wire

import "github.com/gridhook/gridhook/storage"

// ErasedOrganization is the receipt of a deleted organization.
type ErasedOrganization struct {
	ID       string `json:"id" example:"acme"`
	Deleted  bool   `json:"deleted" example:"true"`
	Complete bool   `json:"complete" doc:"Whether every record is erased. If not, send the request again." example:"true"`
	// Records counts by kind.
	Records  map[storage.Kind]int `json:"records" doc:"The number of records that this request erased, by kind." example:"{\"home\": 1200, \"key\": 3}"`
	ErasedBy storage.Time         `json:"erasedBy,omitzero" doc:"When the last trigger and receipt have passed their retention. Absent until complete. The identifier is free again afterwards."`
}
