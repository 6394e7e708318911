//go:build linux || darwin || freebsd

package app

import (
	"fmt"
	"path/filepath"
	"syscall"
)

// Space returns the free bytes for this process on a folder's file system, and the file
// system's size.
func Space(folder string) (free, size uint64, err error) {
	var fs syscall.Statfs_t
	path := filepath.Clean(folder)
	if err := syscall.Statfs(path, &fs); err != nil {
		return 0, 0, fmt.Errorf("statfs %s: %w", path, err)
	}
	// The types differ between systems. FreeBSD reports a negative number when only root
	// may use the rest.
	block, available := uint64(fs.Bsize), int64(fs.Bavail) //nolint:gosec,unconvert // see above
	return uint64(max(available, 0)) * block, fs.Blocks * block, nil
}
