package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/storage"
)

func newScheduleCommand(g *globals) *cobra.Command {
	r := resource{
		g: g, noun: "schedule", plural: "schedules", path: "/v1/webhook/schedules", scope: g.forOrg, derive: func(r record) {
			if s, err := convert[client.Schedule](r); err == nil {
				r["runs"], r["window"] = rule(s), windowOf(s.Window)
			}
		},
		columns: "ID:id, ENABLED:enabled, RUNS:runs, NEXT:nextRunAt, LAST:lastRunAt, LAST TRIGGER:lastTriggerId, DESCRIPTION:description", more: "WINDOW:window",
		fields: "schedule:id, description:description, enabled:enabled, runs:runs, window:window, next run:nextRunAt, last run:lastRunAt, last trigger:lastTriggerId",
	}
	return g.talks(group("schedule", "Schedules: automatic triggers",
		r.command(operation{
			use: "create", short: "Create a schedule; by default it runs every 15 minutes for the next 24 hours",
			example: `  gridhook schedule create --org acme
  gridhook schedule create --org acme --every 30m
  gridhook schedule create --org acme --on-price-change
  gridhook schedule create --org acme --cron "30 13 * * *" --timezone America/Chicago --offset 10h30m --length 24h`,
			flags: scheduleFlags(),
		}),
		r.list("List the schedules of an organization", "  gridhook schedule list --org acme"),
		r.get("Show a schedule with its next and last run", "  gridhook schedule get sch_01JZ0000000000000000000000 --org acme"),
		r.command(operation{
			use: "update SCHEDULE", short: "Change the settings that the flags name, from the next run on",
			example: "  gridhook schedule update sch_01JZ0000000000000000000000 --org acme --every 1h",
			flags:   scheduleFlags(),
		}),
		r.remove("Delete a schedule", "  gridhook schedule delete sch_01JZ0000000000000000000000 --org acme")))
}

// scheduleFlags are the flags of a schedule's fields.
func scheduleFlags() []bodyFlag {
	return []bodyFlag{
		{name: "description", help: "`purpose` of the schedule"},
		{name: "every", field: "everyMinutes", value: span{storage.DefaultEveryMinutes * time.Minute, time.Minute}, help: "interval between runs, in whole minutes"},
		{name: "cron", help: "cron `expression` of five fields instead of an interval, such as \"30 13 * * *\""},
		{name: "on-price-change", field: "onPriceChange", value: false, help: "runs after price changes instead of an interval, only for the affected homes"},
		{name: "timezone", value: "UTC", help: "IANA time `zone` of the cron expression"},
		{name: "offset", field: "window.offsetMinutes", value: span{0, time.Minute}, help: "time from a run to the start of its window, such as 10h30m"},
		{name: "length", field: "window.lengthMinutes", value: span{24 * time.Hour, time.Minute}, help: "length of the window"},
		{name: "enabled", value: true, help: "activity of the schedule; false stops its runs"},
	}
}

// rule describes when a schedule runs.
func rule(s client.Schedule) string {
	switch {
	case s.OnPriceChange != nil && *s.OnPriceChange:
		return "when prices change"
	case s.Cron != nil:
		return fmt.Sprintf("%s in %s", *s.Cron, s.Timezone)
	case s.EveryMinutes != nil:
		return "every " + short(time.Duration(*s.EveryMinutes)*time.Minute)
	}
	return "-"
}

func windowOf(w storage.ScheduleWindow) string {
	length := time.Duration(w.LengthMinutes) * time.Minute
	if w.OffsetMinutes == 0 {
		return "the next " + short(length)
	}
	return fmt.Sprintf("%s, from %s after the run", short(length), short(time.Duration(w.OffsetMinutes)*time.Minute))
}
