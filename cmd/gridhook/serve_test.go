package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/gridhook/gridhook/config"
)

// start runs a command line with a given function as the server.
func start(t *testing.T, args []string, server func(context.Context, config.Config) error) result {
	t.Helper()
	var out, errs bytes.Buffer
	g := &globals{out: &out, err: &errs, run: func(ctx context.Context, c config.Config, _ string, _ io.Writer) error { return server(ctx, c) }}
	return result{g.execute(t.Context(), args), out.String(), errs.String()}
}

func TestServe_Configuration(t *testing.T) {
	for _, role := range config.Roles() {
		args := []string{string(role), "--data", "/d"}
		if role != config.Serve {
			args = append(args, "--nats", "nats://h:1")
		}
		var got config.Config
		if r := start(t, args, func(_ context.Context, c config.Config) error { got = c; return nil }); r.code != 0 {
			t.Errorf("%s: exit %d: %s", role, r.code, r.err)
		}
		if got.Role != role || got.Data != "/d" {
			t.Errorf("%s got %+v", role, got)
		}
	}
}

func TestServe_Failure(t *testing.T) {
	got := start(t, []string{"serve"}, func(context.Context, config.Config) error { return errors.New("the disk is full") })
	if got.code != exitFailure || got.err != "gridhook: the disk is full\n" {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
}

func TestServe_StopSignal(t *testing.T) {
	got := start(t, []string{"serve"}, func(ctx context.Context, _ config.Config) error {
		if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	})
	if got.code != 0 {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
}

func TestServe_PrintConfig(t *testing.T) {
	got := start(t, []string{"serve", "--print-config", "--slices", "5"}, func(context.Context, config.Config) error {
		t.Error("a server was started")
		return nil
	})
	if got.code != 0 || !strings.Contains(got.out, "slices: 5 # flag --slices\n") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.err)
	}
}
