package openapi

import (
	"strings"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// The bodies of the webhooks, as package dispatcher sends them.
type (
	// signalEvent tells one home's price signal.
	signalEvent struct {
		Type string `json:"type"`
		// Timestamp is when the trigger was accepted.
		Timestamp storage.Time `json:"timestamp"`
		Data      signalData   `json:"data"`
	}
	// signalData is a price signal with what brought it about.
	signalData struct {
		TriggerID      string `json:"triggerId"`
		OrganizationID string `json:"organizationId"`
		// Sequence rises with every trigger: of two signals of one home, that of
		// the higher sequence is the newer.
		Sequence uint64 `json:"sequence"`
		api.PriceSignal
	}
	// batchEvent tells the signals of several homes, to an endpoint whose batchSize is
	// more than 1.
	batchEvent struct {
		Type string `json:"type"`
		// Timestamp is when the trigger was accepted.
		Timestamp storage.Time `json:"timestamp"`
		// Data are the events, each as it would be alone.
		Data []batchItem `json:"data"`
	}
	// batchItem is one home's event.
	batchItem struct {
		// WebhookID is what the header webhook-id would be if it came alone: the same
		// on every attempt.
		WebhookID string `json:"webhookId"`
		signalEvent
	}
	// openADRSignalEvent tells the same to an endpoint whose format is openadr3.
	openADRSignalEvent struct {
		Type string `json:"type"`
		// Timestamp is when the trigger was accepted.
		Timestamp storage.Time      `json:"timestamp"`
		Data      openADRSignalData `json:"data"`
	}
	// openADRSignalData are events of OpenADR 3 with what brought them about.
	openADRSignalData struct {
		TriggerID      string `json:"triggerId"`
		OrganizationID string `json:"organizationId"`
		// Sequence rises with every trigger: of two signals of one home, that of
		// the higher sequence is the newer.
		Sequence uint64 `json:"sequence"`
		HomeID   string `json:"homeId"`
		// Events has one event.
		Events []api.OpenADREvent `json:"events"`
	}
	// completedEvent tells the end of a trigger.
	completedEvent struct {
		Type string `json:"type"`
		// Timestamp is when the last delivery came to its end.
		Timestamp storage.Time    `json:"timestamp"`
		Data      events.Progress `json:"data"`
	}
	// disabledEvent tells that the service has disabled an endpoint.
	disabledEvent struct {
		Type string `json:"type"`
		// Timestamp is when it was disabled.
		Timestamp storage.Time            `json:"timestamp"`
		Data      events.DisabledEndpoint `json:"data"`
	}
	// testEvent says that an endpoint can be reached.
	testEvent struct {
		Type      string       `json:"type"`
		Timestamp storage.Time `json:"timestamp"`
		Data      testData     `json:"data"`
	}
	// testData names the endpoint.
	testData struct {
		OrganizationID string `json:"organizationId"`
		EndpointID     string `json:"endpointId"`
	}
)

// event is a webhook as it is documented.
type event struct {
	name, summary string
	body          any
	// also is the body by another choice of the endpoint's, nil where there is none.
	also any
	// data are values of the example's data that are not the samples of their fields.
	data Object
}

// webhookEvents are the webhooks that are sent.
var webhookEvents = []event{
	{
		name: storage.EventPriceSignalUpdated, summary: "A home's price signal, one for each home and endpoint of a trigger",
		body: signalEvent{}, also: openADRSignalEvent{},
	},
	{
		name: storage.EventPriceSignalBatch, summary: "The price signals of several homes in one request, where the endpoint's batchSize is more than 1",
		body: batchEvent{},
	},
	{
		name: storage.EventTriggerCompleted, summary: "A trigger has come to its end: what became of its homes, once for each trigger and endpoint",
		body: completedEvent{}, data: Object{
			{"status", events.TriggerCompleted}, {"outcomes", Object{{"DELIVERED", 249990}, {"EXPIRED", 10}}}, {"completedAt", "2026-07-01T12:00:41.000Z"},
		},
	},
	{
		name: storage.EventEndpointDisabled, summary: "The service has disabled an endpoint; the organization's other endpoints are told",
		body: disabledEvent{}, data: Object{{"endpointId", "ep_01JZ2E6K8M0000000000000001"}},
	},
	{name: storage.EventWebhookTest, summary: "A test, asked for with the operation testEndpoint", body: testEvent{}},
}

// The headers of a webhook, as Standard Webhooks has them.
var eventHeaders = []Object{
	eventHeader("webhook-id", "The message: the same on every attempt, so that a repeat can be told."),
	eventHeader("webhook-timestamp", "When this attempt was made, in Unix seconds. Refuse what is more than five minutes off."),
	eventHeader("webhook-signature", "v1,<base64 of the HMAC-SHA256 of id.timestamp.body with the bytes of the secret>; two of them, separated by a space, for 24 hours after a rotation. "+
		"A body that is sent with gzip has one for the bytes that are sent and one for the JSON in them: verify either."),
	eventHeader("traceparent", "Where the operator traces: the attempt's place in a trace, as W3C Trace Context has it.").With("required", false),
	eventHeader("content-encoding", "gzip, where the endpoint's compression is gzip.").With("required", false),
}

func eventHeader(name, description string) Object {
	return Object{{"name", name}, {"in", "header"}, {"required", true}, {"description", description}, {"schema", Object{{"type", "string"}}}}
}

func (d *Document) webhooks() Object {
	all := Object{}
	for _, e := range webhookEvents {
		t := typeOf(e.body)
		schema := d.schemas.of(t, output)
		if e.also != nil {
			schema = Object{{"anyOf", []Object{schema, d.schemas.of(typeOf(e.also), output)}}}
		}
		example := d.sample(t).(Object).With("type", e.name)
		for _, value := range e.data {
			example = example.With("data", example.Get("data").(Object).With(value.Name, value.Value))
		}
		all = append(all, Member{e.name, Object{{"post", Object{
			{"operationId", handlerName(e.name)}, {"summary", e.summary},
			{"description", "Answer 2xx to say that it has arrived. 410 disables the endpoint; 429 and 503 may have Retry-After; " +
				"everything else is tried again. Redirects are not followed. What answers a price_signal.batch with 2xx may have the body " +
				`{"results": [{"webhookId", "status", "reason"}]} of the messages that have not arrived.`},
			{"parameters", eventHeaders},
			{"requestBody", Object{{"required", true}, {"content", Object{{"application/json", Object{{"schema", schema}, {"example", example}}}}}}},
			{"responses", Object{{"2XX", Object{{"description", "It has arrived."}}}}},
			{"security", []Object{}}, // the signature says who calls
		}}}})
	}
	return all
}

// handlerName is what a client may call its handler of an event:
// onPriceSignalUpdated for price_signal.updated.
func handlerName(event string) string {
	var name strings.Builder
	name.WriteString("on")
	for word := range strings.FieldsFuncSeq(event, func(r rune) bool { return r == '.' || r == '_' }) {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return name.String()
}
