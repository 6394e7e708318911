package app

import (
	"context"
	"errors"
	"time"

	"github.com/gridhook/gridhook/dispatcher"
	"github.com/gridhook/gridhook/events"
)

// pausingBus delivers no work to a worker while the embedded server cannot store its
// outcome. A webhook without a stored receipt is sent again. With a full disk, that would
// repeat until space is free.
type pausingBus struct {
	dispatcher.Bus
	// stuck reports whether the server cannot store.
	stuck func() bool
}

var errStuck = errors.New("the outcome cannot be stored now")

// pauseEvery is the polling interval of a waiting slot.
const pauseEvery = 250 * time.Millisecond

// wait returns nil when the server stores again, or an error if the worker stops earlier.
func (b pausingBus) wait(ctx, taking context.Context) error {
	if !b.stuck() {
		return nil
	}
	tick := time.NewTicker(pauseEvery)
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
func (b pausingBus) ConsumeSlices(ctx, taking context.Context, slots int, handle func(context.Context, events.Slice, events.Taken) error) error {
	return b.Bus.ConsumeSlices(ctx, taking, slots, pausing(taking, b, handle))
}

// ConsumeRetries consumes retries.
func (b pausingBus) ConsumeRetries(ctx, taking context.Context, slots int, handle func(context.Context, events.Retry, events.Taken) error) error {
	return b.Bus.ConsumeRetries(ctx, taking, slots, pausing(taking, b, handle))
}

// ConsumeTasks consumes tasks.
func (b pausingBus) ConsumeTasks(ctx, taking context.Context, kind events.TaskKind, slots int, handle func(context.Context, events.Task, events.Taken) error) error {
	return b.Bus.ConsumeTasks(ctx, taking, kind, slots, pausing(taking, b, handle))
}

func pausing[T any](taking context.Context, b pausingBus, handle func(context.Context, T, events.Taken) error) func(context.Context, T, events.Taken) error {
	return func(ctx context.Context, v T, taken events.Taken) error {
		if err := b.wait(ctx, taking); err != nil {
			return err
		}
		return handle(ctx, v, taken)
	}
}
