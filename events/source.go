package events

import "github.com/gridhook/gridhook/storage"

// SourceCheck is what a source fetched, without storing it.
type SourceCheck struct {
	storage.SourceRun
	Prices []SourcePrices      `json:"prices" doc:"The fetched prices by node and market."`
	Alerts []storage.PlanEvent `json:"alerts" doc:"The fetched alerts, as events of the plan."`
}

// SourcePrices are the fetched prices of one node in one market.
type SourcePrices struct {
	Node        string       `json:"node" example:"TH_NP15_GEN-APND"`
	Market      string       `json:"market" example:"DAY_AHEAD"`
	StepMinutes int          `json:"stepMinutes" example:"60"`
	StartTime   storage.Time `json:"startTime"`
	EndTime     storage.Time `json:"endTime"`
	Prices      int          `json:"prices" doc:"The number of prices." example:"48"`
	Lowest      float64      `json:"lowest" doc:"The lowest price, in $/kWh." example:"0.012"`
	Highest     float64      `json:"highest" doc:"The highest price, in $/kWh." example:"0.094"`
}
