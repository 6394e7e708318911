package wire

import (
	"github.com/gridhook/gridhook/storage"
)

// AcceptedRetry confirms that a retry is stored durably.
type AcceptedRetry struct {
	ID        string       `json:"id" doc:"The delivery's." example:"msg_5d0c1f2a9b"`
	Status    string       `json:"status" doc:"ACCEPTED." example:"ACCEPTED"`
	CreatedAt storage.Time `json:"createdAt"`
}

// Replay is a replay in a response.
type Replay struct {
	ID          string               `json:"id" example:"rpl_01JZ2E6K8M0000000000000000"`
	EndpointID  string               `json:"endpointId" example:"ep_01JZ2E6K8M0000000000000000"`
	Since       storage.Time         `json:"since" doc:"From when on, by the time of the last attempt."`
	Outcomes    []string             `json:"outcomes" doc:"The outcomes that are taken up." example:"[\"FAILED\",\"EXPIRED\"]"`
	Status      storage.ReplayStatus `json:"status" doc:"COMPLETED when all were come to; what becomes of those that were taken up is on them." example:"RUNNING"`
	Found       int                  `json:"found" doc:"How many deliveries it has come to so far." example:"1200"`
	Retried     int                  `json:"retried" doc:"How many of them were taken up again." example:"1100"`
	Superseded  int                  `json:"superseded" doc:"How many were left as a newer trigger has taken their place." example:"100"`
	Lost        int                  `json:"lost" doc:"How many were left as what they were made of is not kept." example:"0"`
	CreatedAt   storage.Time         `json:"createdAt"`
	CompletedAt storage.Time         `json:"completedAt" nullable:"true" example:"null"`
}
