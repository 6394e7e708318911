package observe

import (
	"fmt"
	"syscall"
	"testing"
)

// mount makes a folder a file system of some bytes until the test ends.
func mount(t *testing.T, dir string, bytes int) error {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", bytes)); err != nil {
		return fmt.Errorf("this user cannot mount a file system: %w", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return nil
}
