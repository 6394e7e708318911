package app

import (
	"context"
	"errors"
	"time"

	"github.com/gridhook/gridhook/dispatcher"
	"github.com/gridhook/gridhook/events"
)

// steadyBus delivers no work to a worker while the embedded server cannot store its
// outcome. A webhook without a stored receipt is sent again. With a full disk, that would
// repeat until space is free.
type steadyBus struct {
	dispatcher.Bus
	// stuck reports whether the server cannot store.
	stuck func() bool
}

var errStuck = errors.New("the outcome cannot be stored now")

// steadyEvery is the polling interval of a waiting slot.
const steadyEvery = 250 * time.Millisecond

// wait returns nil when the server stores again, or an error if the worker stops earlier.
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

// ConsumeSlices consumes slices.
func (b steadyBus) ConsumeSlices(ctx, taking context.Context, slots int, handle func(context.Context, events.Slice, events.Taken) error) error {
	return b.Bus.ConsumeSlices(ctx, taking, slots, steady(taking, b, handle))
}

// ConsumeRetries consumes retries.
func (b steadyBus) ConsumeRetries(ctx, taking context.Context, slots int, handle func(context.Context, events.Retry, events.Taken) error) error {
	return b.Bus.ConsumeRetries(ctx, taking, slots, steady(taking, b, handle))
}

// ConsumeTasks consumes tasks.
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
