package main

import (
	"cmp"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An invalid command line sends nothing, exits 2 and says in one sentence what to do.
func TestUsage_Errors(t *testing.T) {
	tests := []struct{ args, says string }{
		{"frob", `unknown command "frob" for "gridhook"; see "gridhook --help"`},
		{"--json key list", `the flag --json must come after the command; see "gridhook --help"`},
		{"ogr list", `unknown command "ogr" for "gridhook": did you mean logs or org; see "gridhook --help"`},
		{"org lst", `"gridhook org" has no command "lst": did you mean get or list; see "gridhook org --help"`},
		{"completion basj", `"gridhook completion" has no command "basj": did you mean bash; see "gridhook completion --help"`},
		{"org frob", `"gridhook org" has no command "frob"; see "gridhook org --help"`},
		{"org list --jsn", `unknown flag: --jsn: did you mean --json; see "gridhook org list --help"`},
		{"home list --url http://127.0.0.1:1", `unknown flag: --url: did you mean --api-url; see`},
		{"home list --key k", `unknown flag: --key: did you mean --api-key; see`},
		{"home list --ogr acme", `unknown flag: --ogr: did you mean --org; see`},
		{"audit list --org acme", `unknown flag: --org: did you mean --organization; see "gridhook audit list --help"`},
		{"key rotate key_1 --org acme", `unknown flag: --org: this command takes no organization; see "gridhook key rotate --help"`},
		{"org list --frob", `unknown flag: --frob; see "gridhook org list --help"`},
		{"org create", `--name must be given; see "gridhook org create --help"`},
		{"org delete acme", `--confirm must be given; see "gridhook org delete --help"`},
		{"endpoint create", `--org and --url must be given; see "gridhook endpoint create --help"`},
		{"org list acme", `unexpected argument "acme"; see "gridhook org list --help"`},
		{"org create acme --name A", `unexpected argument "acme": did you mean --id acme; see "gridhook org create --help"`},
		{"org create acme --id acme --name A", `unexpected argument "acme"; see`},
		{"home get --org acme", `the home is missing; see "gridhook home get --help"`},
		{"home lst --org acme", `"gridhook home" has no command "lst": did you mean get or list; see "gridhook home --help"`},
		{"trigger", `--org must be given; see "gridhook trigger --help"`},
		{"trigger --org acme --start 1h", `--start and --end must be given together; see "gridhook trigger --help"`},
		{"trigger --org acme --start tomorrow --end 1h", `--start must be a time such as 2026-07-01T00:00:00Z, or a duration such as 24h, not "tomorrow"; see "gridhook trigger --help"`},
		{"key create --org acme --expires never", `--expires must be a time such as`},
		{"key create --org acme --expires 0001-01-01T00:00:00Z", `--expires must be in the years 2000 to 2199, not "0001-01-01T00:00:00Z"; see`},
		{"operator create --name a --role read --expires 2200-01-01T00:00:00Z", `--expires must be in the years 2000 to 2199, not "2200-01-01T00:00:00Z"; see`},
		{"trigger --org acme --start 0001-01-01T00:00:00Z --end 0001-01-01T00:00:00Z", `--start must be in the years 2000 to 2199, not "0001-01-01T00:00:00Z"; see`},
		{"delivery list --org acme --since 1000000h", `--since must be in the years 2000 to 2199, not "-1000000h0m0s"; see`},
		{"home update home-1 --org acme", `name at least one change with a flag; see "gridhook home update --help"`},
		{"endpoint update ep_1 --org acme", `name at least one change with a flag; see "gridhook endpoint update --help"`},
		{"endpoint create --org acme --url u --header x", `--header must be "Name: value", not "x"`},
		{"org list --admin-url localhost:8081", `--admin-url must be a URL such as http://127.0.0.1:8081, not "localhost:8081"`},
		{"import", `the file is missing; see "gridhook import --help"`},
		{"import --format xml -", `--format must be one of ndjson, csv, market, greenbutton, not "xml"`},
		{"endpoint create --org acme --url https://example.com/h --secret-file -", `-: the file is empty; see "gridhook endpoint create --help"`},
		{"context add partner --api-url https://example.com --api-key-file -", `-: the file is empty`},
		{"bill --tariff b --catalog a", `--catalog and --tariff exclude each other; see "gridhook bill --help"`},
		{"context add x", `--admin-url or --data or --api-url must be given; see "gridhook context add --help"`},
		{"endpoint create --org acme --url https://a.example --oauth-client-id c", `--oauth-token-url and --oauth-client-id must be given together; see`},
		{"signal h1 --org acme --from 1h", `--from and --to must be given together`},
		{"serve --slices none", `slices (flag --slices) must be a whole number, not "none"; see "gridhook serve --help"`},
		{"worker", `nats (not set) is required by gridhook worker`},
		{"plan add pge-e-elek", `plan "pge-e-elek" not found in the catalog: did you mean pge-e-elec; see "gridhook plan add --help"`},
		{"plan add pge-e-tou-c", `plan "pge-e-tou-c" not found in the catalog: did you mean pge-e-tou-c-p or pge-e-tou-c-q or `},
		{"plan add pge", `plan "pge" not found in the catalog: did you mean pge-e-elec, pge-ev2-a, pge-e-1-p, pge-e-1-q, pge-e-1-r, pge-e-1-s, pge-e-1-t, pge-e-1-v, pge-e-1-w, pge-e-1-x, or one of 13 more; see`},
		{"plan add frobnicate", `plan "frobnicate" not found in the catalog: run gridhook plan catalog for a list`},
		{"plan add", `name a plan of the catalog, or parts with --part`},
		{"plan add pge-e-elec --id p --part DELIVERY=a", `--part conflicts with the plan pge-e-elec of the catalog`},
		{"plan add --part DELIVERY=a", `--id must be given with --part`},
		{"plan add --id p --part a", `--part must be ROLE=PLAN, not "a"`},
		{"trigger --org acme --timeout 1m", `--timeout needs --watch`},
		{"trigger --org acme --watch --timeout=-2s", `--timeout must be 0 or more, not -2s`},
		{"delivery list --org acme --limit -1", `--limit must be 0 or more, not -1`},
		{"bill --plan p --api-url http://127.0.0.1:1 --api-key k", `rate plans belong to the operator and a partner's key has no access`},
		{"serve extra", `unexpected argument "extra"`},
	}
	for _, test := range tests {
		t.Run(test.args, func(t *testing.T) {
			got := run(t, nil, "", strings.Fields(test.args))
			if got.code != exitUsage || got.out != "" {
				t.Errorf("exit %d, want %d; it shows %q", got.code, exitUsage, got.out)
			}
			if !strings.HasPrefix(got.err, "gridhook: "+test.says) || strings.Count(got.err, "\n") != 1 {
				t.Errorf("it says\n%swant\ngridhook: %s", got.err, test.says)
			}
		})
	}
}

func TestSettings_ErrorPerLine(t *testing.T) {
	got := run(t, nil, "", []string{"serve", "--slices", "none", "--http", "x"})
	lines := strings.Split(strings.TrimSpace(got.err), "\n")
	if got.code != exitUsage || len(lines) != 4 || lines[0] != "gridhook: 2 settings are wrong:" || lines[3] != `See "gridhook serve --help".` {
		t.Errorf("exit %d\n%s", got.code, got.err)
	}
}

// Every command has a help that says what it does, and exits 0.
func TestHelp(t *testing.T) {
	for _, args := range [][]string{nil, {"--help"}, {"org"}, {"org", "create", "--help"}, {"serve", "--help"}, {"help", "import"}} {
		if got := run(t, nil, "", args); got.code != 0 || !strings.Contains(got.out, "Usage:") || got.err != "" {
			t.Errorf("%v: exit %d, %q, %q", args, got.code, got.out, got.err)
		}
	}
}

// An error of the server names the flag of a wrong field, of several flags the given one.
func TestErrors_Flags(t *testing.T) {
	for _, test := range []struct{ args, path, field, says, message string }{
		{"signal h1 --org acme --from 2h --to 1h", "/v1/homes/h1/price_signal", "endTime", "--to: is not after --from, onChange", "is not after startTime, onChange"},
		{"schedule create --org acme --every 48h", "/v1/webhook/schedules/create", "everyMinutes", "--every: must be from 1 to 1440 minutes", "must be from 1 to 1440"},
		{"schedule create --org acme --every 5 --cron x", "/v1/webhook/schedules/create", "cron", "--cron: cannot be combined with --every", "cannot be combined with everyMinutes"},
		{"endpoint replay ep_1 --org acme --since 1h --outcome x", "/v1/webhook/endpoints/ep_1/replay", "outcomes[0]", "--outcome: is bad", ""},
		{"org delete acme --confirm bolt", "/v1/admin/organizations/acme/delete", "confirm", "--confirm: is bad", ""},
		{"endpoint create --org acme --url https://a.example --event x", "/v1/webhook/endpoints/create", "eventTypes[0]", "--event: is bad", ""},
		{"plan event create tou --from 1h --to 2h --adder 1", "/v1/admin/plan_events/create", "adder", "--adder: is bad", ""},
		{"plan event create tou --from 1h --to 2h --rebate 1", "/v1/admin/plan_events/create", "adder", "--rebate: is bad", ""},
		{"endpoint create --org acme --url https://a.example", "/v1/webhook/endpoints/create", "authentication.type", "authentication.type: is bad", ""},
		{"signal h1 --org acme", "/v1/homes/h1/price_signal", "timezone", "timezone: is bad", ""},
		{"bill h1 --org acme --load " + hoursOf(t, 24, 1), "/v1/homes/h1/bill", "loadKwh", "--load: is bad", ""},
	} {
		f := newFake(t)
		f.on(test.path, answer{400, `{"error_code":"VALIDATION_FAILED","message":"m","field_errors":[{"field":"` + test.field + `","message":"` + cmp.Or(test.message, "is bad") + `"}]}`})
		if got := run(t, f, "", strings.Fields(test.args)); got.code != exitFailure || got.err != "gridhook: "+test.says+"\n" {
			t.Errorf("%s: exit %d, %q, want %q", test.args, got.code, got.err, test.says)
		}
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		name   string
		answer answer
		says   string
	}{
		{
			"every wrong field", answer{400, `{"error_code":"VALIDATION_FAILED","message":"m","recovery_action":"r","field_errors":[{"field":"name","message":"is required"},{"field":"id","message":"is bad"}]}`},
			"--name: is required; --id: is bad",
		},
		{
			"another organization", answer{403, `{"error_code":"FORBIDDEN","message":"No.","recovery_action":"Omit organizationId and the header x-gridhook-organization to act for it."}`},
			"No. Omit --org to act for it",
		},
		{
			"what to do", answer{409, `{"error_code":"CONFLICT","message":"There is already one.","recovery_action":"Use another identifier."}`},
			"There is already one. Use another identifier",
		},
		{
			"a fault with its request", answer{503, `{"request_id":"req_1","error_code":"UNAVAILABLE","message":"Not now.","recovery_action":"Send it again after retry_after_seconds.","retry_after_seconds":5}`},
			"Not now. Send it again after 5 seconds (request req_1)",
		},
		{"no Gridhook", answer{404, `<html>`}, "responded 404 Not Found, but not like a Gridhook server"},
		{"no answer to read", ok(`{`), "read the response of /v1/admin/organizations/create: unexpected end of JSON input"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(t)
			f.on("/v1/admin/organizations/create", test.answer)
			got := run(t, f, "", []string{"org", "create", "--name", "x"})
			if got.code != exitFailure || got.out != "" {
				t.Errorf("exit %d, want %d; it shows %q", got.code, exitFailure, got.out)
			}
			if !strings.HasPrefix(got.err, "gridhook: ") || !strings.HasSuffix(got.err, test.says+"\n") {
				t.Errorf("it says %q, want %q", got.err, test.says)
			}
		})
	}
}

