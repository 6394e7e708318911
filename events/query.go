package events

import "time"

// DeliveryQuery says which deliveries are wanted. Empty fields ask for all.
type DeliveryQuery struct {
	TriggerID, HomeID, EndpointID string
	Outcomes                      []Outcome
	// Since and Until bound when the latest attempt was made: from the first, and
	// before the second.
	Since, Until time.Time
	// After is the cursor of the page before.
	After string
	// Limit is the most deliveries wanted.
	Limit int
}
