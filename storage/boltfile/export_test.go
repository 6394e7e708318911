package boltfile

import (
	"os"
	"time"
)

// Reboot gives a file the modification time that it would have after a boot of the
// kernel, if it had that of this boot.
func Reboot(path string) error {
	is, err := sealed(path, bootID())
	if !is || err != nil {
		return err
	}
	return os.Chtimes(path, time.Time{}, sealOf("another boot"))
}