func TestKey_Rejected(t *testing.T) {
	f := newFake(t)
	f.on("/v1/admin/organizations/list", answer{401, `{"error_code":"AUTH_INVALID_API_KEY","message":"m"}`})
	got := run(t, f, "", []string{"org", "list"})
	want := "gridhook: the server at " + f.URL + " refused the operator's key from GRIDHOOK_OPERATOR_KEY: use the operator.key of that server's data folder, and the address of its admin listener\n"
	if got.code != exitFailure || got.err != want {
		t.Errorf("exit %d\n%swant\n%s", got.code, got.err, want)
	}
}

// The address of the partners' API has no operations of the operator.
func TestServer_WrongListener(t *testing.T) {
	f := newFake(t)
	f.on("/v1/admin/organizations/list", answer{404, `{"error_code":"NOT_FOUND","message":"There is no operation at this path.","recovery_action":"Check the path."}`})
	got := run(t, f, "", []string{"org", "list"})
	want := "gridhook: the server at " + f.URL + " has no such operation: name the address of its admin listener with --admin-url\n"
	if got.code != exitFailure || got.err != want {
		t.Errorf("exit %d\n%swant\n%s", got.code, got.err, want)
	}
}

func TestServer_Unreachable(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	got := run(t, nil, "", []string{"org", "list", "--admin-url", gone.URL})
	want := "gridhook: no server at " + gone.URL + ": start one with \"gridhook serve\", or name its address with --admin-url\n"
	if got.code != exitFailure || got.err != want {
		t.Errorf("exit %d\n%swant\n%s", got.code, got.err, want)
	}
}

