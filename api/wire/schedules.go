package wire

import (
	"github.com/gridhook/gridhook/storage"
)

// ScheduleSettings are the settings of a schedule that a partner controls.
type ScheduleSettings struct {
	Description   string                 `json:"description" maxLength:"500" example:"day ahead"`
	Enabled       bool                   `json:"enabled" doc:"Whether it runs." example:"true"`
	EveryMinutes  *int                   `json:"everyMinutes" minimum:"1" maximum:"1440" doc:"everyMinutes makes a run of each moment that is a whole multiple of it since midnight UTC of 1970-01-01: 15 is each quarter hour. It is by default 15, and null where cron or onPriceChange say when." example:"null"`
	Cron          *string                `json:"cron" pattern:"cron" doc:"An expression of five fields: minute, hour, day of month, month, and day of week from 0 (Sunday) to 6. It is null where it does not say when." example:"30 13 * * *"`
	OnPriceChange *bool                  `json:"onPriceChange" doc:"onPriceChange makes a run when prices have changed, as by a plan that is imported again, a critical peak that is called, or hours of the market that come in: of the homes that are affected alone, some seconds after the last of such changes." example:"false"`
	Timezone      string                 `json:"timezone" doc:"An IANA name, such as America/Chicago, whose clock cron goes by. A time that the clock jumps over is made at the jump, and one that comes twice the first time." example:"America/Chicago"`
	Window        storage.ScheduleWindow `json:"window" doc:"What the price signals of a run cover."`
}

// Schedule is a schedule in a response.
type Schedule struct {
	ID string `json:"id" example:"sch_01JZ2E6K8M0000000000000000"`
	ScheduleSettings
	NextRunAt     storage.Time `json:"nextRunAt" nullable:"true" doc:"nextRunAt is null where there is none."`
	LastRunAt     storage.Time `json:"lastRunAt" nullable:"true" doc:"lastRunAt and lastTriggerId tell of the last run, null where there was none."`
	LastTriggerID *string      `json:"lastTriggerId" example:"trg_01JZ2E6K8M0000000000000000"`
	CreatedAt     storage.Time `json:"createdAt"`
	UpdatedAt     storage.Time `json:"updatedAt"`
}
