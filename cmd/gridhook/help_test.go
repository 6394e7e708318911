package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// commands returns the visible commands, with their paths.
func commands(under *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	for _, c := range under.Commands() {
		switch {
		case c.Hidden || c.Name() == "help" || c.Name() == "completion":
		case c.HasSubCommands():
			all = append(all, commands(c)...)
			if c.Name() == "trigger" { // a command that has subcommands and also runs
				all = append(all, c)
			}
		case c.Runnable():
			all = append(all, c)
		}
	}
	return all
}

// word matches a word of a shell, quoted or not.
var word = regexp.MustCompile(`"([^"]*)"|(\S+)`)

// words returns the arguments of an example's line up to a pipe or redirection, nil if
// the line runs another program.
func words(line string) []string {
	line = strings.TrimSpace(strings.TrimPrefix(line, "  "))
	for strings.Contains(strings.SplitN(line, " ", 2)[0], "=") { // an environment variable
		_, line, _ = strings.Cut(line, " ")
	}
	line, ok := strings.CutPrefix(line, "gridhook ")
	if !ok {
		return nil
	}
	var all []string
	for _, m := range word.FindAllStringSubmatch(line, -1) {
		if strings.ContainsAny(m[0][:1], "#|<>&\\") {
			break
		}
		all = append(all, m[1]+m[2])
	}
	return all
}

func TestHelp_UnknownCommand(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"help", "foo"}, exitUsage, `unknown command "foo"`},
		{[]string{"help", "hoem"}, exitUsage, "did you mean home"},
		{[]string{"help", "home", "foo"}, exitUsage, `"gridhook home" has no command "foo"`},
		{[]string{"help"}, 0, ""},
		{[]string{"help", "home"}, 0, ""},
		{[]string{"help", "backup"}, 0, ""},
		{[]string{"help", "home", "get"}, 0, ""},
		{[]string{"help", "exit-codes"}, 0, ""},
	} {
		var errs bytes.Buffer
		g := &globals{out: &bytes.Buffer{}, err: &errs}
		if code := g.execute(t.Context(), c.args); code != c.code || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%v: exit code %d, %q; want %d, %q", c.args, code, errs.String(), c.code, c.want)
		}
	}
}

