package wire

import (
	"github.com/gridhook/gridhook/pricing/feed"
	"github.com/gridhook/gridhook/storage"
)

// Source is a source in a response. Its secret is masked.
type Source struct {
	ID             string `json:"id" example:"src_01JZ2E6K8M0000000000000000"`
	OrganizationID string `json:"organizationId,omitempty" doc:"Absent if all organizations share what the source fetches." example:"acme"`
	storage.SourceSettings
	storage.SourceProgress
	Late      bool         `json:"late" doc:"Whether the source has had no good run for two of its intervals, or no new price for a day more." example:"false"`
	CreatedAt storage.Time `json:"createdAt"`
	UpdatedAt storage.Time `json:"updatedAt"`
}

// SourceWithRuns is a source with the log of its runs.
type SourceWithRuns struct {
	Source
	Runs []storage.SourceRun `json:"runs" doc:"The last 20 runs, the newest first."`
}

// SourceAdapter describes an adapter of sources.
type SourceAdapter struct {
	Name         string           `json:"name" example:"caiso"`
	Title        string           `json:"title" example:"CAISO OASIS"`
	Doc          string           `json:"doc" doc:"The operator's documentation of the format. It may be empty." example:"https://operator.example/api"`
	URL          string           `json:"url" doc:"The operator's address. If it is empty, every source names its own." example:"https://operator.example/api"`
	EverySeconds int              `json:"everySeconds" doc:"The default interval between two fetches." example:"3600"`
	Timezone     string           `json:"timezone" doc:"The default time zone of the prices' days." example:"America/Los_Angeles"`
	Secret       string           `json:"secret" doc:"What the secret of a source is. Empty if the adapter uses none." example:"subscription key"`
	Parameters   []feed.Parameter `json:"parameters"`
}
