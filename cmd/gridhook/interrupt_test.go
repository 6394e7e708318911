package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"filippo.io/age"

	"github.com/gridhook/gridhook/config"
)

func signalSelf(t *testing.T, s syscall.Signal) {
	if err := syscall.Kill(os.Getpid(), s); err != nil {
		t.Error(err)
	}
}

// TestInterrupt_Backup checks that a signal leaves no part of a backup behind.
func TestInterrupt_Backup(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "part") // a failed write fails the test
		_ = http.NewResponseController(w).Flush()
		signalSelf(t, syscall.SIGTERM)
		<-r.Context().Done()
	}))
	defer server.Close()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	got := run(t, nil, "", []string{"backup", filepath.Join(dir, "b"), "--recipient", identity.Recipient().String(), "--admin-url", server.URL})
	if got.code != exitFailure || got.err != "gridhook: terminated signal received\n" {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// silent is an input that interrupts the command and never ends.
type silent struct{ t *testing.T }

func (s silent) Read([]byte) (int, error) {
	signalSelf(s.t, syscall.SIGINT)
	<-s.t.Context().Done()
	return 0, io.EOF
}

// TestInterrupt_StandardInput checks that a signal ends a command that waits for its input.
func TestInterrupt_StandardInput(t *testing.T) {
	got := runWith(t, newFake(t), "", []string{"import", "-"}, func(g *globals) { g.in = silent{t} })
	if got.code != exitFailure || got.err != "gridhook: interrupt signal received\n" {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
}

// TestInterrupt_Hangup checks that a closed terminal stops a server gracefully, although the
// signal arrives twice.
func TestInterrupt_Hangup(t *testing.T) {
	heeded := make(chan os.Signal, 1)
	signal.Notify(heeded, syscall.SIGHUP) // an earlier test may have ended by a signal
	signal.Stop(heeded)
	got := start(t, []string{"serve"}, func(ctx context.Context, _ config.Config) error {
		signalSelf(t, syscall.SIGHUP)
		<-ctx.Done()
		signalSelf(t, syscall.SIGHUP)
		return nil
	})
	if got.code != 0 {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
}

// TestInterrupt_Error checks that a signal does not hide why a server failed to stop.
func TestInterrupt_Error(t *testing.T) {
	got := start(t, []string{"serve"}, func(ctx context.Context, _ config.Config) error {
		signalSelf(t, syscall.SIGTERM)
		<-ctx.Done()
		return errors.New("the disk is full")
	})
	if got.code != exitFailure || got.err != "gridhook: the disk is full\n" {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
}
