package events

import "fmt"

// Quota limits the triggers and records of one organization. A zero field is no limit.
type Quota struct {
	// Waiting is the maximum number of uncompleted price triggers. Bytes is the maximum
	// size of the stored triggers, receipts and waiting retries.
	Waiting int
	Bytes   int64
	// Stored is the maximum size of the organization's records in bytes. The store
	// enforces it.
	Stored int64
}

// The operator's names of the limits.
const (
	settingWaiting = "max-waiting"
	settingHistory = "max-history"
)

// Usage is the current usage of one organization's triggers.
type Usage struct {
	// Waiting counts the uncompleted price triggers. Notifying counts the uncompleted
	// OpenADR notifications. They are separate, because a callback that is down keeps
	// notifications uncompleted for a day.
	Waiting   int `json:"waiting"`
	Notifying int `json:"notifying,omitempty"`
	// Bytes is the size of the history. Retrying is the part of the waiting retries.
	Bytes    int64 `json:"bytes"`
	Retrying int64 `json:"retrying,omitempty"`
	// Deliveries counts the deliveries in the ledger.
	Deliveries int `json:"deliveries,omitempty"`
}

// QuotaError says that an organization has reached a limit.
type QuotaError struct {
	Org string
	// Setting is the operator's name of the limit.
	Setting   string
	Used, Max int64
}

// Error returns the limit, its use and its maximum.
func (e *QuotaError) Error() string {
	return fmt.Sprintf("the organization %q has reached the limit %s: %d of %d", e.Org, e.Setting, e.Used, e.Max)
}

// Check returns an error if the organization's usage has reached a limit. Errors:
// *QuotaError.
func (q Quota) Check(org string, u Usage) error {
	switch {
	case q.Waiting > 0 && u.Waiting >= q.Waiting:
		return &QuotaError{org, settingWaiting, int64(u.Waiting), int64(q.Waiting)}
	case q.Bytes > 0 && u.Bytes >= q.Bytes:
		return &QuotaError{org, settingHistory, u.Bytes, q.Bytes}
	}
	return nil
}