// Every command has an example, and the command line accepts every example.
func TestExamples(t *testing.T) {
	g := &globals{out: &bytes.Buffer{}, err: &bytes.Buffer{}}
	for _, c := range commands(newRoot(g)) {
		if c.Example == "" {
			t.Errorf("%s has no example", c.CommandPath())
		}
		for line := range strings.Lines(c.Example) {
			args := words(strings.TrimRight(line, "\n"))
			if args == nil || strings.HasSuffix(strings.TrimSpace(line), `\`) {
				continue // a part for another program, or a continued line
			}
			root := newRoot(g)
			found, rest, err := root.Find(args)
			if err == nil {
				err = found.ParseFlags(rest)
			}
			if err == nil && found.Args != nil {
				err = found.Args(found, found.Flags().Args())
			}
			if err == nil {
				err = g.checkRequired(found)
			}
			if err != nil {
				t.Errorf("%s: %q: %v", c.CommandPath(), strings.TrimSpace(line), err)
			}
		}
	}
}

// Each shell accepts its completion script.
func TestCompletion(t *testing.T) {
	for shell, begins := range map[string]string{"bash": "# bash completion", "zsh": "#compdef gridhook", "fish": "# fish completion"} {
		got := run(t, nil, "", []string{"completion", shell})
		if got.code != 0 || !strings.HasPrefix(got.out, begins) {
			t.Errorf("%s: exit %d, %.80q", shell, got.code, got.out)
		}
		path, err := exec.LookPath(shell)
		if err != nil {
			continue // the shell is not installed
		}
		check := exec.CommandContext(t.Context(), path, "-n")
		check.Stdin = strings.NewReader(got.out)
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s does not accept its script: %v\n%s", shell, err, out)
		}
	}
}

// Completion offers commands, their flags, and the values of a flag.
func TestCompletion_Words(t *testing.T) {
	tests := []struct{ line, want string }{
		{"ver", "verify\tCheck the signature"},
		{"endpoint up", "update\tChange the settings that the flags name"},
		{"listen --fai", "--fail\t"},
		{"delivery list --outcome SUP", "SUPERSEDED"},
		{"endpoint create --mode on", "onChange"},
		{"endpoint create --signature ed", "ed25519"},
		{"key create --scopes tr", "trigger"},
		{"home list -o wi", "table\nwide\njson\n:4"},
		{"version --output js", "json\n:4"},
		{"import --format gr", "greenbutton\n:4"},
		{"home list --context pro", "production\n:4"},
		{"context use pro", "production\n:4"},
	}
	file := writeFile(t, "contexts.yaml", "contexts: {production: {data: /srv}}\n")
	for _, test := range tests {
		got := run(t, nil, "", append([]string{"__complete"}, strings.Split(test.line, " ")...), contextsEnv+"="+file)
		if got.code != 0 || !strings.Contains(got.out, test.want) {
			t.Errorf("the completion of %q is\n%s", test.line, got.out)
		}
	}
}

// Identifiers come from the server.
func TestCompletion_Identifiers(t *testing.T) {
	f := newFake(t)
	f.on("/v1/webhook/endpoints/list", ok(data(endpointJSON)))
	f.on("/v1/homes/list", ok(data(homeJSON)))
	f.on("/v1/admin/keys/list", ok(data(`{"keyId":"key_1"}`)))
	f.on("/v1/admin/operator_keys/list", ok(data(`{"keyId":"opk_1"}`)))
	f.on("/v1/admin/organizations/list", ok(data(`{"id":"beta"}`)))
	f.on("/v1/webhook/price_signal/trigger/list", ok(data(`{"triggerId":"trg_1"}`)))
	f.on("/v1/admin/plans/list", ok(data(`{"id":"own"}`)), ok(data(`{"id":"shared"}`)))
	for _, test := range []struct{ line, want string }{
		{"endpoint get ", "ep_1"},
		{"endpoint test ", "ep_1"},
		{"endpoint replay --since 1h ", "ep_1"},
		{"home delete ", "h1"},
		{"signal ", "h1"},
		{"bill ", "h1"},
		{"savings ", "h1"},
		{"key revoke ", "key_1"},
		{"console revoke ", "key_1"},
		{"operator revoke ", "opk_1"},
		{"org get ", "beta"},
		{"trigger get ", "trg_1"},
		{"home update h1 --plan ", "own\nshared"},
		{"plan event list ", "shared"},
		{"delivery list --home ", "h1"},
		{"delivery list --endpoint ", "ep_1"},
		{"delivery list --trigger ", "trg_1"},
		{"status --org ", "beta"},
		{"endpoint create --home ", "h1"},
	} {
		got := run(t, f, "", append([]string{"__complete"}, strings.Split(test.line, " ")...), "GRIDHOOK_ORG=acme")
		if got.code != 0 || !strings.HasPrefix(got.out, test.want+"\n:4\n") {
			t.Errorf("the completion of %q is\n%s", test.line, got.out)
		}
	}
	if got := run(t, nil, "", []string{"__complete", "home", "get", "--admin-url", "http://127.0.0.1:1", ""}); got.code != 0 || strings.HasPrefix(got.out, "h1") {
		t.Errorf("without a server it offers\n%s", got.out)
	}
}

// The help of restore lists the settings that it uses. It accepts the others.
func TestHelp_Restore(t *testing.T) {
	got := run(t, nil, "", []string{"restore", "--rate-limit", "5", "--help"})
	for flag, shown := range map[string]bool{"--data ": true, "--nats-replicas ": true, "--receipts-age ": true, "--rate-limit ": false, "--http ": false} {
		if strings.Contains(got.out, flag) != shown {
			t.Errorf("%sis listed: %v, want %v", flag, !shown, shown)
		}
	}
}

// The help of a command lists the connection flags that it uses.
func TestHelp_Connection(t *testing.T) {
	for command, want := range map[string]struct{ admin, api bool }{
		"home create": {true, false}, "home list": {true, true}, "home": {true, true}, "org": {true, false}, "plan event create": {true, false},
		"import": {true, false}, "backup": {true, false}, "backup keygen": {}, "plan catalog": {}, "plan": {true, false}, "trigger get": {true, true}, "bill": {true, true},
	} {
		for _, args := range [][]string{append(strings.Fields(command), "--help"), append([]string{"help"}, strings.Fields(command)...)} {
			got := run(t, nil, "", args).out
			if strings.Contains(got, "--admin-url") != want.admin || strings.Contains(got, "--api-url") != want.api || strings.Contains(got, "--api-key") != want.api {
				t.Errorf("the help of %s lists\n%s", command, got)
			}
		}
	}
}

// A data folder on the command line and a NATS in the environment are two targets. A restore
// into the wrong one would delete data.
func TestRestore_TwoTargets(t *testing.T) {
	const environ = "GRIDHOOK_NATS=nats://127.0.0.1:1"
	args := []string{"restore", "missing", "--identity", "missing", "--data", t.TempDir()}
	if got := run(t, nil, "", args, environ); got.code != exitUsage || !strings.Contains(got.err, "name two targets") {
		t.Errorf("exit %d, %s", got.code, got.err)
	}
	if got := run(t, nil, "", append(args, "--nats", ""), environ); got.code != exitFailure {
		t.Errorf("exit %d, %s", got.code, got.err)
	}
}

func TestHelp_ExitCodes(t *testing.T) {
	for _, args := range [][]string{{"help", "exit-codes"}, {"help", "output"}} {
		got := run(t, nil, "", args)
		if got.code != 0 || !strings.Contains(got.out, "\n") {
			t.Errorf("%v: exit %d, %s", args, got.code, got.out)
		}
	}
	for _, code := range []int{0, exitFailure, exitUsage, exitWarnings} {
		if got := run(t, nil, "", []string{"help", "exit-codes"}); !strings.Contains(got.out, fmt.Sprintf("\n  %d  ", code)) {
			t.Errorf("the exit code %d is not documented:\n%s", code, got.out)
		}
	}
	for _, command := range []string{"endpoint test", "channel test", "source check", "status"} {
		if got := run(t, nil, "", []string{"help", "exit-codes"}); !strings.Contains(strings.Join(strings.Fields(got.out), " "), command) {
			t.Errorf("the failure of %s is not documented:\n%s", command, got.out)
		}
	}
	if got := run(t, nil, "", []string{"--help"}); !strings.Contains(got.out, "gridhook exit-codes") {
		t.Errorf("the help does not link to the exit codes:\n%s", got.out)
	}
}

// The help of an export lists what is not in the file.
func TestOrgExport_LeftOut(t *testing.T) {
	got := strings.Join(strings.Fields(run(t, nil, "", []string{"org", "export", "--help"}).out), " ")
	if want := "Revoked and expired keys, replays and deliveries are not in the file."; !strings.Contains(got, want) {
		t.Errorf("the help does not say %q:\n%s", want, got)
	}
}
