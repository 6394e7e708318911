package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestBackupFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "backups [eu]")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "one.backup")
	if path, folder := backupPath(file, time.Now()); path != file || folder {
		t.Errorf("a file gives %s, folder %t", path, folder)
	}
	var want []string
	for day := 1; day <= 5; day++ {
		path, folder := backupPath(dir, time.Date(2026, 11, day, 3, 0, 0, 0, time.UTC))
		if !folder {
			t.Fatalf("%s is not recognized as a folder", dir)
		}
		want = append(want, path)
	}
	for _, path := range append(want, file) {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	deleted, err := deleteOldBackups(dir, 2)
	if err != nil || !slices.Equal(deleted, want[:3]) {
		t.Fatalf("deleted %v, %v; want %v", deleted, err, want[:3])
	}
	entries, err := os.ReadDir(dir)
	var left []string
	for _, e := range entries {
		left = append(left, filepath.Join(dir, e.Name()))
	}
	if err != nil || !slices.Equal(left, append(want[3:], file)) {
		t.Errorf("remaining files %v, %v", left, err)
	}
	if deleted, err := deleteOldBackups(dir, 2); err != nil || len(deleted) != 0 {
		t.Errorf("second run: deleted %v, %v", deleted, err)
	}
}

// TestBackup_JSON checks that a backup that deletes nothing has an empty list.
func TestBackup_JSON(t *testing.T) {
	f := newFake(t)
	f.on("/backup", ok("backup"))
	got := run(t, f, "", []string{"backup", filepath.Join(t.TempDir(), "b"), "--json", "--recipient", "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"})
	if got.code != 0 || !strings.Contains(got.out, `"deleted":[]`) && !strings.Contains(got.out, `"deleted": []`) {
		t.Errorf("exit %d, %s: %s", got.code, got.err, got.out)
	}
}

// TestBackup_FullDisk checks that a failed write leaves no file.
func TestBackup_FullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("the system has no device that is always full")
	}
	path := filepath.Join(t.TempDir(), "backup.key")
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fill(f, strings.NewReader("key")); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("the write failed with %v, want ENOSPC", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
}

// TestBackup_KeygenExists checks the error for a key file that exists, and that the file stays.
func TestBackup_KeygenExists(t *testing.T) {
	path := filepath.Join(t.TempDir(), "backup.key")
	if err := os.WriteFile(path, []byte("key"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := run(t, newFake(t), "", []string{"backup", "keygen", path})
	if text, err := os.ReadFile(path); string(text) != "key" || got.code != 1 || !strings.Contains(got.err, path+" exists already: name another file") { //nolint:gosec // of the test itself
		t.Errorf("exit %d, %s: the file has %q, %v", got.code, got.err, text, err)
	}
}

func TestBackup_KeepWithoutFolder(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for keep, want := range map[string]string{
		"2":  "gridhook: --keep needs an existing folder: create " + missing + ", or name another folder;",
		"-1": "gridhook: --keep must be 0 or more, not -1;",
	} {
		got := run(t, nil, "", []string{"backup", missing, "--keep", keep, "--recipient", "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"})
		if got.code != exitUsage || !strings.HasPrefix(got.err, want) {
			t.Errorf("exit %d, %s, want %s", got.code, got.err, want)
		}
	}
}
