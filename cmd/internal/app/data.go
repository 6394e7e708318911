package app

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/gofrs/flock"

	"github.com/gridhook/gridhook/config"
)

// lockFile is the name of the data folder's lock.
const lockFile = "lock"

// lockData locks the data folder for this process.
func (a *App) lockData(context.Context) error {
	if err := os.MkdirAll(a.Data, 0o700); err != nil {
		return fmt.Errorf("create the data folder: %w: set --data to a folder that this user may write to", err)
	}
	path := filepath.Join(a.Data, lockFile)
	lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	taken, err := lock.TryLock()
	if err != nil {
		return fmt.Errorf("lock the data folder: %w: let this process write to all files in %s, or set another --data", err, a.Data)
	}
	if !taken {
		return fmt.Errorf("data folder %s is in use by another gridhook%s: stop it, or set another --data", a.Data, holder(path))
	}
	a.onStop("the lock of the data folder", lock.Unlock)
	// Windows lets nobody write to a locked file. The number only serves a message.
	_ = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600)
	return nil
}

// InUse reports whether a process uses a data folder, and describes the process if known.
func InUse(data string) (used bool, process string, err error) {
	path := filepath.Join(data, lockFile)
	lock := flock.New(path, flock.SetFlag(os.O_RDWR))
	free, err := lock.TryLock()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, "", nil
	case err != nil || free:
		return false, "", errors.Join(err, lock.Unlock())
	}
	return true, holder(path), nil
}

// holder describes the process that holds a lock file, or returns "" if unknown.
func holder(path string) string {
	b, err := os.ReadFile(path) //nolint:gosec // the path is ours
	if pid := strings.TrimSpace(string(b)); err == nil && pid != "" {
		return " (process " + pid + ")"
	}
	return ""
}

// OperatorKeyFile is the name of the operator key's file in the data folder.
const OperatorKeyFile = "operator.key"

// loadOperatorKey uses the given key or the key in the data folder. If there is none, it
// creates a key.
func (a *App) loadOperatorKey(context.Context) error {
	if a.OperatorKey != "" {
		a.operator = a.OperatorKey
		return nil
	}
	path := filepath.Join(a.Data, OperatorKeyFile)
	b, err := os.ReadFile(path) //nolint:gosec // the path is ours
	if err == nil {
		a.operator = strings.TrimSpace(string(b))
		if !config.ValidOperatorKey(a.operator) {
			return fmt.Errorf("the key in %s %s: delete the file, and the next start creates a new key", path, config.RightOperatorKey)
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the operator key: %w: give the file to the user of this process", err)
	}
	var secret [32]byte
	_, _ = rand.Read(secret[:])
	a.operator = "gho_" + hex.EncodeToString(secret[:])
	if err := os.WriteFile(path, []byte(a.operator+"\n"), 0o600); err != nil {
		return fmt.Errorf("store the operator key: %w", err)
	}
	a.Log.Info("operator key created", "file", path)
	return nil
}

// listener listens on an address.
func listener(ctx context.Context, address string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("address %s is in use: stop the other process, or set another address", address)
	}
	return l, err
}

// CheckAddress returns an error if a listener could not listen on an address now.
func CheckAddress(ctx context.Context, address string) error {
	l, err := listener(ctx, address)
	if err != nil {
		return err
	}
	return l.Close()
}
