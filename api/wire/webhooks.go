package wire

import (
	"encoding/json"
	"strings"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Bodies of the webhooks that package dispatcher sends.
type (
	// SignalEvent notifies an endpoint of a home's price signal.
	SignalEvent struct {
		Type      string       `json:"type"`
		Timestamp storage.Time `json:"timestamp" doc:"When the trigger was accepted."`
		Data      SignalData   `json:"data"`
	}
	// SignalOrigin names the trigger of a price signal.
	SignalOrigin struct {
		TriggerID      string `json:"triggerId" example:"trg_01JZ2E6K8M0000000000000000"`
		OrganizationID string `json:"organizationId" example:"acme"`
		Sequence       uint64 `json:"sequence" doc:"Rises with every trigger. Of two signals of a home, the higher sequence is newer." example:"1841"`
	}
	// SignalData is a price signal with its trigger.
	SignalData struct {
		SignalOrigin
		PriceSignal
	}
	// BatchEvent notifies an endpoint of the signals of several homes. The endpoint's
	// batchSize is more than 1.
	BatchEvent struct {
		Type      string       `json:"type"`
		Timestamp storage.Time `json:"timestamp" doc:"When the trigger was accepted."`
		Data      []BatchItem  `json:"data" doc:"The events, each as in a request of its own."`
	}
	// BatchItem is the event of one home.
	BatchItem struct {
		WebhookID string       `json:"webhookId" doc:"The webhook-id of the event, the same on every attempt."`
		Type      string       `json:"type" enum:"price_signal.updated,openadr.event.updated,price_signal.changed" doc:"Depends on the endpoint's format."`
		Timestamp storage.Time `json:"timestamp" doc:"When the trigger was accepted."`
		Data      BatchData    `json:"data"`
	}
	// BatchData is a SignalData, an OpenADRSignalData or a ThinData, as the type says.
	BatchData any
	// OpenADRSignalEvent is a SignalEvent for an endpoint whose format is openadr3.
	OpenADRSignalEvent struct {
		Type      string            `json:"type"`
		Timestamp storage.Time      `json:"timestamp" doc:"When the trigger was accepted."`
		Data      OpenADRSignalData `json:"data"`
	}
	// OpenADRSignalData has OpenADR 3 events with their trigger.
	OpenADRSignalData struct {
		SignalOrigin
		HomeID string         `json:"homeId" example:"home_1"`
		Events []OpenADREvent `json:"events" doc:"A list with one event."`
	}
	// ThinEvent is a SignalEvent without prices, for an endpoint whose format is thin.
	ThinEvent struct {
		Type      string       `json:"type"`
		Timestamp storage.Time `json:"timestamp" doc:"When the trigger was accepted."`
		Data      ThinData     `json:"data"`
	}
	// ThinData identifies a price signal.
	ThinData struct {
		SignalOrigin
		HomeID      string       `json:"homeId" example:"home_1"`
		RatePlanID  string       `json:"ratePlanId" example:"pge-e-elec"`
		StartTime   storage.Time `json:"startTime" doc:"The start of the signal's window. endTime is its end. Send both to path."`
		EndTime     storage.Time `json:"endTime"`
		Fingerprint string       `json:"fingerprint" doc:"Differs for signals with other prices, another window or another rate plan." example:"9f86d081884c7d65"`
		Path        string       `json:"path" doc:"The operation that returns the signal." example:"/v1/homes/home_1/price_signal"`
	}
	// CompletedEvent notifies an endpoint of the end of a trigger.
	CompletedEvent struct {
		Type      string          `json:"type"`
		Timestamp storage.Time    `json:"timestamp" doc:"When the last delivery ended."`
		Data      events.Progress `json:"data"`
	}
	// DisabledEvent notifies an endpoint that the service has disabled an endpoint.
	DisabledEvent struct {
		Type      string                  `json:"type"`
		Timestamp storage.Time            `json:"timestamp" doc:"When the endpoint was disabled."`
		Data      events.DisabledEndpoint `json:"data"`
	}
	// FlexAlertEvent says that a grid operator asks homes to use less.
	FlexAlertEvent struct {
		Type      string           `json:"type"`
		Timestamp storage.Time     `json:"timestamp" doc:"When Gridhook first heard of the alert."`
		Data      events.FlexAlert `json:"data"`
	}
	// TestEvent tests whether an endpoint is reachable.
	TestEvent struct {
		Type      string       `json:"type"`
		Timestamp storage.Time `json:"timestamp"`
		Data      TestData     `json:"data"`
	}
	// TestData identifies the tested endpoint.
	TestData struct {
		OrganizationID string `json:"organizationId" example:"acme"`
		EndpointID     string `json:"endpointId" example:"ep_01JZ2E6K8M0000000000000000"`
	}
)

// Webhook is a kind of event that Gridhook sends to endpoints.
type Webhook struct {
	Name, Summary string
	Body          any
}

// EventType describes a type of webhooks.
type EventType struct {
	Type    string          `json:"type" example:"price_signal.updated"`
	Summary string          `json:"summary" example:"A home's price signal, one per home and endpoint of a trigger"`
	Schema  json.RawMessage `json:"schema" doc:"The JSON Schema (2020-12) of the body." example:"{\"type\":\"object\"}"`
}

// Webhooks returns the kinds of events that Gridhook sends.
func Webhooks() []Webhook {
	return []Webhook{
		{storage.EventPriceSignalUpdated, "A home's price signal, one per home and endpoint of a trigger", SignalEvent{}},
		{storage.EventOpenADRUpdated, "A home's price signal as an OpenADR 3 event, for endpoints with the format openadr3", OpenADRSignalEvent{}},
		{storage.EventPriceSignalChanged, "A home's price signal without its prices, for endpoints with the format thin", ThinEvent{}},
		{storage.EventPriceSignalBatch, "The price signals of several homes in one request, for endpoints with a batchSize above 1", BatchEvent{}},
		{storage.EventTriggerCompleted, "A trigger is completed: the outcomes of its homes, once per trigger and endpoint", CompletedEvent{}},
		{storage.EventEndpointDisabled, "The service has disabled an endpoint; the organization's other endpoints are notified", DisabledEvent{}},
		{storage.EventFlexAlert, "A grid operator asks homes on a rate plan of the organization to use less, once per alert and endpoint", FlexAlertEvent{}},
		{storage.EventWebhookTest, "A test by the operation testEndpoint", TestEvent{}},
	}
}

// Handler returns a name for the client's handler of the event, such as
// onPriceSignalUpdated for price_signal.updated.
func (w Webhook) Handler() string {
	var name strings.Builder
	name.WriteString("on")
	for word := range strings.FieldsFuncSeq(w.Name, func(r rune) bool { return r == '.' || r == '_' }) {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return name.String()
}

// WebhookResponse documents the expected response of an endpoint.
const WebhookResponse = "Respond 2xx to accept the webhook. 410 disables the endpoint. 429 and 503 may have Retry-After. " +
	"Every other response is retried. Redirects are not followed. A 2xx response to price_signal.batch may have the body " +
	`{"results": [{"webhookId", "status", "reason"}]} with the messages that are not accepted.`
