package app

import (
	"context"
	"fmt"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// guardedLog refuses writes while the disk has no space.
type guardedLog struct {
	storage.Log
	full func() error
}

// Append stores one write.
func (l guardedLog) Append(ctx context.Context, w storage.Write) (uint64, error) {
	if err := l.full(); err != nil {
		return 0, err
	}
	return l.Log.Append(ctx, w)
}

// AppendBatch stores several writes.
func (l guardedLog) AppendBatch(ctx context.Context, ws []storage.Write) (uint64, error) {
	if err := l.full(); err != nil {
		return 0, err
	}
	return l.Log.AppendBatch(ctx, ws)
}

// guardedTriggers refuses triggers while the disk has no space.
type guardedTriggers struct {
	events.TriggerLog
	full func() error
}

// Accept stores a trigger.
func (l guardedTriggers) Accept(ctx context.Context, t events.Trigger) (uint64, error) {
	if err := l.full(); err != nil {
		return 0, err
	}
	return l.TriggerLog.Accept(ctx, t)
}

// full returns a storage.ErrUnavailable while the disk has no space.
func (a *App) full() error {
	if a.guard == nil {
		return nil
	}
	if why := a.guard.full.Load(); why != nil {
		return fmt.Errorf("%w: %s", storage.ErrUnavailable, *why)
	}
	return nil
}
