package app_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/app"
)

// deletes creates an organization, changes its name and deletes it. NATS still has the
// first name.
func deletes(t *testing.T, a *app.App, id string) {
	t.Helper()
	operator, name := &client.Client{BaseURL: a.AdminURL(), Key: a.OperatorKeyText()}, "Caracal"
	_, err := operator.CreateOrganization(t.Context(), client.NewOrganization{ID: id, Name: "Ocelot of " + id})
	if err == nil {
		_, err = operator.UpdateOrganization(t.Context(), id, client.OrganizationFields{Name: &name})
	}
	if err == nil {
		_, err = operator.DeleteOrganization(t.Context(), id)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func compact(ctx context.Context, t *testing.T, data string, now time.Time) {
	t.Helper()
	if err := app.CompactStore(ctx, serving(data), now); err != nil {
		t.Fatal(err)
	}
}

// TestNoteErasure_DiskFull checks that a note that does not fit on the disk leaves the former
// note as it is.
func TestNoteErasure_DiskFull(t *testing.T) {
	data, now := t.TempDir(), time.Now()
	folder := filepath.Join(data, "nats")
	if err := errors.Join(os.Mkdir(folder, 0o700), app.NoteErasure(data, now.Add(2*time.Hour))); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	file := filepath.Join(folder, "compaction.json")
	before, err := os.ReadFile(file)
	if err = errors.Join(err, os.Symlink("/dev/full", file+".new")); err != nil {
		t.Fatal(err)
	}
	if err := app.NoteErasure(data, now.Add(time.Hour)); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("the error is %v", err)
	}
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		t.Fatalf("the note was replaced: %v, %v", info, err)
	}
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the note is %q, %v, want %q", after, err, before)
	}
}

// A start after everything of a deleted organization has passed its retention leaves no
// byte of an earlier version of its record. An earlier start changes nothing.
func TestCompactStore(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	at(t, data, func(a *app.App) {
		operator := &client.Client{BaseURL: a.AdminURL(), Key: a.OperatorKeyText()}
		if _, err := operator.CreateOrganization(t.Context(), client.NewOrganization{ID: "stays", Name: "Ocelot of stays"}); err != nil {
			t.Fatal(err)
		}
		deletes(t, a, "leaves")
	})
	compact(t.Context(), t, data, time.Now())
	if !inFiles(t, data, "Ocelot of leaves") {
		t.Fatal("the store has no earlier version of the record: this test shows nothing about it")
	}
	compact(t.Context(), t, data, time.Now().AddDate(1, 0, 0))
	if inFiles(t, data, "Ocelot of leaves") || !inFiles(t, data, "Ocelot of stays") {
		t.Error("the compacted store has the earlier version, or lacks the other organization")
	}
	if got := knows(t, data); got != "stays " {
		t.Errorf("the organizations are %q, want stays alone", got)
	}
	if got := folders(t, data); got != "nats" {
		t.Errorf("the folders are %q", got)
	}
}

// The store is compacted when the first of several deletions is due, and again for the
// later ones.
func TestCompactStore_SeveralDeletions(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for _, id := range []string{"first", "second"} {
		o := serving(data)
		if id == "second" {
			o.TriggersAge = 60 * day
		}
		started(t, o, func(a *app.App) { deletes(t, a, id) })
	}
	compact(t.Context(), t, data, time.Now().Add(40*day))
	if inFiles(t, data, "Ocelot of first") {
		t.Error("the first deletion is due, and the store has its bytes")
	}
	at(t, data, func(*app.App) {})
	for age, want := range map[time.Duration]bool{29 * day: false, 70 * day: true} {
		if due, err := app.CompactionDue(data, time.Now().Add(age)); err != nil || due != want {
			t.Errorf("after %s the later deletion is due: %t (%v), want %t", age, due, err, want)
		}
	}
}

// A replica that is rebuilt after the mark of a deletion has expired knows nothing of the
// deletion. The store is compacted all the same.
func TestCompactStore_ReplicaLost(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	at(t, data, func(a *app.App) { deletes(t, a, "leaves") })
	if err := os.Remove(filepath.Join(data, "state.db")); err != nil {
		t.Fatal(err)
	}
	compact(t.Context(), t, data, time.Now().AddDate(1, 0, 0))
	if inFiles(t, data, "Ocelot of leaves") {
		t.Error("the store has bytes of the deletion")
	}
}

// An attempt that fails or is killed is repeated after a day, not at each start.
func TestCompactStore_Failed(t *testing.T) {
	t.Parallel()
	data, due := t.TempDir(), time.Now().AddDate(1, 0, 0)
	at(t, data, func(a *app.App) { deletes(t, a, "leaves") })
	killed, cancel := context.WithCancel(t.Context())
	cancel()
	compact(killed, t, data, due)
	compact(t.Context(), t, data, due.Add(time.Hour))
	if !inFiles(t, data, "Ocelot of leaves") {
		t.Error("the failed attempt is repeated at the next start")
	}
	if due, err := app.CompactionDue(data, due.Add(time.Hour)); err != nil || !due {
		t.Errorf("after the failed attempt the compaction is due: %t (%v)", due, err)
	}
	compact(t.Context(), t, data, due.Add(day))
	if inFiles(t, data, "Ocelot of leaves") {
		t.Error("the attempt is not repeated after a day")
	}
}

const day = 24 * time.Hour

// inFiles reports whether a file in a folder has a text.
func inFiles(t *testing.T, folder, text string) (found bool) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		file, err := os.ReadFile(path) //nolint:gosec // of the test itself
		found = found || bytes.Contains(file, []byte(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
