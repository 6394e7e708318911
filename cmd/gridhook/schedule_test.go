package main

import (
	"strings"
	"testing"
)

const (
	cronJSON = `{"id":"sch_1","description":"day ahead","enabled":true,"everyMinutes":null,"cron":"30 13 * * *","timezone":"America/Chicago",
		"window":{"offsetMinutes":630,"lengthMinutes":1440},"nextRunAt":"2026-07-01T18:30:00.000Z","lastRunAt":"2026-06-30T18:30:00.000Z","lastTriggerId":"trg_1"}`
	everyJSON = `{"id":"sch_2","description":"","enabled":false,"everyMinutes":15,"cron":null,"timezone":"UTC",
		"window":{"offsetMinutes":0,"lengthMinutes":1440},"nextRunAt":null,"lastRunAt":null,"lastTriggerId":null}`
	pricesJSON = `{"id":"sch_3","description":"","enabled":true,"everyMinutes":null,"cron":null,"onPriceChange":true,"timezone":"UTC",
		"window":{"offsetMinutes":0,"lengthMinutes":1440},"nextRunAt":null,"lastRunAt":null,"lastTriggerId":null}`
	cronTable   = "schedule      sch_1\ndescription   day ahead\nenabled       true\nruns          30 13 * * * in America/Chicago\nwindow        24h, from 10h30m after the run\nnext run      2026-07-01T18:30:00Z\nlast run      2026-06-30T18:30:00Z\nlast trigger  trg_1\n"
	pricesTable = "schedule  sch_3\nenabled   true\nruns      when prices change\nwindow    the next 24h\n"
	everyTable  = "schedule  sch_2\nenabled   false\nruns      every 15m\nwindow    the next 24h\n"
)

func TestSchedule(t *testing.T) {
	tests := []struct {
		args                    []string
		path, body, answer, out string
	}{
		{
			[]string{"create", "--cron", "30 13 * * *", "--timezone", "America/Chicago", "--offset", "10h30m", "--length", "24h", "--description", "day ahead"},
			"create", `{"description":"day ahead","cron":"30 13 * * *","timezone":"America/Chicago","window":{"offsetMinutes":630,"lengthMinutes":1440}}`,
			cronJSON, cronTable,
		},
		{[]string{"create"}, "create", `{}`, everyJSON, everyTable},
		{[]string{"create", "--on-price-change"}, "create", `{"onPriceChange":true}`, pricesJSON, pricesTable},
		{[]string{"update", "sch_2", "--every", "15m", "--enabled=false", "--length", "1h"}, "sch_2/update", `{"enabled":false,"everyMinutes":15,"window":{"lengthMinutes":60}}`, everyJSON, everyTable},
		{[]string{"update", "sch_2", "--every", "15"}, "sch_2/update", `{"everyMinutes":15}`, everyJSON, everyTable},
		{[]string{"get", "sch_1"}, "sch_1/get", `{}`, cronJSON, cronTable},
		{
			[]string{"list"}, "list", `{"limit":1000}`, data(cronJSON, everyJSON),
			"ID     ENABLED  RUNS                            NEXT                  LAST                  LAST TRIGGER  DESCRIPTION\n" +
				"sch_1  true     30 13 * * * in America/Chicago  2026-07-01T18:30:00Z  2026-06-30T18:30:00Z  trg_1         day ahead\n" +
				"sch_2  false    every 15m                       -                     -                     -             -\n",
		},
		{[]string{"delete", "sch_1"}, "sch_1/delete", `{}`, `{"id":"sch_1","deleted":true}`, "sch_1 is deleted.\n"},
	}
	for _, test := range tests {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			f := newFake(t)
			f.on("/v1/webhook/schedules/"+test.path, ok(test.answer))
			got := run(t, f, "", append(append([]string{"schedule"}, test.args...), "--org", "acme"))
			if got.code != 0 || got.out != test.out {
				t.Errorf("exit %d, %s\nit shows\n%s\nwant\n%s", got.code, got.err, got.out, test.out)
			}
			if r := f.last(); r.org != "acme" || !sameJSON(t, r.body, test.body) {
				t.Errorf("it sent %+v, want %s", r, test.body)
			}
		})
	}
}

func TestSchedule_Usage(t *testing.T) {
	for args, says := range map[string]string{
		"create --every 90s":          "--every must be in whole minutes, not 1m30s",
		"create --offset 90s":         "--offset must be in whole minutes, not 1m30s",
		"create --length 1h1s":        "--length must be in whole minutes, not 1h0m1s",
		"update sch_1":                "name at least one change with a flag",
		"get":                         "the schedule is missing",
		"create --every often":        `invalid argument "often" for "--every" flag`,
		"create --every inf":          `invalid argument "inf" for "--every" flag: must be a duration`,
		"create --every NaN":          `invalid argument "NaN" for "--every" flag: must be a duration`,
		"create --every 1e12":         `invalid argument "1e12" for "--every" flag: must be less than 292 years`,
		"create --offset -1e12":       `invalid argument "-1e12" for "--offset" flag: must be less than 292 years`,
		"create --length everlasting": `invalid argument "everlasting" for "--length" flag`,
	} {
		got := run(t, nil, "", append(append([]string{"schedule"}, strings.Fields(args)...), "--org", "acme"))
		if got.code != exitUsage || !strings.HasPrefix(got.err, "gridhook: "+says) {
			t.Errorf("%s: exit %d, %s", args, got.code, got.err)
		}
	}
}
