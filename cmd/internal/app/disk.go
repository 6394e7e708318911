package app

import (
	"io/fs"
	"path/filepath"

	"github.com/gridhook/gridhook/config"
)

// StoreLimit returns the limit of the embedded server's store in bytes: max-store, or
// without a setting what the store has and half of the free bytes. The other half is for the
// bbolt files, which hold the same once more. The server's own default is three quarters of the
// free bytes alone, so a store that has grown would be full after a restart.
func StoreLimit(c *config.Config, free uint64) uint64 {
	if c.MaxStore > 0 {
		return uint64(c.MaxStore)
	}
	return Used(filepath.Join(c.Data, natsFolder)) + free/2
}

// Used returns the size in bytes of the files below a folder. It skips files that it cannot
// read.
func Used(folder string) (bytes uint64) {
	_ = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it is not counted
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			bytes += uint64(info.Size()) //nolint:gosec // never negative
		}
		return nil
	})
	return bytes
}
