package storagetest

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// Run runs the tests of a package with their temporary files in memory, if the system has
// a suitable file system and TMPDIR is not set. NATS syncs every message, and a sync takes
// milliseconds on a disk. Files in memory outlive a killed process too. Do not use Run for
// tests of `gridhook doctor`: it reports a data folder in memory. A positive parallel
// is the number of parallel tests, unless the command line has another: more than the
// processors for tests that wait more than they compute. Run returns the exit code.
func Run(m *testing.M, parallel int) (code int) {
	if parallel > 0 {
		if err := flag.Set("test.parallel", strconv.Itoa(parallel)); err != nil {
			panic(err) // package testing defines the flag
		}
	}
	if memory := memoryFolder(); memory != "" && os.Getenv("TMPDIR") == "" {
		removeAbandoned(memory)
		if dir, err := os.MkdirTemp(memory, "gridhook-test-"); err == nil {
			defer func() { _ = os.RemoveAll(dir) }()
			_ = os.Setenv("TMPDIR", dir) // it is a valid name
		}
	}
	return m.Run()
}

// removeAbandoned removes the folders of tests that were killed more than a day ago.
func removeAbandoned(memory string) {
	folders, _ := filepath.Glob(filepath.Join(memory, "gridhook-test-*")) // the pattern is valid
	for _, folder := range folders {
		if info, err := os.Stat(folder); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
			_ = os.RemoveAll(folder)
		}
	}
}
