package app_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/cmd/internal/app"
)

// A signal during the start is no failure.
func TestRun_StoppedDuringStart(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	o := serving(t.TempDir())
	if err := app.Run(ctx, o.Config, "test", io.Discard); err != nil {
		t.Error(err)
	}
}

func TestStart_ShortOperatorKey(t *testing.T) {
	o := serving(t.TempDir())
	path := filepath.Join(o.Data, app.OperatorKeyFile)
	for _, key := range []string{"", "short", "a long key with spaces"} {
		if err := os.WriteFile(path, []byte(key+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := app.Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), path+" must have at least 16 characters") {
			t.Errorf("with the key %q the start returned %v", key, err)
		}
	}
}

// The remedy holds for every cause: another owner, a file system mounted read-only, a folder.
func TestStart_LockNotWritable(t *testing.T) {
	o := serving(t.TempDir())
	if err := os.Mkdir(filepath.Join(o.Data, "lock"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := app.Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "let this process write to all files in "+o.Data) {
		t.Errorf("the start returned %v", err)
	}
}
