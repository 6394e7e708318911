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

// Replay retries failed deliveries to an endpoint whose retries have ended.
type Replay struct {
	ID         string `json:"id"`
	EndpointID string `json:"endpointId"`
	// Since selects deliveries by the time of their last attempt.
	Since Time `json:"since"`
	// Outcomes lists the delivery outcomes to retry.
	Outcomes []string     `json:"outcomes"`
	Status   ReplayStatus `json:"status"`
	// Found counts the matching deliveries so far. Retried counts the retried deliveries.
	// Superseded counts the deliveries skipped because of a newer trigger. Lost counts
	// the deliveries whose source data is past its retention.
	Found      int `json:"found"`
	Retried    int `json:"retried"`
	Superseded int `json:"superseded"`
	Lost       int `json:"lost"`
	// Cursor is the position from which the replay continues.
	Cursor      string `json:"cursor,omitempty"`
	CompletedAt Time   `json:"completedAt"`
	Base
}

// ReplaysKept is the retention of a completed replay.
const ReplaysKept = 7 * 24 * time.Hour

// ReplayRef names a replay.
func ReplayRef(org, id string) Ref { return Ref{KindReplay, org, id} }

// Ref names the replay.
func (r *Replay) Ref() Ref { return ReplayRef(r.OrganizationID, r.ID) }

// Validate names every wrong field.
func (r *Replay) Validate() error {
	var p Problems
	checkID(&p, "id", r.ID)
	p.Check(!r.Since.IsZero(), "since", "is required")
	p.Check(len(r.Outcomes) > 0, "outcomes", "must name at least one outcome")
	checkEnum(&p, "status", r.Status, ReplayStatuses()...)
	return p.Err()
}
