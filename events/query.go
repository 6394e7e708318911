package events

import "time"

// DeliveryQuery selects deliveries. An empty field selects all.
type DeliveryQuery struct {
	TriggerID, HomeID, EndpointID string
	// Events selects the deliveries of events instead of signals. TriggerID may then be an
	// event.
	Events   bool
	Outcomes []Outcome
	// Since and Until select the time of the latest attempt: at or after Since, and
	// before Until.
	Since, Until time.Time
	// After is the cursor of the previous page.
	After string
	// Limit is the maximum number of deliveries.
	Limit int
}
