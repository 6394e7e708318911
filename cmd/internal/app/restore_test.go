package app_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/api"
	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/app"
	"github.com/gridhook/gridhook/events/backup"
)

// saved returns a backup of a server with one organization.
func saved(t *testing.T, organization string) *backup.Backup {
	t.Helper()
	private, public, err := backup.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "gridhook.backup")
	at(t, t.TempDir(), func(a *app.App) {
		operator := &client.Client{BaseURL: a.AdminURL(), Key: a.OperatorKeyText()}
		if _, err := operator.CreateOrganization(t.Context(), client.NewOrganization{ID: organization, Name: organization}); err != nil {
			t.Fatal(err)
		}
		status, text := send(t, "POST", a.AdminURL()+api.BackupPath, a.OperatorKeyText(), `{"recipients":["`+public+`"]}`)
		if status != 200 {
			t.Fatal(text)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	b, err := backup.Open(path, private)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func serving(data string) app.Options { return app.Local(data, slog.New(slog.DiscardHandler)) }

// at runs a server on a data folder during do.
func at(t *testing.T, data string, do func(*app.App)) {
	t.Helper()
	started(t, serving(data), do)
}

// started runs a server with options during do.
func started(t *testing.T, o app.Options, do func(*app.App)) {
	t.Helper()
	a, err := app.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := a.Stop(); err != nil {
			t.Error(err)
		}
	}()
	do(a)
}

// knows returns the organizations of a data folder.
func knows(t *testing.T, data string) (ids string) {
	t.Helper()
	at(t, data, func(a *app.App) {
		list, _, err := (&client.Client{BaseURL: a.AdminURL(), Key: a.OperatorKeyText()}).Organizations(t.Context(), client.Page{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list {
			ids += o.ID + " "
		}
	})
	return ids
}

// folders returns the store's folders in a data folder.
func folders(t *testing.T, data string) string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(data, "nats*"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, path := range list {
		names = append(names, filepath.Base(path))
	}
	return strings.Join(names, " ")
}

// TestRestore_Interrupted checks that a restore that is interrupted at any point
// leaves one complete store, and that nothing starts on an empty store instead.
func TestRestore_Interrupted(t *testing.T) {
	t.Parallel()
	older, newer := saved(t, "older"), saved(t, "newer")
	restored := func(t *testing.T) string { // with a store for --replace
		t.Helper()
		data := t.TempDir()
		if err := app.Restore(t.Context(), serving(data), older, false); err != nil {
			t.Fatal(err)
		}
		return data
	}
	move := func(t *testing.T, data, from, to string) {
		t.Helper()
		if err := os.Rename(filepath.Join(data, from), filepath.Join(data, to)); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(t *testing.T, data, says string) {
		t.Helper()
		a, err := app.Start(t.Context(), serving(data))
		if err == nil {
			t.Error("the server started with an empty store", a.Stop())
		} else if !strings.Contains(err.Error(), "a restore into "+data+" was interrupted: run gridhook restore again") || !strings.Contains(err.Error(), says) {
			t.Errorf("the error is %v", err)
		}
	}
	for _, test := range []struct {
		name  string
		leave func(t *testing.T) string
		check func(t *testing.T, data string)
	}{
		{"before anything was moved", func(t *testing.T) string {
			data := restored(t)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := app.Restore(ctx, serving(data), newer, true); err == nil {
				t.Error("a canceled restore was completed")
			}
			return data
		}, func(t *testing.T, data string) {
			if got := knows(t, data); got != "older " || folders(t, data) != "nats" {
				t.Errorf("the organizations are %q, from %s", got, folders(t, data))
			}
		}},
		{"while the first was filled", func(t *testing.T) string {
			data := restored(t)
			move(t, data, "nats", "nats.restoring")
			return data
		}, func(t *testing.T, data string) { refused(t, data, "delete "+filepath.Join(data, "nats.restoring")) }},
		{"between the two moves", func(t *testing.T) string {
			data := restored(t)
			move(t, data, "nats", "nats.replaced")
			if err := os.CopyFS(filepath.Join(data, "nats.restoring"), os.DirFS(filepath.Join(data, "nats.replaced"))); err != nil {
				t.Fatal(err)
			}
			return data
		}, func(t *testing.T, data string) {
			if got := knows(t, data); got != "older " || folders(t, data) != "nats" {
				t.Errorf("the organizations are %q, from %s", got, folders(t, data))
			}
		}},
		{"with the replaced store alone", func(t *testing.T) string {
			data := restored(t)
			move(t, data, "nats", "nats.replaced")
			return data
		}, func(t *testing.T, data string) {
			refused(t, data, "rename "+filepath.Join(data, "nats.replaced"))
			if err := app.Restore(t.Context(), serving(data), newer, false); !errors.Is(err, backup.ErrExists) {
				t.Errorf("the replaced store was deleted without --replace: %v", err)
			}
		}},
		{"before the replaced store is deleted", func(t *testing.T) string {
			data := restored(t)
			for _, left := range []string{"nats.replaced", "nats.restoring"} {
				if err := os.CopyFS(filepath.Join(data, left), os.DirFS(filepath.Join(data, "nats"))); err != nil {
					t.Fatal(err)
				}
			}
			return data
		}, func(t *testing.T, data string) {
			if got := knows(t, data); got != "older " || folders(t, data) != "nats" {
				t.Errorf("the organizations are %q, from %s", got, folders(t, data))
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			data := test.leave(t)
			test.check(t, data)
			if err := app.Restore(t.Context(), serving(data), newer, true); err != nil {
				t.Fatal(err)
			}
			if got := knows(t, data); got != "newer " || folders(t, data) != "nats" {
				t.Errorf("after the second restore the organizations are %q, from %s", got, folders(t, data))
			}
		})
	}
}
