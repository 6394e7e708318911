package app

import (
	"context"
	"errors"
	"time"

	"github.com/gridhook/gridhook/dispatcher"
	"github.com/gridhook/gridhook/events"
)

// steadyBus hands a worker nothing while the embedded server cannot store what
// would come of it: a webhook whose receipt is not stored is sent again, and
// would be, over and over, for as long as the disk is full.
type steadyBus struct {
	dispatcher.Bus
	// stuck reports whether the server does not store.
	stuck func() bool
}

var errStuck = errors.New("what came of it could not be stored now")

// steadyEvery is how often a slot that waits looks.
const steadyEvery = 250 * time.Millisecond

// wait returns nil once the server stores, or an error when the worker is to
// stop before.
func (b steadyBus) wait(ctx, taking context.Context) error {
	if !b.stuck() {
		return nil
	}
	tick := time.NewTicker(steadyEvery)
	defer tick.Stop()
	for b.stuck() {
		select {
		case <-tick.C:
		case <-taking.Done():
			return errStuck
		case <-ctx.Done():
			return errStuck
		}
	}
	return nil
}

// ConsumeSlices hands out slices.
func (b steadyBus) ConsumeSlices(ctx, taking context.Context, slots int, handle func(context.Context, events.Slice, events.Taken) error) error {
	return b.Bus.ConsumeSlices(ctx, taking, slots, steady(taking, b, handle))
}

// ConsumeRetries hands out retries.
func (b steadyBus) ConsumeRetries(ctx, taking context.Context, slots int, handle func(context.Context, events.Retry, events.Taken) error) error {
	return b.Bus.ConsumeRetries(ctx, taking, slots, steady(taking, b, handle))
}

// ConsumeTasks hands out tasks.
func (b steadyBus) ConsumeTasks(ctx, taking context.Context, kind events.TaskKind, slots int, handle func(context.Context, events.Task, events.Taken) error) error {
	return b.Bus.ConsumeTasks(ctx, taking, kind, slots, steady(taking, b, handle))
}

func steady[T any](taking context.Context, b steadyBus, handle func(context.Context, T, events.Taken) error) func(context.Context, T, events.Taken) error {
	return func(ctx context.Context, v T, taken events.Taken) error {
		if err := b.wait(ctx, taking); err != nil {
			return err
		}
		return handle(ctx, v, taken)
	}
}
