package api

import "github.com/gridhook/gridhook/storage"

// OpenADREvent is a price signal as an event of OpenADR 3.1. It documents what
// package signals encodes.
type OpenADREvent struct {
	ID                   string       `json:"id"`
	CreatedDateTime      storage.Time `json:"createdDateTime"`
	ModificationDateTime storage.Time `json:"modificationDateTime"`
	// ObjectType is EVENT.
	ObjectType string `json:"objectType"`
	// ProgramID is the home's rate plan.
	ProgramID string `json:"programID"`
	EventName string `json:"eventName"`
	// Targets has the home.
	Targets            []string            `json:"targets"`
	PayloadDescriptors []OpenADRDescriptor `json:"payloadDescriptors"`
	IntervalPeriod     OpenADRPeriod       `json:"intervalPeriod"`
	// Intervals are the quarter hours, one after another.
	Intervals []OpenADRInterval `json:"intervals"`
}

// OpenADRDescriptor says what a kind of payload is in.
type OpenADRDescriptor struct {
	// ObjectType is EVENT_PAYLOAD_DESCRIPTOR.
	ObjectType string `json:"objectType"`
	// PayloadType is PRICE, EXPORT_PRICE or GHG.
	PayloadType string `json:"payloadType"`
	// Units is KWH for prices, and GHG for grams of CO2 a kWh.
	Units string `json:"units"`
	// Currency is USD for prices.
	Currency string `json:"currency,omitempty"`
}

// OpenADRPeriod is when the first interval starts, and how long each is.
type OpenADRPeriod struct {
	Start    storage.Time `json:"start"`
	Duration string       `json:"duration"`
}

// OpenADRInterval is a quarter hour.
type OpenADRInterval struct {
	ID       int              `json:"id"`
	Payloads []OpenADRPayload `json:"payloads"`
}

// OpenADRPayload is a value of an interval.
type OpenADRPayload struct {
	// Type is PRICE for what a kWh drawn costs, EXPORT_PRICE for what one sent out
	// earns, and GHG for what one more emits.
	Type   string    `json:"type"`
	Values []float64 `json:"values"`
}
