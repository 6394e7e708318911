package main

import (
	"strings"
	"testing"
)

const (
	sourceJSON = `{"id":"np15","adapter":"csv","url":"https://x.example/","parameters":{"node":"NP15"},"secret":"********","everySeconds":3600,"timezone":"UTC","planId":"np15",
		"description":"","enabled":true,"failures":0,"late":false,"lastRunAt":"2026-07-01T00:00:00.000Z","lastGoodAt":"2026-07-01T00:00:00.000Z",
		"nextRunAt":"2026-07-01T01:00:00.000Z","dataEnd":"2026-07-02T00:00:00.000Z","runs":[{"at":"2026-07-01T00:00:00.000Z","outcome":"STORED","requests":1,"added":24,"changed":0,"events":0,"tariff":false,"seconds":0.1}]}`
	sourceFields = "source         np15\nfor            the homes of all organizations\nadapter        csv\nurl            https://x.example/\nparameters     node NP15\nsecret         ********\n" +
		"every          1h\ntimezone       UTC\nplan           np15\nstate          ok\nfailures       0\nlast run       2026-07-01T00:00:00Z\nlast good run  2026-07-01T00:00:00Z\n" +
		"next run       2026-07-01T01:00:00Z\ndata until     2026-07-02T00:00:00Z\n"
	sourceLog = "\nAT                    OUTCOME  ADDED  CHANGED  REQUESTS  ERROR\n2026-07-01T00:00:00Z  STORED   24     0        1         -\n"
)

func TestSource(t *testing.T) {
	late := strings.Replace(sourceJSON, `"late":false`, `"late":true`, 1)
	for _, test := range []struct{ args, path, body, answer, out string }{
		{
			"add --id np15 --adapter csv --url https://x.example/ --param node=NP15 --param unit=$/MWh --every 15m --plan np15 --secret-file -", "create",
			`{"id":"np15","adapter":"csv","url":"https://x.example/","parameters":{"node":"NP15","unit":"$/MWh"},"everySeconds":900,"planId":"np15","secret":"hush"}`, sourceJSON, sourceFields,
		},
		{"get np15", "np15/get", `{}`, sourceJSON, sourceFields + sourceLog},
		{"update np15 --every 90s --org acme", "np15/update", `{"organizationId":"acme","everySeconds":90}`, sourceJSON, sourceFields},
		{"pause np15", "np15/update", `{"enabled":false}`, sourceJSON, "np15 is paused.\n"},
		{"resume np15", "np15/update", `{"enabled":true}`, sourceJSON, "np15 is resumed.\n"},
		{"run np15", "np15/run", `{}`, sourceJSON, "np15 fetches now.\n"},
		{"delete np15", "np15/delete", `{}`, `{"id":"np15","deleted":true}`, "np15 is deleted.\n"},
		{
			"list", "list", `{"limit":1000}`, data(late, strings.Replace(late, `"enabled":true`, `"enabled":false`, 1), strings.Replace(sourceJSON, `"failures":0`, `"failures":2`, 1)),
			"ID    ADAPTER  STATE    EVERY  LAST GOOD             NEXT                  DATA UNTIL            PLAN\n" +
				"np15  csv      late     1h     2026-07-01T00:00:00Z  2026-07-01T01:00:00Z  2026-07-02T00:00:00Z  np15\n" +
				"np15  csv      paused   1h     2026-07-01T00:00:00Z  2026-07-01T01:00:00Z  2026-07-02T00:00:00Z  np15\n" +
				"np15  csv      failing  1h     2026-07-01T00:00:00Z  2026-07-01T01:00:00Z  2026-07-02T00:00:00Z  np15\n",
		},
		{
			"check np15", "np15/check", `{}`, `{"at":"2026-07-01T00:00:00.000Z","outcome":"STORED","requests":1,"added":24,"changed":0,"events":0,"tariff":true,"seconds":0.1,"alerts":[],
			"prices":[{"node":"NP15","market":"DAY_AHEAD","stepMinutes":60,"startTime":"2026-07-01T00:00:00.000Z","endTime":"2026-07-02T00:00:00.000Z","prices":24,"lowest":0.01,"highest":0.09}]}`,
			"outcome           STORED\nrequests          1\nnew prices        24\nchanged prices    0\nchanged events    0\nchanges the plan  true\ntook              0.1 s\n" +
				"\nNODE  MARKET     MINUTES  PRICES  FROM                  TO                    LOWEST $/kWh  HIGHEST $/kWh\nNP15  DAY_AHEAD  60       24      2026-07-01T00:00:00Z  2026-07-02T00:00:00Z  0.01          0.09\n",
		},
		{
			"adapters", "adapters/list", `{}`, data(`{"name":"csv","title":"CSV file","everySeconds":3600,"timezone":"UTC","secret":"token","url":"","doc":"","parameters":[{"name":"node","required":true},{"name":"unit","required":false}]}`),
			"ADAPTER  TITLE     EVERY  PARAMETERS  SECRET\ncsv      CSV file  1h     node*,unit  token\n",
		},
	} {
		t.Run(test.args, func(t *testing.T) {
			f := newFake(t)
			f.on("/v1/admin/sources/"+test.path, ok(test.answer))
			got := run(t, f, "hush\n", append([]string{"source"}, strings.Fields(test.args)...))
			if got.code != 0 || got.out != test.out {
				t.Errorf("exit %d, %s\nit shows\n%s\nwant\n%s", got.code, got.err, got.out, test.out)
			}
			if r := f.last(); !sameJSON(t, r.body, test.body) {
				t.Errorf("it sent %+v, want %s", r, test.body)
			}
		})
	}
}

// A check whose fetch failed shows the reason and exits with 1.
func TestSource_CheckFails(t *testing.T) {
	f := newFake(t)
	f.on("/v1/admin/sources/np15/check", ok(`{"at":"2026-07-01T00:00:00.000Z","outcome":"FAILED","error":"GET x.example: 503 Service Unavailable","requests":1,"prices":[],"alerts":[]}`))
	for _, args := range []string{"source check np15", "source check np15 --json"} {
		got := run(t, f, "", strings.Fields(args))
		if got.code != exitFailure || !strings.Contains(got.out, "503 Service Unavailable") || !strings.Contains(got.err, "the fetch of the source failed") {
			t.Errorf("%s: exit %d, %s\nit shows\n%s", args, got.code, got.err, got.out)
		}
	}
}
