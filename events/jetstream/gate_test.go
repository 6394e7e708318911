package jetstream

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestGate_Wait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stuck atomic.Bool
		stuck.Store(true)
		g := Gate{Stuck: stuck.Load}
		taking, stop := context.WithCancel(t.Context())
		began := time.Now()
		time.AfterFunc(10*time.Second, func() { stuck.Store(false) })
		for range 2 {
			if err := g.wait(t.Context(), taking); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took < 10*time.Second || took > 11*time.Second {
			t.Errorf("waited %v", took)
		}
		stuck.Store(true)
		time.AfterFunc(time.Second, stop)
		if err := g.wait(t.Context(), taking); !errors.Is(err, errStuck) {
			t.Errorf("stopping worker got %v", err)
		}
	})
}
