package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/storage"
)

func newScheduleCommand(g *globals) *cobra.Command {
	return g.talks(group("schedule", "Schedules: triggers that come by themselves",
		newScheduleCreate(g), newScheduleList(g), newScheduleGet(g), newScheduleUpdate(g), newScheduleDelete(g)))
}

func newScheduleCreate(g *globals) *cobra.Command {
	var f scheduleFlags
	cmd := &cobra.Command{
		Use: "create", Short: "Make a schedule: by default every 15 minutes, for the next 24 hours", Args: takes(),
		Example: `  gridhook schedule create --org acme
  gridhook schedule create --org acme --on-price-change
  gridhook schedule create --org acme --cron "30 13 * * *" --timezone America/Chicago --offset 10h30m --length 24h`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			fields, err := f.fields(cmd)
			if err != nil {
				return err
			}
			c, err := g.connect()
			if err != nil {
				return err
			}
			s, err := c.CreateSchedule(cmd.Context(), fields)
			if err != nil {
				return err
			}
			return g.showSchedule(s)
		},
	}
	f.add(cmd)
	return g.forOrg(cmd)
}

func newScheduleUpdate(g *globals) *cobra.Command {
	var f scheduleFlags
	cmd := &cobra.Command{
		Use: "update SCHEDULE", Short: "Change what the flags say, from the next run on", Args: takes("the schedule"),
		Example: `  gridhook schedule update sch_01JZ0000000000000000000000 --org acme --every 60`,
		RunE: func(cmd *cobra.Command, args []string) error {
			fields, err := f.fields(cmd)
			if err != nil {
				return err
			}
			if fields == (client.ScheduleFields{}) {
				return usagef("say with a flag what to change")
			}
			c, err := g.connect()
			if err != nil {
				return err
			}
			s, err := c.UpdateSchedule(cmd.Context(), args[0], fields)
			if err != nil {
				return err
			}
			return g.showSchedule(s)
		},
	}
	f.add(cmd)
	return g.forOrg(cmd)
}

func newScheduleList(g *globals) *cobra.Command {
	return g.forOrg(&cobra.Command{
		Use: "list", Short: "List the schedules of an organization",
		Example: `  gridhook schedule list --org acme`, Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			all, err := client.All(cmd.Context(), c.Schedules)
			if err != nil {
				return err
			}
			header := []any{"ID", "ENABLED", "RUNS", "NEXT", "LAST", "LAST TRIGGER", "DESCRIPTION"}
			return showList(g, all, "schedules", header, func(s client.Schedule) []any {
				return []any{s.ID, s.Enabled, rule(s), moment(s.NextRunAt), moment(s.LastRunAt), or(s.LastTriggerID), or(s.Description)}
			})
		},
	})
}

func newScheduleGet(g *globals) *cobra.Command {
	return g.forOrg(&cobra.Command{
		Use: "get SCHEDULE", Short: "Show a schedule, its next run and its last",
		Example: `  gridhook schedule get sch_01JZ0000000000000000000000 --org acme`, Args: takes("the schedule"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			s, err := c.GetSchedule(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return g.showSchedule(s)
		},
	})
}

func newScheduleDelete(g *globals) *cobra.Command {
	return g.forOrg(&cobra.Command{
		Use: "delete SCHEDULE", Short: "Remove a schedule",
		Example: `  gridhook schedule delete sch_01JZ0000000000000000000000 --org acme`, Args: takes("the schedule"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			if err := c.DeleteSchedule(cmd.Context(), args[0]); err != nil {
				return err
			}
			return g.showDeleted(args[0])
		},
	})
}

// rule says in words when a schedule runs.
func rule(s client.Schedule) string {
	switch {
	case s.OnPriceChange:
		return "when prices change"
	case s.Cron != nil:
		return fmt.Sprintf("%s in %s", *s.Cron, s.Timezone)
	case s.EveryMinutes != nil:
		return fmt.Sprintf("every %d min", *s.EveryMinutes)
	}
	return "-"
}

func (g *globals) showSchedule(s client.Schedule) error {
	return g.show(s, func(w io.Writer) {
		row(w, "schedule", s.ID)
		if s.Description != "" {
			row(w, "description", s.Description)
		}
		row(w, "enabled", s.Enabled)
		row(w, "runs", rule(s))
		row(w, "window", windowOf(s.Window))
		row(w, "next run", moment(s.NextRunAt))
		if s.LastTriggerID != "" {
			row(w, "last run", moment(s.LastRunAt))
			row(w, "last trigger", s.LastTriggerID)
		}
	})
}

func windowOf(w storage.ScheduleWindow) string {
	length := time.Duration(w.LengthMinutes) * time.Minute
	if w.OffsetMinutes == 0 {
		return fmt.Sprintf("the next %s", length)
	}
	return fmt.Sprintf("%s, from %s after the run", length, time.Duration(w.OffsetMinutes)*time.Minute)
}

// scheduleFlags are the flags that say what a schedule shall be.
type scheduleFlags struct {
	description, cron, timezone string
	every                       int
	enabled, onPriceChange      bool
	offset, length              time.Duration
}

func (f *scheduleFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.description, "description", "", "what it is for")
	flags.IntVar(&f.every, "every", storage.DefaultEveryMinutes, "run every so many `minutes`")
	flags.StringVar(&f.cron, "cron", "", "run by a cron `expression` of five fields instead, such as \"30 13 * * *\"")
	flags.BoolVar(&f.onPriceChange, "on-price-change", false, "run when prices have changed instead, for the homes that are affected alone")
	flags.StringVar(&f.timezone, "timezone", "UTC", "the IANA `zone` that the expression is in")
	flags.DurationVar(&f.offset, "offset", 0, "where the window begins, from the run on: a `duration` such as 10h30m")
	flags.DurationVar(&f.length, "length", 24*time.Hour, "how long the window is: a `duration`")
	flags.BoolVar(&f.enabled, "enabled", true, "whether it runs")
}

// fields are the flags that were given.
func (f *scheduleFlags) fields(cmd *cobra.Command) (client.ScheduleFields, error) {
	var out client.ScheduleFields
	given := cmd.Flags().Changed
	if given("description") {
		out.Description = &f.description
	}
	if given("every") {
		out.EveryMinutes = &f.every
	}
	if given("cron") {
		out.Cron = &f.cron
	}
	if given("timezone") {
		out.Timezone = &f.timezone
	}
	if given("enabled") {
		out.Enabled = &f.enabled
	}
	if given("on-price-change") {
		out.OnPriceChange = &f.onPriceChange
	}
	rules := 0
	for _, rule := range []bool{given("every"), given("cron"), f.onPriceChange} {
		if rule {
			rules++
		}
	}
	if rules > 1 {
		return out, usagef("give one of --every, --cron and --on-price-change")
	}
	if !given("offset") && !given("length") {
		return out, nil
	}
	out.Window = &client.ScheduleWindow{}
	var wrong error
	minutes := func(name string, d time.Duration) *int {
		if !given(name) {
			return nil
		}
		if d%time.Minute != 0 {
			wrong = usagef("--%s must be in whole minutes, not %s", name, d)
		}
		n := int(d / time.Minute)
		return &n
	}
	out.Window.OffsetMinutes, out.Window.LengthMinutes = minutes("offset", f.offset), minutes("length", f.length)
	return out, wrong
}
