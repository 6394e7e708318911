package wire

import (
	"github.com/gridhook/gridhook/storage"
)

// OpenADREvent is a price signal as an OpenADR 3.1 event. It documents the encoding of
// package signals.
type OpenADREvent struct {
	ID                   string              `json:"id" example:"home_1"`
	CreatedDateTime      storage.Time        `json:"createdDateTime"`
	ModificationDateTime storage.Time        `json:"modificationDateTime"`
	ObjectType           string              `json:"objectType" doc:"EVENT."`
	ProgramID            string              `json:"programID" doc:"The home's rate plan."`
	EventName            string              `json:"eventName"`
	Targets              []string            `json:"targets" doc:"The home."`
	PayloadDescriptors   []OpenADRDescriptor `json:"payloadDescriptors"`
	IntervalPeriod       OpenADRPeriod       `json:"intervalPeriod"`
	Intervals            []OpenADRInterval   `json:"intervals" doc:"The quarter hours in order."`
}

// OpenADRDescriptor describes the unit and currency of a kind of payload.
type OpenADRDescriptor struct {
	ObjectType  string `json:"objectType" doc:"EVENT_PAYLOAD_DESCRIPTOR."`
	PayloadType string `json:"payloadType" doc:"PRICE, EXPORT_PRICE or GHG."`
	Units       string `json:"units" doc:"KWH for prices, and GHG for grams of CO2 a kWh."`
	Currency    string `json:"currency,omitempty" doc:"USD for prices." example:"USD"`
}

// OpenADRPeriod has the start of the first interval and the duration of each interval.
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
	Type   string    `json:"type" doc:"PRICE: the cost of an imported kWh. EXPORT_PRICE: the credit for an exported kWh. GHG: the emissions of one more kWh." example:"NET_METERING"`
	Values []float64 `json:"values"`
}
