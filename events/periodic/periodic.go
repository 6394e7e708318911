// Package periodic repeats background tasks.
package periodic

import (
	"context"
	"log/slog"
	"time"
)

// Run calls do at once and then at every interval until ctx ends. It logs an error of do
// with the name of the task, and goes on. It always returns nil.
func Run(ctx context.Context, every time.Duration, log *slog.Logger, task string, do func(context.Context) error) error {
	for ctx.Err() == nil {
		if err := do(ctx); err != nil && ctx.Err() == nil {
			log.Warn("background task failed, retrying", "task", task, "error", err)
		}
		Sleep(ctx, every)
	}
	return nil
}

// Sleep returns after a time, or when ctx ends.
func Sleep(ctx context.Context, d time.Duration) { Wait(ctx, d, nil) }

// Wait returns after a time, when changed is closed, or when ctx ends.
func Wait(ctx context.Context, d time.Duration, changed <-chan struct{}) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-changed:
	case <-ctx.Done():
	}
}
