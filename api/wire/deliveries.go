package wire

import (
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// AcceptedRetry confirms that a retry is stored durably.
type AcceptedRetry struct {
	ID        string       `json:"id" doc:"The identifier of the delivery." example:"msg_01JZ2E6K8M4T8ZQ0V1N3WJ5R7S"`
	Status    string       `json:"status" doc:"ACCEPTED." example:"ACCEPTED"`
	CreatedAt storage.Time `json:"createdAt"`
}

// DeliveryHistory is the history of deliveries.
type DeliveryHistory struct {
	Hours []events.HistoryHour `json:"hours" doc:"24 hours, the oldest first. The last one is the present hour."`
}

// BodySource says how the body of a delivery's request was made.
type BodySource string

// Sources of a body. Gridhook does not store bodies.
const (
	// BodyStored is made of the inputs that Gridhook stored with the delivery.
	BodyStored BodySource = "STORED"
	// BodyRebuilt is made of the home's inputs, which have not changed since the trigger.
	BodyRebuilt BodySource = "REBUILT"
	// BodyChanged is made of inputs that have changed since the trigger.
	BodyChanged BodySource = "CHANGED"
)

// DeliveryRequest is the HTTP request of a delivery, without secrets.
type DeliveryRequest struct {
	ID     string     `json:"id" doc:"The webhook-id of the delivery." example:"msg_01JZ2E6K8M4T8ZQ0V1N3WJ5R7S"`
	Source BodySource `json:"bodySource" doc:"STORED: made of the inputs that are stored with a failed or expired delivery, as it was sent. REBUILT: made again. The home and the endpoint have not changed since the trigger, so the body is as it was sent. CHANGED: made again. The home, its prices or the endpoint have changed since, so the body may differ from the body that was sent." example:"REBUILT"`
	URL    string     `json:"url" doc:"The endpoint's URL. A query is masked." example:"https://partner.example/hooks/gridhook"`
	// Headers are as they would be sent now.
	Headers map[string]string `json:"headers" doc:"The headers by name, as of now. Values of your own headers are masked. Only a key with the scope trigger gets webhook-timestamp and webhook-signature." example:"{\"Content-Type\":\"application/json\",\"Webhook-Id\":\"msg_01JZ2E6K8M4T8ZQ0V1N3WJ5R7S\"}"`
	Body    string            `json:"body" doc:"The JSON of the message by itself: not compressed, and not in a batch." example:"{\"type\":\"price_signal.updated\"}"`
}

// Replay is a replay in a response.
type Replay struct {
	storage.ReplayProgress
	CreatedAt storage.Time `json:"createdAt"`
}
