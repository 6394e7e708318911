package wire

import "github.com/gridhook/gridhook/storage/signals"

// OpenADREvent is a price signal as an OpenADR 3.1 event.
type OpenADREvent struct {
	signals.OpenADRHead
	Targets []string `json:"targets" doc:"The home."`
	signals.OpenADRSeries
}
