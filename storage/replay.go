package storage

import "time"

// ReplayStatus is the progress of a replay.
type ReplayStatus string

// The statuses of replays.
const (
	ReplayAccepted  ReplayStatus = "ACCEPTED"
	ReplayRunning   ReplayStatus = "RUNNING"
	ReplayCompleted ReplayStatus = "COMPLETED"
)

// ReplayStatuses returns all statuses.
func ReplayStatuses() []ReplayStatus {
	return []ReplayStatus{ReplayAccepted, ReplayRunning, ReplayCompleted}
}

// ReplayProgress describes a replay and its progress.
type ReplayProgress struct {
	ID          string       `json:"id" example:"rpl_01JZ2E6K8M0000000000000000"`
	EndpointID  string       `json:"endpointId" example:"ep_01JZ2E6K8M0000000000000000"`
	Since       Time         `json:"since" doc:"Deliveries whose last attempt was at this time or later are retried."`
	Outcomes    []string     `json:"outcomes" doc:"The outcomes of the deliveries to retry." example:"[\"FAILED\",\"EXPIRED\"]"`
	Status      ReplayStatus `json:"status" doc:"COMPLETED when every delivery was processed. Each delivery then has the outcome of its retry." example:"RUNNING"`
	Found       int          `json:"found" doc:"The number of matching deliveries so far." example:"1200"`
	Retried     int          `json:"retried" doc:"The number of retried deliveries." example:"1100"`
	Superseded  int          `json:"superseded" doc:"The number of deliveries that a newer trigger superseded." example:"100"`
	Lost        int          `json:"lost" doc:"The number of deliveries whose inputs are past their retention." example:"0"`
	CompletedAt Time         `json:"completedAt" nullable:"true" example:"null"`
}

// Replay retries failed deliveries to an endpoint whose retries have ended.
type Replay struct {
	ReplayProgress
	// Cursor is the position from which the replay continues.
	Cursor string `json:"cursor,omitempty"`
	Base
}

// ReplayRetention is the retention of a completed replay.
const ReplayRetention = 7 * 24 * time.Hour

// Ref names the replay.
func (r *Replay) Ref() Ref { return KindReplay.Ref(r.OrganizationID, r.ID) }
