package wire

import (
	"github.com/gridhook/gridhook/storage"
)

// AcceptedRetry confirms that a retry is stored durably.
type AcceptedRetry struct {
	ID        string       `json:"id" doc:"The identifier of the delivery." example:"msg_5d0c1f2a9b"`
	Status    string       `json:"status" doc:"ACCEPTED." example:"ACCEPTED"`
	CreatedAt storage.Time `json:"createdAt"`
}

// Replay is a replay in a response.
type Replay struct {
	storage.ReplayProgress
	CreatedAt storage.Time `json:"createdAt"`
}
