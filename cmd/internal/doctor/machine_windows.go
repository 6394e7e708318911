package doctor

import (
	"errors"
	"os"
)

// openFiles returns ErrUnsupported, because Windows has no limit per process.
func openFiles() (uint64, error) { return 0, errors.ErrUnsupported }

// writable creates a file, because the file mode does not show permissions on Windows.
func writable(folder string) error {
	f, err := os.CreateTemp(folder, "gridhook-doctor-")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
