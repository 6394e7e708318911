package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A context sets what no flag and no variable sets. Its keys are never shown, and are
// sent only to its server.
func TestContext(t *testing.T) {
	f := newFake(t)
	f.on("/v1/webhook/endpoints/list", ok(data(endpointJSON)))
	f.on("/v1/admin/organizations/list", ok(data()))
	file := filepath.Join(t.TempDir(), "gridhook", "contexts.yaml")
	say := func(line string, environ ...string) result {
		return run(t, nil, "", strings.Fields(line), append(environ, "GRIDHOOK_CONTEXTS="+file, "GRIDHOOK_OPERATOR_KEY=")...)
	}
	key := writeFile(t, "api.key", "ghk_partner\n")
	operator := writeFile(t, "operator.key", "gho_operator\n")

	if got := say("context add partner --api-url " + f.URL + " --api-key-file " + key); got.code != 0 || got.out != "The current context is partner.\n" {
		t.Fatalf("exit %d: %s%s", got.code, got.out, got.err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others can read the file of contexts: %v, %v", info, err)
	}
	if got := say("endpoint list"); got.code != 0 || f.last().key != "ghk_partner" || f.last().org != "" {
		t.Errorf("as a partner: exit %d, %s; it sent %+v", got.code, got.err, f.last())
	}
	if got := say("org list"); got.code != exitUsage || !strings.Contains(got.err, "organizations belong to the operator") {
		t.Errorf("a partner requests organizations: exit %d, %s", got.code, got.err)
	}
	if got := say("context add local --admin-url " + f.URL + " --org acme --operator-key-file " + operator); got.code != 0 {
		t.Fatalf("exit %d: %s", got.code, got.err)
	}
	if got := say("org list"); got.code != 0 || f.last().key != "gho_operator" {
		t.Errorf("as the operator: exit %d, %s", got.code, got.err)
	}
	if got := say("endpoint list"); got.code != 0 || f.last().org != "acme" {
		t.Errorf("exit %d, acting for %q: %s", got.code, f.last().org, got.err)
	}
	if got := say("endpoint list --context partner"); got.code != 0 || f.last().key != "ghk_partner" {
		t.Errorf("by another context: exit %d, %s", got.code, got.err)
	}
	want := "CURRENT  NAME     SERVER                  AS        ORGANIZATION\ntrue     local    " + f.URL + "  operator  acme\nfalse    partner  " + f.URL + "  partner   -\n"
	if got := say("context list"); got.out != want {
		t.Errorf("it lists\n%swant\n%s", got.out, want)
	}
	if got := say("endpoint list --context partnr"); got.code == 0 || !strings.Contains(got.err, `context "partnr" not found: did you mean partner`) {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
	if got := say("org list --admin-url " + f.URL + " --data " + t.TempDir()); got.code != exitFailure || !strings.Contains(got.err, "operator's key not found") {
		t.Errorf("another server got the key of the context: exit %d, %s", got.code, got.err)
	}
	// Without an address, a data folder is that of the server at the default address.
	for _, environ := range []string{"GRIDHOOK_API_URL=", "GRIDHOOK_API_URL=" + f.URL} {
		if got := say("org list --data "+t.TempDir(), environ, "GRIDHOOK_API_KEY=ghk_partner"); got.code != exitFailure || !strings.Contains(got.err, "operator's key not found") {
			t.Errorf("with a data folder and %s: exit %d, %s", environ, got.code, got.err)
		}
	}
	if got := say("endpoint list --context partner", "GRIDHOOK_DATA="+t.TempDir()); got.code != exitUsage || !strings.Contains(got.err, "--context and --data (GRIDHOOK_DATA) both name a server") {
		t.Errorf("with a context and a data folder: exit %d, %s", got.code, got.err)
	}
	if got := say("context use partner"); got.code != 0 || got.out != "The current context is partner.\n" {
		t.Errorf("exit %d: %s%s", got.code, got.out, got.err)
	}
	if got := say("context delete partner"); got.code != 0 {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
	if got := say("context use partner"); got.code != exitUsage {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
}

// TestContext_Unknown checks that only commands that need a server need the context.
func TestContext_Unknown(t *testing.T) {
	gone := "GRIDHOOK_CONTEXT=gone"
	if got := run(t, nil, "", []string{"backup", "keygen", filepath.Join(t.TempDir(), "key")}, gone); got.code != 0 {
		t.Errorf("keygen: exit %d, %s", got.code, got.err)
	}
	for _, args := range []string{"org list", "home list"} { // home list needs --org
		if got := run(t, nil, "", strings.Fields(args), gone); got.code != exitUsage || !strings.HasPrefix(got.err, `gridhook: context "gone" not found`) {
			t.Errorf("%s: exit %d, %s", args, got.code, got.err)
		}
	}
	if got := run(t, nil, "", strings.Fields("context add x --api-url gridhook.example.com")); got.code != exitUsage || !strings.Contains(got.err, "--api-url must be a URL such as https://gridhook.example.com") {
		t.Errorf("a context without a URL: exit %d, %s", got.code, got.err)
	}
}

// With the address of the public API a command acts for a partner.
func TestContext_Partner(t *testing.T) {
	f := newFake(t)
	f.on("/v1/webhook/price_signal/trigger/list", ok(data(progressJSON)))
	got := run(t, nil, "", strings.Fields("trigger list"), "GRIDHOOK_API_URL="+f.URL, "GRIDHOOK_API_KEY=ghk_1\r\n")
	if got.code != 0 || f.last().key != "ghk_1" {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
	if got := run(t, nil, "", strings.Fields("trigger list --api-url "+f.URL)); got.code != exitUsage || !strings.Contains(got.err, "GRIDHOOK_API_KEY") {
		t.Errorf("without a key: exit %d: %s", got.code, got.err)
	}
	f.on("/v1/console/links/create", ok(`{"keyId":"key_1","path":"/console/#/link/ghk_1"}`))
	if got := run(t, nil, "", strings.Fields("console link --api-key x --api-url "+f.URL)); !strings.Contains(got.out, f.URL+"/console/#/link/ghk_1") {
		t.Errorf("the link is %s%s", got.out, got.err)
	}
	for _, args := range []string{"org list", "import homes.csv", "backup file"} {
		if got := run(t, nil, "", strings.Fields(args+" --api-key x --api-url "+f.URL)); got.code != exitUsage || !strings.Contains(got.err, "belong to the operator") {
			t.Errorf("%s: exit %d: %s", args, got.code, got.err)
		}
	}
	f.on("/v1/webhook/price_signal/trigger/list", answer{401, `{"error_code":"AUTH_INVALID_API_KEY","message":"m"}`})
	if got := run(t, nil, "", strings.Fields("trigger list --api-key x --api-url "+f.URL)); !strings.Contains(got.err, "refused the API key") {
		t.Errorf("with a wrong key it says %s", got.err)
	}
}

func TestStatus(t *testing.T) {
	f := newFake(t)
	f.on("/readyz", ok(`{"status":"ready"}`))
	f.on("/v1/webhook/endpoints/list", ok(data(endpointJSON)))
	f.on("/v1/webhook/price_signal/trigger/list", ok(data(notificationJSON, progressJSON)))
	got := run(t, f, "", strings.Fields("status --org acme"))
	want := "server        " + f.URL + ", as operator\nready         yes\norganization  acme\nendpoint      ep_1, https://example.com/h: -\n" +
		"last trigger  trg_1, COMPLETED at 2026-07-01T00:00:00Z: 2 delivered, 1 not delivered\n"
	if got.code != 0 || got.out != want {
		t.Errorf("exit %d, %s; it shows\n%swant\n%s", got.code, got.err, got.out, want)
	}
	f.on("/v1/webhook/price_signal/trigger/list", ok(data(notificationJSON)))
	if got := run(t, f, "", strings.Fields("status --org acme")); got.code != 0 || !strings.Contains(got.out, "last trigger  trg_2, COMPLETED") {
		t.Errorf("with a notification only: exit %d, %s; it shows\n%s", got.code, got.err, got.out)
	}
	f.on("/v1/admin/organizations/acme/get", ok(`{"id":"acme","suspended":true}`))
	if got := run(t, f, "", strings.Fields("status --org acme")); got.code != 0 || !strings.Contains(got.out, "organization  acme, suspended\n") {
		t.Errorf("suspended: exit %d, %s; it shows\n%s", got.code, got.err, got.out)
	}
	f.on("/readyz", answer{503, `{"status":"not ready","reason":"NATS is not connected"}`})
	got = run(t, f, "", strings.Fields("status"))
	if got.code != exitFailure || !strings.Contains(got.out, "no: NATS is not connected") {
		t.Errorf("exit %d; it shows\n%s", got.code, got.out)
	}
	f.on("/readyz", answer{404, `{"error_code":"NOT_FOUND"}`})
	if got := run(t, f, "", strings.Fields("status")); got.code != exitFailure || !strings.Contains(got.out, "no: status 404 Not Found\n") {
		t.Errorf("another listener: exit %d; it shows\n%s", got.code, got.out)
	}
}
