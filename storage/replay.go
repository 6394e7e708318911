package storage

import "time"

// ReplayStatus is how far a replay has come.
type ReplayStatus string

// The statuses of replays.
const (
	ReplayAccepted  ReplayStatus = "ACCEPTED"
	ReplayRunning   ReplayStatus = "RUNNING"
	ReplayCompleted ReplayStatus = "COMPLETED"
)

// ReplayStatuses are all statuses.
func ReplayStatuses() []ReplayStatus {
	return []ReplayStatus{ReplayAccepted, ReplayRunning, ReplayCompleted}
}

// Replay takes up the deliveries to an endpoint again that were given up.
type Replay struct {
	ID         string `json:"id"`
	EndpointID string `json:"endpointId"`
	// Since is from when on, by the time of the last attempt.
	Since Time `json:"since"`
	// Outcomes are those that are taken up.
	Outcomes []string     `json:"outcomes"`
	Status   ReplayStatus `json:"status"`
	// Found counts the deliveries that were come to so far. Of them Retried were
	// taken up; Superseded were not as a newer trigger has taken their place, and
	// Lost as what they were made of is not kept.
	Found      int `json:"found"`
	Retried    int `json:"retried"`
	Superseded int `json:"superseded"`
	Lost       int `json:"lost"`
	// Cursor is where it goes on.
	Cursor      string `json:"cursor,omitempty"`
	CompletedAt Time   `json:"completedAt"`
	Base
}

// ReplaysKept is how long a replay is remembered once it is completed.
const ReplaysKept = 7 * 24 * time.Hour

// ReplayRef names a replay.
func ReplayRef(org, id string) Ref { return Ref{KindReplay, org, id} }

// Ref names the replay.
func (r *Replay) Ref() Ref { return ReplayRef(r.OrganizationID, r.ID) }

// Validate names every wrong field.
func (r *Replay) Validate() error {
	var p Problems
	checkID(&p, "id", r.ID)
	checkID(&p, "endpointId", r.EndpointID)
	p.Check(!r.Since.IsZero(), "since", "is required")
	p.Check(len(r.Outcomes) > 0, "outcomes", "must name at least one outcome")
	checkEnum(&p, "status", r.Status, ReplayStatuses()...)
	return p.Err()
}
