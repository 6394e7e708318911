package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// ScheduleSettings are what a partner decides about a schedule.
type ScheduleSettings struct {
	Description string `json:"description"`
	Enabled     bool   `json:"enabled"`
	// EveryMinutes makes a run of each moment that is a whole multiple of it since
	// midnight UTC of 1970-01-01: 15 is each quarter hour. It is by default 15, and
	// null where Cron or OnPriceChange say when.
	EveryMinutes *int `json:"everyMinutes"`
	// Cron is an expression of five fields: minute, hour, day of month, month, and
	// day of week from 0 (Sunday) to 6. It is null where it does not say when.
	Cron *string `json:"cron"`
	// OnPriceChange makes a run when prices have changed, as by a plan that is imported
	// again, a critical peak that is called, or hours of the market that come in: of the
	// homes that are affected alone, some seconds after the last of such changes.
	OnPriceChange *bool `json:"onPriceChange"`
	// Timezone is an IANA name, such as America/Chicago, whose clock Cron goes by.
	// A time that the clock jumps over is made at the jump, and one that comes twice
	// the first time.
	Timezone string                 `json:"timezone"`
	Window   storage.ScheduleWindow `json:"window"`
}

func scheduleSettings(s *storage.Schedule) ScheduleSettings {
	in := ScheduleSettings{Description: s.Description, Enabled: s.Enabled, Timezone: s.Timezone, Window: s.Window}
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

// apply sets the settings on a schedule. Of EveryMinutes, Cron and OnPriceChange, that
// which is given takes the place of the others.
func (in *ScheduleSettings) apply(s *storage.Schedule, p *problems) {
	s.Description, s.Enabled, s.Timezone, s.Window = in.Description, in.Enabled, in.Timezone, in.Window
	if in.EveryMinutes == nil && in.Cron == nil && (in.OnPriceChange == nil || *in.OnPriceChange == s.OnPriceChange) {
		return
	}
	s.EveryMinutes, s.Cron, s.OnPriceChange = 0, "", in.OnPriceChange != nil && *in.OnPriceChange
	if in.EveryMinutes != nil {
		s.EveryMinutes = *in.EveryMinutes
		p.Check(s.EveryMinutes != 0, "everyMinutes", "must be from 1 to 1440")
		p.Check(in.Cron == nil, "cron", "cannot be given together with everyMinutes")
	}
	if in.Cron != nil {
		s.Cron = *in.Cron
		p.Check(s.Cron != "", "cron", "is empty: leave it out to keep what is, or give everyMinutes")
	}
}

// Schedule is a schedule as it is shown.
type Schedule struct {
	ID string `json:"id"`
	ScheduleSettings
	// NextRunAt is null where there is none.
	NextRunAt storage.Time `json:"nextRunAt"`
	// LastRunAt and LastTriggerID tell of the last run, null where there was none.
	LastRunAt     storage.Time `json:"lastRunAt"`
	LastTriggerID *string      `json:"lastTriggerId"`
	CreatedAt     storage.Time `json:"createdAt"`
	UpdatedAt     storage.Time `json:"updatedAt"`
}

func (s *server) showSchedule(c *call, stored *storage.Schedule) (Schedule, error) {
	shown := Schedule{ID: stored.ID, ScheduleSettings: scheduleSettings(stored), CreatedAt: stored.CreatedAt, UpdatedAt: stored.UpdatedAt}
	if stored.Enabled {
		shown.NextRunAt.Time = stored.Next(c.now)
	}
	last, err := s.Ledger.LastRun(c.org, stored.ID)
	if err == nil && last.TriggerID != "" {
		shown.LastRunAt, shown.LastTriggerID = last.At, &last.TriggerID
	}
	return shown, err
}

type createScheduleInput struct{ ScheduleSettings }

func (in *createScheduleInput) setDefaults() {
	s := storage.NewSchedule("")
	in.ScheduleSettings = scheduleSettings(&s)
	in.EveryMinutes = nil // it would stand in the way of the others
}

func (in *createScheduleInput) check(_ *server, c *call, p *problems) {
	s := in.schedule(c.org, storage.NewID("sch_", c.now), p)
	_ = p.addError(s.Validate()) // nothing but field errors
}

func (in *createScheduleInput) schedule(org, id string, p *problems) storage.Schedule {
	s := storage.NewSchedule(org)
	s.ID = id
	in.apply(&s, p)
	return s
}

// maxSchedules bounds the schedules of an organization: each triggers all its homes.
const maxSchedules = 100

var errManySchedules = &Problem{
	Status: http.StatusConflict, Code: CodeConflict,
	Message:  "The organization has as many schedules as it may have.",
	Recovery: "Change or delete one of them.",
}

func (s *server) createSchedule(ctx context.Context, c *call, in *createScheduleInput) (Schedule, error) {
	id := storage.NewID("sch_", c.now)
	return once(ctx, s, c, c.org, c.org, id, in, func(id string) (Schedule, error) {
		switch n, err := s.schedules(c.org); {
		case err != nil:
			return Schedule{}, err
		case n >= maxSchedules:
			return Schedule{}, errManySchedules
		}
		made := in.schedule(c.org, id, &problems{})
		if err := s.Store.Create(ctx, &made); err != nil && !errors.Is(err, storage.ErrExists) {
			return Schedule{}, err
		}
		s.planFirst(ctx, made.Ref())
		return s.showSchedule(c, &made)
	})
}

// schedules is how many schedules an organization has.
func (s *server) schedules(org string) (n int, err error) {
	err = s.Store.View(func(v storage.View) error {
		n = v.Count(storage.KindSchedule, org)
		return nil
	})
	return n, err
}

// planFirst has the first run of a schedule wait that was just stored. Where that
// fails, a scheduler finds that it is missing.
func (s *server) planFirst(ctx context.Context, ref storage.Ref) {
	if s.Tasks == nil {
		return
	}
	var task events.Task
	var planned bool
	err := s.Store.View(func(v storage.View) error {
		stored, revision, err := storage.Read[storage.Schedule](v, ref)
		if err == nil {
			task, planned = events.FirstRun(&stored, revision)
		}
		return err
	})
	if err == nil && planned {
		err = s.Tasks.PutTask(ctx, task)
	}
	if err != nil {
		s.Log.Warn("the next run of a schedule could not be put; a scheduler will", "schedule", ref.ID, "org", ref.Org, "error", err)
	}
}

func (s *server) listSchedules(_ context.Context, c *call, in *pageInput) (Page[Schedule], error) {
	list, err := storage.List[storage.Schedule](s.Store, storage.KindSchedule, c.org, in.After, in.Limit+1)
	if err != nil {
		return Page[Schedule]{}, err
	}
	page := newPage(list, in.Limit, func(s *storage.Schedule) string { return s.ID })
	return showEach(page, func(stored *storage.Schedule) (Schedule, error) { return s.showSchedule(c, stored) })
}

func (s *server) getSchedule(_ context.Context, c *call, _ *struct{}) (Schedule, error) {
	stored, err := storage.Get[storage.Schedule](s.Store, storage.ScheduleRef(c.org, c.id))
	if err != nil {
		return Schedule{}, err
	}
	return s.showSchedule(c, &stored)
}

// updateScheduleInput holds the settings to change; what is absent stays as it is.
type updateScheduleInput struct{ ScheduleSettings }

// check judges the schedule as it would become. One that does not exist is left to
// the operation itself.
func (in *updateScheduleInput) check(s *server, c *call, p *problems) {
	ref := storage.ScheduleRef(c.org, c.id)
	if !ref.Valid() {
		return
	}
	if stored, err := storage.Get[storage.Schedule](s.Store, ref); err == nil {
		_ = s.changeSchedule(&stored, c, p) // nothing but field errors
	}
}

// changeSchedule decodes the body onto a schedule's settings.
func (s *server) changeSchedule(stored *storage.Schedule, c *call, p *problems) error {
	settings := scheduleSettings(stored)
	settings.EveryMinutes, settings.Cron, settings.OnPriceChange = nil, nil, nil
	p.add(decode(c.body, &settings, "body", s.options.MaxDepth))
	settings.apply(stored, p)
	return p.addError(stored.Validate())
}

func (s *server) updateSchedule(ctx context.Context, c *call, _ *updateScheduleInput) (Schedule, error) {
	stored, err := storage.Update(ctx, s.Store, storage.ScheduleRef(c.org, c.id), func(stored *storage.Schedule) error {
		var p problems
		if err := s.changeSchedule(stored, c, &p); err != nil {
			return err
		}
		return p.Err()
	})
	if err != nil {
		return Schedule{}, err
	}
	s.planFirst(ctx, stored.Ref())
	return s.showSchedule(c, &stored)
}

func (s *server) deleteSchedule(ctx context.Context, c *call, _ *struct{}) (Deleted, error) {
	return Deleted{c.id, true}, s.Store.Delete(ctx, storage.ScheduleRef(c.org, c.id))
}
