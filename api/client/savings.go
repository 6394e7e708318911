package client

import (
	"context"

	"github.com/gridhook/gridhook/pricing/savings"
)

// SavingsRequest asks what optimizing a home's heating and cooling would save.
// Temperatures are in the devices' units; what is nil is as the devices have it.
type SavingsRequest struct {
	Type savings.Type `json:"type"`
	// TargetTemp stands for both setpoints, where they are not given.
	TargetTemp         *float64      `json:"targetTemp,omitempty"`
	TargetCoolSetpoint *float64      `json:"targetCoolSetpoint,omitempty"`
	TargetHeatSetpoint *float64      `json:"targetHeatSetpoint,omitempty"`
	MinTemp            *float64      `json:"minTemp,omitempty"`
	MaxTemp            *float64      `json:"maxTemp,omitempty"`
	Mode               *savings.Mode `json:"mode,omitempty"`
	// Start is nil for the present month.
	Start *SavingsStart `json:"start,omitempty"`
	// Days is nil for those of the month, or of the year.
	Days *int `json:"days,omitempty"`
	// Months are the calendar months that count, none for all.
	Months []int `json:"months,omitempty"`
}

// SavingsStart is a month, the next of that name that has not ended, or a date.
type SavingsStart struct {
	Month *int `json:"month,omitempty"`
	// Date is such as 2026-07-01.
	Date *string `json:"date,omitempty"`
}

// EstimateSavings estimates what optimizing a home's heating and cooling saves.
func (c *Client) EstimateSavings(ctx context.Context, homeID string, s SavingsRequest) (savings.Result, error) {
	return call[savings.Result](ctx, c, "/v1/homes/"+segment(homeID)+"/hvac/estimate_savings", s)
}