func TestServer_UnknownAuthority(t *testing.T) {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	got := run(t, nil, "", []string{"org", "list", "--admin-url", s.URL})
	if want := ": name the file of its certificate authority in SSL_CERT_FILE\n"; got.code != exitFailure || !strings.HasSuffix(got.err, want) {
		t.Errorf("exit %d\n%swant\n%s", got.code, got.err, want)
	}
}

// The operator's key comes from the variable, or from the file in the data folder.
func TestOperatorKey(t *testing.T) {
	f := newFake(t)
	f.on("/v1/admin/organizations/list", ok(data()))
	folder := t.TempDir()
	file := filepath.Join(folder, "operator.key")
	list := []string{"org", "list", "--data", folder}
	noKey := "GRIDHOOK_OPERATOR_KEY=" // the first variable of a name counts

	got := run(t, f, "", list, noKey)
	if want := "gridhook: operator's key not found at " + file + ": name the server's data folder with --data, or set GRIDHOOK_OPERATOR_KEY\n"; got.code != exitFailure || got.err != want {
		t.Errorf("without a file: exit %d\n%swant\n%s", got.code, got.err, want)
	}
	for content, want := range map[string]string{" \n": "", "gho_file\n": "gho_file"} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		got = run(t, f, "", list, noKey)
		switch {
		case want == "" && (got.code != exitFailure || !strings.Contains(got.err, file+" is empty")):
			t.Errorf("with an empty file: exit %d, %s", got.code, got.err)
		case want != "" && f.last().key != want:
			t.Errorf("the key sent is %q, want %q", f.last().key, want)
		}
	}
	if run(t, f, "", list); f.last().key != testKey {
		t.Errorf("the key sent is %q, want the variable's", f.last().key)
	}
}

