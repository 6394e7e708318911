package app

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gridhook/gridhook/events"
)

func TestNothingIsHandledWhileNothingCanBeStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stuck atomic.Bool
		stuck.Store(true)
		b := pausingBus{stuck: stuck.Load}
		taking, stop := context.WithCancel(t.Context())
		var handled []time.Duration
		began := time.Now()
		handle := pausing(taking, b, func(context.Context, events.Slice, events.Taken) error {
			handled = append(handled, time.Since(began))
			return nil
		})
		time.AfterFunc(10*time.Second, func() { stuck.Store(false) })
		for range 2 {
			if err := handle(t.Context(), events.Slice{}, events.Taken{}); err != nil {
				t.Fatal(err)
			}
		}
		if len(handled) != 2 || handled[0] < 10*time.Second || handled[1] > 11*time.Second {
			t.Errorf("handled after %v", handled)
		}
		stuck.Store(true)
		time.AfterFunc(time.Second, stop)
		if err := handle(t.Context(), events.Slice{}, events.Taken{}); !errors.Is(err, errStuck) || len(handled) != 2 {
			t.Errorf("a worker that stops got %v", err)
		}
	})
}
