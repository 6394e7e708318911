package client

import (
	"context"

	"github.com/gridhook/gridhook/storage"
)

// Schedule is a trigger that comes by itself.
type Schedule struct {
	ID          string `json:"id"`
	Description string `json:"description"`
	Enabled     bool   `json:"enabled"`
	// EveryMinutes and Cron are nil where they do not say when; OnPriceChange says that
	// it is when prices have changed, for the homes that are affected alone.
	EveryMinutes  *int                   `json:"everyMinutes"`
	Cron          *string                `json:"cron"`
	OnPriceChange bool                   `json:"onPriceChange"`
	Timezone      string                 `json:"timezone"`
	Window        storage.ScheduleWindow `json:"window"`
	// NextRunAt is zero where there is none, LastRunAt where there was none.
	NextRunAt     storage.Time `json:"nextRunAt"`
	LastRunAt     storage.Time `json:"lastRunAt"`
	LastTriggerID string       `json:"lastTriggerId,omitempty"`
	CreatedAt     storage.Time `json:"createdAt"`
	UpdatedAt     storage.Time `json:"updatedAt"`
}

// ScheduleFields are what may be said of a schedule. What is nil keeps its value,
// or has its default on a new schedule: every quarter hour, for the next 24 hours.
type ScheduleFields struct {
	Description *string `json:"description,omitempty"`
	Enabled     *bool   `json:"enabled,omitempty"`
	// EveryMinutes, Cron and OnPriceChange take each other's place.
	EveryMinutes  *int            `json:"everyMinutes,omitempty"`
	Cron          *string         `json:"cron,omitempty"`
	OnPriceChange *bool           `json:"onPriceChange,omitempty"`
	Timezone      *string         `json:"timezone,omitempty"`
	Window        *ScheduleWindow `json:"window,omitempty"`
}

// ScheduleWindow is what the signals of a run cover, in minutes.
type ScheduleWindow struct {
	// OffsetMinutes is where it begins, from the start of the run's quarter hour.
	OffsetMinutes *int `json:"offsetMinutes,omitempty"`
	LengthMinutes *int `json:"lengthMinutes,omitempty"`
}

// CreateSchedule makes a schedule.
func (c *Client) CreateSchedule(ctx context.Context, f ScheduleFields) (Schedule, error) {
	return call[Schedule](ctx, c, "/v1/webhook/schedules/create", f)
}

// Schedules lists the organization's schedules.
func (c *Client) Schedules(ctx context.Context, p Page) (items []Schedule, next string, err error) {
	return list[Schedule](ctx, c, "/v1/webhook/schedules/list", p)
}

// GetSchedule reads one schedule.
func (c *Client) GetSchedule(ctx context.Context, id string) (Schedule, error) {
	return call[Schedule](ctx, c, schedulePath(id, "get"), nothing)
}

// UpdateSchedule changes the fields that are not nil, from the next run on.
func (c *Client) UpdateSchedule(ctx context.Context, id string, f ScheduleFields) (Schedule, error) {
	return call[Schedule](ctx, c, schedulePath(id, "update"), f)
}

// DeleteSchedule removes a schedule.
func (c *Client) DeleteSchedule(ctx context.Context, id string) error {
	_, err := call[struct{}](ctx, c, schedulePath(id, "delete"), nothing)
	return err
}

func schedulePath(id, operation string) string {
	return "/v1/webhook/schedules/" + segment(id) + "/" + operation
}
