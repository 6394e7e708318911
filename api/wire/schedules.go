package wire

import (
	"github.com/gridhook/gridhook/storage"
)

// ScheduleSettings are the settings of a schedule that a partner controls.
type ScheduleSettings struct {
	Description   string                 `json:"description" maxLength:"500" example:"day ahead"`
	Enabled       bool                   `json:"enabled" doc:"Whether the schedule runs." example:"true"`
	EveryMinutes  *int                   `json:"everyMinutes" minimum:"1" maximum:"1440" doc:"Runs at every multiple of this number of minutes since 1970-01-01 00:00 UTC. The default is 15, each quarter hour. null with cron or onPriceChange." example:"null"`
	Cron          *string                `json:"cron" pattern:"cron" doc:"A cron expression of five fields: minute, hour, day of month, month, and day of week from 0 (Sunday) to 6. null with everyMinutes or onPriceChange." example:"30 13 * * *"`
	OnPriceChange *bool                  `json:"onPriceChange" doc:"Runs when a rate plan, its events or market prices change. A run covers the affected homes only. It starts some seconds after the last change." example:"false"`
	Timezone      string                 `json:"timezone" maxLength:"64" doc:"The IANA time zone of cron, such as America/Chicago. A time that a clock change skips runs at the change. A time that occurs twice runs the first time; if the hour begins with *, both times." example:"America/Chicago"`
	Window        storage.ScheduleWindow `json:"window" doc:"The window of a run's price signals."`
}

// Schedule is a schedule in a response.
type Schedule struct {
	ID string `json:"id" example:"sch_01JZ2E6K8M0000000000000000"`
	ScheduleSettings
	NextRunAt     storage.Time `json:"nextRunAt" nullable:"true" doc:"null if there is no next run."`
	LastRunAt     storage.Time `json:"lastRunAt" nullable:"true" doc:"When the last run was, and its trigger in lastTriggerId. null if there was no run."`
	LastTriggerID *string      `json:"lastTriggerId" example:"trg_01JZ2E6K8M0000000000000000"`
	CreatedAt     storage.Time `json:"createdAt"`
	UpdatedAt     storage.Time `json:"updatedAt"`
}
