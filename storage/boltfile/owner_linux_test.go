package boltfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// A file of another user cannot be sealed, so it is rebuilt.
func TestOpen_OtherOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a file away")
	}
	folder, err := os.MkdirTemp("", "owner") //nolint:usetesting // the folders around t.TempDir are root's
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "view.db")
	f := open(t, path)
	put(t, f, "one", "a", "1")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	// The group may write to both, as in a volume of Kubernetes with an fsGroup.
	const user, other, group = 1001, 1002, 2000
	for path, mode := range map[string]os.FileMode{folder: 0o770, path: 0o660} {
		if err := errors.Join(os.Chown(path, other, group), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	}
	// Both hold for this thread only. It ends with the goroutine, because it stays locked.
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if err := errors.Join(syscall.Setfsgid(group), syscall.Setfsuid(user)); err != nil {
			t.Error(err)
			return
		}
		f := open(t, path)
		if got := content(t, f); len(got) != 0 {
			t.Errorf("the file of another user is still in use: %v", got)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	<-done
}
