package boltfile

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"
)

// clean is the state of a file that was synced before it was closed.
const clean = "clean"

// bootID identifies this boot of the kernel. If the kernel does not provide an
// identifier, only the seal of a clean stop is trusted.
var bootID = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return rand.Text()
	}
	return strings.TrimSpace(string(id))
})

// sealOf returns the modification time that stands for a state. It is an even second,
// which every file system can store. It is before the year 2005, which no clock shows.
func sealOf(state string) time.Time {
	return time.Unix(int64(xxhash.Sum64String("gridhook "+state)%(1<<29))*2, 0)
}

// seal sets a file's modification time. A missing file is no error.
func seal(path, state string) error {
	if err := os.Chtimes(path, time.Time{}, sealOf(state)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// sealed reports whether a file has the seal of a state.
func sealed(path, state string) (bool, error) {
	info, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	return info.ModTime().Equal(sealOf(state)), nil
}

// begin replaces a file's seal with the seal of this boot. It syncs the file if it
// replaces a clean seal, because later writes are not synced.
func begin(path string) error {
	was, err := sealed(path, clean)
	if err = errors.Join(err, seal(path, bootID())); !was || err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0) //nolint:gosec // the path is ours
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
