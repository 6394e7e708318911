package app

import (
	"context"
	"fmt"
	"path/filepath"
	"syscall"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Room is how many bytes are free for this process on a folder's file system,
// and how many there are.
func Room(folder string) (free, size uint64, err error) {
	var fs syscall.Statfs_t
	path := filepath.Clean(folder)
	if err := syscall.Statfs(path, &fs); err != nil {
		return 0, 0, fmt.Errorf("statfs %s: %w", path, err)
	}
	block := uint64(fs.Bsize) //nolint:gosec,unconvert // a size; its type is another on other systems
	return fs.Bavail * block, fs.Blocks * block, nil
}

// roomyLog refuses writes while there is no room, before they are tried.
type roomyLog struct {
	storage.Log
	full func() error
}

// Append stores one write.
func (l roomyLog) Append(ctx context.Context, w storage.Write) (uint64, error) {
	if err := l.full(); err != nil {
		return 0, err
	}
	return l.Log.Append(ctx, w)
}

// AppendBatch stores several.
func (l roomyLog) AppendBatch(ctx context.Context, ws []storage.Write) (uint64, error) {
	if err := l.full(); err != nil {
		return 0, err
	}
	return l.Log.AppendBatch(ctx, ws)
}

// roomyTriggers refuses triggers while there is no room.
type roomyTriggers struct {
	events.TriggerLog
	full func() error
}

// Accept stores a trigger.
func (l roomyTriggers) Accept(ctx context.Context, t events.Trigger) (uint64, error) {
	if err := l.full(); err != nil {
		return 0, err
	}
	return l.TriggerLog.Accept(ctx, t)
}

// full is a storage.ErrUnavailable while there is no room.
func (a *App) full() error {
	if a.guard == nil {
		return nil
	}
	if why := a.guard.full.Load(); why != nil {
		return fmt.Errorf("%w: %s", storage.ErrUnavailable, *why)
	}
	return nil
}
