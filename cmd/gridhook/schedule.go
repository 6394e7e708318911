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
	r := resource[client.Schedule]{
		g: g, noun: "schedule", plural: "schedules", path: "/v1/webhook/schedules", scope: g.forOrg, show: showSchedule,
		columns: []any{"ID", "ENABLED", "RUNS", "NEXT", "LAST", "LAST TRIGGER", "DESCRIPTION"}, more: []any{"WINDOW"},
		cells: func(s client.Schedule) []any {
			return []any{s.ID, s.Enabled, rule(s), moment(s.NextRunAt), moment(s.LastRunAt), or(lastTrigger(s)), or(s.Description), windowOf(s.Window)}
		},
	}
	return g.talks(group("schedule", "Schedules: triggers that come by themselves",
		r.command(operation[client.Schedule]{
			use: "create", short: "Make a schedule: by default every 15 minutes, for the next 24 hours",
			example: `  gridhook schedule create --org acme
  gridhook schedule create --org acme --every 30m
  gridhook schedule create --org acme --on-price-change
  gridhook schedule create --org acme --cron "30 13 * * *" --timezone America/Chicago --offset 10h30m --length 24h`,
			flags: scheduleFlags(), prepare: oneRule,
		}),
		r.list("List the schedules of an organization", "  gridhook schedule list --org acme"),
		r.get("Show a schedule, its next run and its last", "  gridhook schedule get sch_01JZ0000000000000000000000 --org acme"),
		r.command(operation[client.Schedule]{
			use: "update SCHEDULE", short: "Change what the flags say, from the next run on",
			example: "  gridhook schedule update sch_01JZ0000000000000000000000 --org acme --every 1h",
			flags:   scheduleFlags(), prepare: oneRule,
		}),
		r.remove("Remove a schedule", "  gridhook schedule delete sch_01JZ0000000000000000000000 --org acme")))
}

// scheduleFlags are the flags of a schedule's fields.
func scheduleFlags() []bodyFlag {
	return []bodyFlag{
		{name: "description", field: "description", value: "", help: "what it is for"},
		{name: "every", field: "everyMinutes", value: span{storage.DefaultEveryMinutes * time.Minute, time.Minute}, help: "time between two runs, in whole minutes: a `duration` such as 15m"},
		{name: "cron", field: "cron", value: "", help: "run by a cron `expression` of five fields instead, such as \"30 13 * * *\""},
		{name: "on-price-change", field: "onPriceChange", value: false, help: "run when prices have changed instead, for the homes that are affected alone"},
		{name: "timezone", field: "timezone", value: "UTC", help: "the IANA `zone` that the expression is in"},
		{name: "offset", field: "window.offsetMinutes", value: span{0, time.Minute}, help: "where the window begins, from the run on: a `duration` such as 10h30m"},
		{name: "length", field: "window.lengthMinutes", value: span{24 * time.Hour, time.Minute}, help: "how long the window is: a `duration`"},
		{name: "enabled", field: "enabled", value: true, help: "whether it runs"},
	}
}

// oneRule returns an error if a request has two rules for when a schedule runs.
func oneRule(_ *cobra.Command, _ []string, body fields) error {
	rules := 0
	for _, given := range []bool{body["everyMinutes"] != nil, body["cron"] != nil, body["onPriceChange"] == true} {
		if given {
			rules++
		}
	}
	if rules > 1 {
		return usagef("give one of --every, --cron and --on-price-change")
	}
	return nil
}

// rule describes when a schedule runs.
func rule(s client.Schedule) string {
	switch {
	case s.OnPriceChange != nil && *s.OnPriceChange:
		return "when prices change"
	case s.Cron != nil:
		return fmt.Sprintf("%s in %s", *s.Cron, s.Timezone)
	case s.EveryMinutes != nil:
		return fmt.Sprintf("every %d min", *s.EveryMinutes)
	}
	return "-"
}

// lastTrigger returns the trigger of the last run, or "" if there was none.
func lastTrigger(s client.Schedule) string {
	if s.LastTriggerID == nil {
		return ""
	}
	return *s.LastTriggerID
}

func showSchedule(w io.Writer, s client.Schedule) {
	row(w, "schedule", s.ID)
	if s.Description != "" {
		row(w, "description", s.Description)
	}
	row(w, "enabled", s.Enabled)
	row(w, "runs", rule(s))
	row(w, "window", windowOf(s.Window))
	row(w, "next run", moment(s.NextRunAt))
	if s.LastTriggerID != nil {
		row(w, "last run", moment(s.LastRunAt))
		row(w, "last trigger", *s.LastTriggerID)
	}
}

func windowOf(w storage.ScheduleWindow) string {
	length := time.Duration(w.LengthMinutes) * time.Minute
	if w.OffsetMinutes == 0 {
		return "the next " + short(length)
	}
	return fmt.Sprintf("%s, from %s after the run", short(length), short(time.Duration(w.OffsetMinutes)*time.Minute))
}
