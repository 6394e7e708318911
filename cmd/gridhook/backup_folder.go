package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// backupName is the name of a backup in a folder. Names sort by age.
const (
	backupName = "gridhook-20060102T150405Z.backup"
	backupGlob = "gridhook-????????T??????Z.backup"
)

// backupPath returns where a backup is written: to a file, or to a new file in a folder.
func backupPath(to string, now time.Time) (path string, folder bool) {
	if info, err := os.Stat(to); err != nil || !info.IsDir() {
		return to, false
	}
	return filepath.Join(to, now.UTC().Format(backupName)), true
}

// deleteOldBackups deletes all but the newest backups of a folder and returns their paths.
func deleteOldBackups(folder string, keep int) ([]string, error) {
	all, err := filepath.Glob(filepath.Join(folder, backupGlob))
	if err != nil {
		return nil, fmt.Errorf("list the backups of %s: %w", folder, err)
	}
	slices.Sort(all)
	old := all[:max(0, len(all)-keep)]
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	return old, nil
}
