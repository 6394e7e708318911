package api

import (
	"context"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

func scheduleSettings(s *storage.Schedule) wire.ScheduleSettings {
	in := wire.ScheduleSettings{Description: s.Description, Enabled: s.Enabled, Timezone: s.Timezone, Window: s.Window}
	in.OnPriceChange = &s.OnPriceChange
	switch {
	case s.OnPriceChange:
	case s.Cron != "":
		in.Cron = &s.Cron
	default:
		in.EveryMinutes = &s.EveryMinutes
	}
	return in
}

// applySchedule applies the settings to a schedule. EveryMinutes, Cron and OnPriceChange
// are alternatives: the given setting replaces the other two.
func applySchedule(in *wire.ScheduleSettings, s *storage.Schedule, p *rest.FieldErrors) {
	s.Description, s.Enabled, s.Timezone, s.Window = in.Description, in.Enabled, in.Timezone, in.Window
	if in.EveryMinutes == nil && in.Cron == nil && (in.OnPriceChange == nil || *in.OnPriceChange == s.OnPriceChange) {
		return
	}
	s.EveryMinutes, s.Cron, s.OnPriceChange = 0, "", in.OnPriceChange != nil && *in.OnPriceChange
	if in.EveryMinutes != nil {
		s.EveryMinutes = *in.EveryMinutes
		p.Check(s.EveryMinutes != 0, "everyMinutes", "must be from 1 to 1440")
		p.Check(in.Cron == nil, "cron", "cannot be combined with everyMinutes")
	}
	if in.Cron != nil {
		s.Cron = *in.Cron
		p.Check(s.Cron != "", "cron", "is empty: omit cron to keep it, or send everyMinutes")
	}
}

func (s *server) showSchedule(c *rest.Call, stored *storage.Schedule) (wire.Schedule, error) {
	shown := wire.Schedule{ID: stored.ID, ScheduleSettings: scheduleSettings(stored), CreatedAt: stored.CreatedAt, UpdatedAt: stored.UpdatedAt}
	if stored.Enabled {
		shown.NextRunAt.Time = stored.Next(c.Now)
	}
	last, err := s.Ledger.LastRun(c.Org, stored.ID)
	if err == nil && last.TriggerID != "" {
		shown.LastRunAt, shown.LastTriggerID = last.At, &last.TriggerID
	}
	return shown, err
}

type createScheduleInput struct{ wire.ScheduleSettings }

func (in *createScheduleInput) setDefaults() {
	s := storage.NewSchedule("")
	in.ScheduleSettings = scheduleSettings(&s)
	in.EveryMinutes = nil // otherwise a request with Cron would have both settings
}

func (s *server) createSchedule(ctx context.Context, c *rest.Call, in *createScheduleInput) (wire.Schedule, error) {
	made := storage.NewSchedule(c.Org)
	made.ID = storage.NewID("sch_", c.Now)
	applySchedule(&in.ScheduleSettings, &made, &c.Wrong)
	if made.Check(&c.Wrong); c.Wrong.Err() != nil {
		return wire.Schedule{}, c.Wrong.Err()
	}
	return rest.Idempotent(ctx, s.rest, c, made.ID, in, func(id string) (wire.Schedule, error) {
		made.ID = id
		if err := createOnce(ctx, s.Store, &made); err != nil {
			return wire.Schedule{}, err
		}
		s.planFirst(ctx, made.Ref())
		return s.showSchedule(c, &made)
	})
}

// planFirst schedules the first run of a stored schedule. If planFirst fails, a scheduler
// finds the missing run.
func (s *server) planFirst(ctx context.Context, ref storage.Ref) {
	stored, revision, err := storage.GetRevision[storage.Schedule](s.Store, ref)
	if err == nil {
		if task, planned := events.FirstRun(&stored, revision); planned {
			err = s.Tasks.PutTask(ctx, task)
		}
	}
	if err != nil {
		s.Log.Warn("next run not scheduled, a scheduler retries", "schedule", ref.ID, "org", ref.Org, "error", err)
	}
}

// updateScheduleInput has the settings to change. An absent field keeps its value.
type updateScheduleInput struct{ wire.ScheduleSettings }

func (s *server) updateSchedule(ctx context.Context, c *rest.Call, _ *updateScheduleInput) (wire.Schedule, error) {
	stored, err := update(ctx, s, c, storage.KindSchedule.Ref(c.Org, c.ID), func(stored *storage.Schedule, p *rest.FieldErrors) error {
		settings := scheduleSettings(stored)
		settings.EveryMinutes, settings.Cron, settings.OnPriceChange = nil, nil, nil
		settings = over(s, c, settings)
		applySchedule(&settings, stored, p)
		return nil
	})
	if err != nil {
		return wire.Schedule{}, err
	}
	s.planFirst(ctx, stored.Ref())
	return s.showSchedule(c, &stored)
}
