package wire

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/gridhook/gridhook/api/schema"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Event is the body of a webhook that package dispatcher sends.
type Event[T any] struct {
	Type      string       `json:"type"`
	Timestamp storage.Time `json:"timestamp"`
	Data      T            `json:"data"`
}

// Data of the events.
type (
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
	// BatchItem is the event of one home.
	BatchItem struct {
		WebhookID string       `json:"webhookId" doc:"The webhook-id of the event, the same on every attempt."`
		Type      string       `json:"type" enum:"price_signal.updated,openadr.event.updated,price_signal.changed" doc:"Depends on the endpoint's format."`
		Timestamp storage.Time `json:"timestamp" doc:"When the trigger was accepted."`
		Data      BatchData    `json:"data" doc:"The data of the event, as in a request of its own."`
	}
	// BatchData is a SignalData, an OpenADRSignalData or a ThinData, as the type says.
	BatchData any
	// OpenADRSignalData has OpenADR 3 events with their trigger.
	OpenADRSignalData struct {
		SignalOrigin
		HomeID string         `json:"homeId" example:"home_1"`
		Events []OpenADREvent `json:"events" doc:"A list with one event."`
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
	// TestData identifies the tested endpoint.
	TestData struct {
		OrganizationID string `json:"organizationId" example:"acme"`
		EndpointID     string `json:"endpointId" example:"ep_01JZ2E6K8M0000000000000000"`
	}
)

// Webhook is a kind of event that Gridhook sends to endpoints.
type Webhook struct {
	Name, Summary string
	// Timestamp says what the timestamp of the body is.
	Timestamp string
	Body      any
}

// Describe returns the schema of the body.
func (w Webhook) Describe(types *schema.Types) *schema.Schema {
	body := types.Of(reflect.TypeOf(w.Body), schema.Response)
	body.SetConst("type", w.Name)
	body.SetDescription("timestamp", w.Timestamp)
	return body
}

// EventType describes a type of webhooks.
type EventType struct {
	Type    string          `json:"type" example:"price_signal.updated"`
	Summary string          `json:"summary" example:"A home's price signal, one per home and endpoint of a trigger"`
	Schema  json.RawMessage `json:"schema" doc:"The JSON Schema (2020-12) of the body." example:"{\"type\":\"object\"}"`
}

// Webhooks returns the kinds of events that Gridhook sends.
func Webhooks() []Webhook {
	const accepted = "When the trigger was accepted."
	return []Webhook{
		{storage.EventPriceSignalUpdated, "A home's price signal, one per home and endpoint of a trigger", accepted, Event[SignalData]{}},
		{storage.EventOpenADRUpdated, "A home's price signal as an OpenADR 3 event, for endpoints with the format openadr3", accepted, Event[OpenADRSignalData]{}},
		{storage.EventPriceSignalChanged, "A home's price signal without its prices, for endpoints with the format thin", accepted, Event[ThinData]{}},
		{storage.EventPriceSignalBatch, "The price signals of several homes in one request, for endpoints with a batchSize above 1", accepted, Event[[]BatchItem]{}},
		{storage.EventTriggerCompleted, "A trigger is completed: the outcomes of its homes, once per trigger and endpoint", "When the last delivery ended.", Event[events.Progress]{}},
		{storage.EventEndpointDisabled, "The service has disabled an endpoint; the organization's other endpoints are notified", "When the endpoint was disabled.", Event[events.DisabledEndpoint]{}},
		{storage.EventFlexAlert, "A grid operator asks homes on a rate plan of the organization to use less, once per alert and endpoint", "When Gridhook first heard of the alert.", Event[events.FlexAlert]{}},
		{storage.EventWebhookTest, "A test by the operation testEndpoint", "", Event[TestData]{}},
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