func TestFlags_Environment(t *testing.T) {
	f := newFake(t)
	f.on("/v1/homes/list", ok(data()))
	if got := run(t, f, "", []string{"home", "list"}, "GRIDHOOK_ORG=acme"); got.code != 0 || f.last().org != "acme" {
		t.Errorf("exit %d, acting for %q: %s", got.code, f.last().org, got.err)
	}
	if got := run(t, f, "", []string{"home", "list", "--org", "beta"}, "GRIDHOOK_ORG=acme"); got.code != 0 || f.last().org != "beta" {
		t.Errorf("exit %d, acting for %q: %s", got.code, f.last().org, got.err)
	}
}

// A plan that an organization does not have may be a shared plan.
func TestPlanGet_Shared(t *testing.T) {
	f := newFake(t)
	f.on("/v1/admin/plans/flat/get", answer{404, `{"error_code":"NOT_FOUND","message":"There is no rate plan \"flat\" in organization \"acme\"."}`})
	got := run(t, f, "", []string{"plan", "get", "flat"}, "GRIDHOOK_ORG=acme")
	if want := `: look for it with --org "" among the plans that all organizations share`; got.code != exitFailure || !strings.Contains(got.err, want) {
		t.Errorf("exit %d: %s, want %s", got.code, got.err, want)
	}
}

// A test that the receiver does not accept shows the delivery, if there is one, and fails.
func TestTest_NotAccepted(t *testing.T) {
	f := newFake(t)
	f.on("/v1/webhook/endpoints/ep_1/test", ok(`{"id":"msg_1","outcome":"FAILED","status":500,"durationMs":12.3,"reason":"the endpoint responded 500","answer":"down"}`))
	f.on("/v1/channels/ch_1/test", ok(`{"delivered":false,"reason":"status 404"}`))
	for _, test := range []struct{ args, out, err string }{
		{"endpoint test ep_1 --org acme", "outcome   FAILED\nstatus    500\nreason    the endpoint responded 500\nresponse  down\ntook      12.3 ms\nmessage   msg_1\n", "the endpoint did not accept the test"},
		{"channel test ch_1 --org acme --json", "{\n  \"delivered\": false,\n  \"reason\": \"status 404\"\n}\n", "the channel did not accept the test: status 404"},
		{"channel test ch_1 --org acme", "", "the channel did not accept the test: status 404"},
	} {
		if got := run(t, f, "", strings.Fields(test.args)); got.code != exitFailure || got.out != test.out || !strings.Contains(got.err, test.err) {
			t.Errorf("%s: exit %d, %q\n%s", test.args, got.code, got.out, got.err)
		}
	}
}
