package promise

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/blackbox"
	"github.com/gridhook/gridhook/cmd/internal/blackbox/blackboxtest"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// patience limits every wait. It only ends a wait that hangs, so it is long enough for a
// slow machine.
const patience = 3 * time.Minute

// binaries are built once, from this tree.
var binaries blackbox.Binaries

func TestMain(m *testing.M) {
	code, err := withBinaries(func() int { return storagetest.Run(m, 6) })
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func withBinaries(run func() int) (code int, err error) {
	dir, err := os.MkdirTemp("", "gridhook-promise-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if binaries, err = blackbox.Build(dir); err != nil {
		return 0, err
	}
	return run(), nil
}

// process is a running Gridhook.
type process struct {
	t       *testing.T
	running *blackbox.Gridhook
	// binary is the program, which also runs the subcommands.
	binary string
	data   string
	// api and admin are the addresses of its listeners.
	api, admin string
}

// start starts `gridhook ROLE` with a data folder and free ports, and returns when it is
// ready.
func start(t *testing.T, role, data string, args ...string) *process {
	t.Helper()
	return startBinary(t, binaries.Gridhook, role, data, args...)
}

// startBinary is start with any version of Gridhook.
func startBinary(t *testing.T, binary, role, data string, args ...string) *process {
	t.Helper()
	running := blackboxtest.Start(t, blackbox.Run{Binary: binary, Role: role, Data: data, Args: args, Patience: patience})
	p := newProcess(t, running)
	p.binary = binary
	return p
}

// newProcess returns a running process of this tree.
func newProcess(t *testing.T, running *blackbox.Gridhook) *process {
	return &process{t: t, running: running, binary: binaries.Gridhook, data: running.Data, api: running.API, admin: running.Admin}
}

// kill is kill -9.
func (p *process) kill() { p.running.Kill() }

// stop stops the process like an operator. It must exit with success.
func (p *process) stop() {
	p.t.Helper()
	if err := p.running.Stop(patience); err != nil {
		p.t.Fatal(err)
	}
}

// command runs a subcommand against the process. It must succeed.
func (p *process) command(args ...string) string {
	p.t.Helper()
	out, err := p.try(args...)
	if err != nil {
		p.t.Fatalf("gridhook %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (p *process) try(args ...string) (string, error) {
	return runBinary(p.t, p.binary, []string{"GRIDHOOK_ADMIN_URL=" + p.admin, "GRIDHOOK_DATA=" + p.data}, args...)
}

// command runs a subcommand and returns stdout, or both outputs with an error.
func command(t *testing.T, env []string, args ...string) (string, error) {
	return runBinary(t, binaries.Gridhook, env, args...)
}

func runBinary(t *testing.T, binary string, env []string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append(blackbox.Environ(), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String() + stderr.String(), err
	}
	return stdout.String(), nil
}

// decode decodes a subcommand's JSON.
func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// nats returns the URL of a real nats-server.
func nats(t *testing.T) string {
	t.Helper()
	url, _ := blackboxtest.StartNATS(t, binaries.NATS, patience)
	return url
}

// freeAddress returns a free loopback address.
func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := blackbox.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}
