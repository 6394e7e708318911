package client

import (
	"context"

	"github.com/gridhook/gridhook/api/wire"
)

// Schedule triggers webhooks periodically or on a price change.
type Schedule = wire.Schedule

// ScheduleFields are the settings of a schedule. In an update, a nil field keeps its
// value. In a new schedule, a nil field has its default. By default, a schedule runs
// every quarter hour for the next 24 hours.
type ScheduleFields struct {
	Description *string `json:"description,omitempty"`
	Enabled     *bool   `json:"enabled,omitempty"`
	// EveryMinutes, Cron and OnPriceChange are alternatives. Setting any of the three
	// clears the other two.
	EveryMinutes  *int            `json:"everyMinutes,omitempty"`
	Cron          *string         `json:"cron,omitempty"`
	OnPriceChange *bool           `json:"onPriceChange,omitempty"`
	Timezone      *string         `json:"timezone,omitempty"`
	Window        *ScheduleWindow `json:"window,omitempty"`
}

// ScheduleWindow is the window of a run's signals, in minutes.
type ScheduleWindow struct {
	// OffsetMinutes is the start of the window, counted from the start of the run's
	// quarter hour.
	OffsetMinutes *int `json:"offsetMinutes,omitempty"`
	LengthMinutes *int `json:"lengthMinutes,omitempty"`
}

// CreateSchedule creates a schedule.
func (c *Client) CreateSchedule(ctx context.Context, f ScheduleFields) (Schedule, error) {
	return Call[Schedule](ctx, c, "/v1/webhook/schedules/create", f)
}

// Schedules lists the organization's schedules.
func (c *Client) Schedules(ctx context.Context, p Page) (items []Schedule, next string, err error) {
	return List[Schedule](ctx, c, "/v1/webhook/schedules/list", p)
}

// GetSchedule reads one schedule.
func (c *Client) GetSchedule(ctx context.Context, id string) (Schedule, error) {
	return Call[Schedule](ctx, c, at("/v1/webhook/schedules/{id}/get", id), nothing)
}

// UpdateSchedule changes the fields that are not nil. The change applies from the next
// run.
func (c *Client) UpdateSchedule(ctx context.Context, id string, f ScheduleFields) (Schedule, error) {
	return Call[Schedule](ctx, c, at("/v1/webhook/schedules/{id}/update", id), f)
}

// DeleteSchedule removes a schedule.
func (c *Client) DeleteSchedule(ctx context.Context, id string) error {
	_, err := Call[struct{}](ctx, c, at("/v1/webhook/schedules/{id}/delete", id), nothing)
	return err
}
