package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
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
