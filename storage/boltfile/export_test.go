package boltfile

import (
	"os"
	"time"
)

// Reboot changes a file as if the machine had booted since the last write.
func Reboot(path string) error {
	is, err := sealed(path, bootID())
	if !is || err != nil {
		return err
	}
	return os.Chtimes(path, time.Time{}, sealOf("another boot"))
}
