package storage

import (
	"time"

	"github.com/gridhook/gridhook/pricing"
)

// Schedule triggers an organization's webhooks at set times. Its runs depend on its rule
// alone, so every process computes the same runs.
type Schedule struct {
	ID          string `json:"id"`
	Description string `json:"description"`
	Enabled     bool   `json:"enabled"`
	// EveryMinutes makes a run at every multiple of its value since 1970 in UTC. It is 0
	// if Cron is set.
	EveryMinutes int `json:"everyMinutes,omitempty"`
	// Cron is an expression of five fields: minute, hour, day of month, month and day of
	// week, on the clock of Timezone. See CheckCron.
	Cron     string `json:"cron,omitempty"`
	Timezone string `json:"timezone"`
	// OnPriceChange makes a run for the affected homes when the inputs of their prices
	// change: their plan, its events, or the market's hours.
	OnPriceChange bool `json:"onPriceChange,omitempty"`
	// Window is the period that the signals of a run cover.
	Window ScheduleWindow `json:"window"`
	Base
}

// ScheduleWindow is a window relative to the time of a run.
type ScheduleWindow struct {
	OffsetMinutes int `json:"offsetMinutes" minimum:"0" maximum:"44639" doc:"The start of the window, counted from the start of the run's quarter hour." example:"630"`
	LengthMinutes int `json:"lengthMinutes" minimum:"15" maximum:"44640" doc:"The length of the window in minutes." example:"1440"`
}

// These values bound a schedule, in minutes.
const (
	DefaultEveryMinutes = 15
	maxWindowMinutes    = int(pricing.MaxWindow / time.Minute)
)

// NewSchedule returns a schedule that runs every quarter hour, for the next 24 hours.
func NewSchedule(org string) Schedule {
	return Schedule{
		Enabled: true, EveryMinutes: DefaultEveryMinutes, Timezone: "UTC",
		Window: ScheduleWindow{LengthMinutes: int(pricing.DefaultWindow / time.Minute)},
		Base:   Base{OrganizationID: org},
	}
}

// Ref names the schedule.
func (s *Schedule) Ref() Ref { return KindSchedule.Ref(s.OrganizationID, s.ID) }

// Check adds every wrong field.
func (s *Schedule) Check(p *Problems) {
	if s.OnPriceChange {
		p.Check(s.Cron == "" && s.EveryMinutes == 0, "onPriceChange", "cannot be combined with everyMinutes or cron")
	} else {
		p.Check(s.Cron != "" || s.EveryMinutes != 0, "everyMinutes", "is required without cron and onPriceChange")
	}
	p.Check(s.Cron == "" || s.EveryMinutes == 0, "cron", "cannot be combined with everyMinutes")
	checkLocation(p, s.Timezone)
	if s.Cron != "" && s.EveryMinutes == 0 {
		location, ok := Location(s.Timezone)
		if !ok {
			location = time.UTC // the expression is checked beside a wrong time zone
		}
		if err := CheckCron(s.Cron, location); err != nil {
			p.Addf("cron", "%s", err)
		}
	}
	w := s.Window
	p.Check(w.OffsetMinutes+w.LengthMinutes <= maxWindowMinutes, "window", "must end within 31 days")
}

// Next returns the first run after a time. It returns the zero time if there is none, as
// with OnPriceChange.
func (s *Schedule) Next(after time.Time) time.Time {
	if s.Cron != "" {
		location, _ := Location(s.Timezone) // Check has checked the time zone
		return nextCron(s.Cron, location, after)
	}
	every := time.Duration(s.EveryMinutes) * time.Minute
	if every <= 0 {
		return time.Time{}
	}
	// Truncate counts from the year 1. That is a whole number of days before 1970, but
	// not a whole number of every interval.
	epoch := time.Unix(0, 0).UTC()
	before := int64(after.Sub(epoch) / every)
	return epoch.Add(time.Duration(before+1) * every)
}

// Latest returns the last run between two times, both included, or the zero time if there
// is none. It looks back in growing steps: a search from the start takes 9 s for a year of
// minutes.
func (s *Schedule) Latest(from, to time.Time) (latest time.Time) {
	for back := time.Hour; ; back *= 2 {
		start := Later(from, to.Add(-back))
		for run := s.Next(start.Add(-1)); !run.IsZero() && !run.After(to); run = s.Next(run) {
			latest = run
		}
		if !latest.IsZero() || !start.After(from) {
			return latest
		}
	}
}

// WindowAt returns the window of the signals of a run at a time. Errors:
// *InvalidError.
func (s *Schedule) WindowAt(now time.Time) (pricing.Window, error) {
	start := now.UTC().Truncate(pricing.Interval).Add(time.Duration(s.Window.OffsetMinutes) * time.Minute)
	end := start.Add(time.Duration(s.Window.LengthMinutes) * time.Minute)
	return pricing.ResolveWindow(&start, &end, now)
}
