package wire

import (
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Channel is a notification channel in a response. The URL in its address is masked.
type Channel struct {
	ID string `json:"id" example:"ch_01JZ2E6K8M0000000000000000"`
	storage.ChannelSettings
	Health    events.Health `json:"health" doc:"The recent messages. Tests do not count."`
	CreatedAt storage.Time  `json:"createdAt"`
	UpdatedAt storage.Time  `json:"updatedAt"`
}
