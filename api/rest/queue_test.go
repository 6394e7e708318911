package rest

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// TestScan_Turns checks that an organization with many scans leaves half of the processors to
// webhooks, has a limit of waiting scans, and does not delay the scan of another organization.
func TestScan_Turns(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.NumCPU() + 4)) // as in a process
	synctest.Test(t, func(t *testing.T) {
		store, _, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
		s := New(Deps{Store: store}, Options{})
		call := func(org string) *Call {
			return &Call{Caller: Caller{Key: &storage.Key{Base: storage.Base{OrganizationID: org}}}}
		}
		var running, done atomic.Int64
		end := make(chan struct{})
		for range maxReads {
			go func() {
				err := s.Scan(t.Context(), call("busy"), func(storage.View) error {
					running.Add(1)
					<-end
					return nil
				})
				if err != nil {
					t.Error(err)
				}
				done.Add(1)
			}()
		}
		synctest.Wait()
		if got, want := running.Load(), int64(max(1, runtime.NumCPU()/2)); got != want {
			t.Errorf("%d scans run at once, want %d", got, want)
		}
		nothing := func(storage.View) error { return nil }
		if err := s.Scan(t.Context(), call("busy"), nothing); !errors.Is(err, errReads) {
			t.Errorf("one more: %v", err)
		}
		if err := s.Scan(t.Context(), call("other"), nothing); err != nil {
			t.Errorf("another organization: %v", err)
		}
		close(end)
		synctest.Wait()
		if got := done.Load(); got != maxReads {
			t.Errorf("%d scans are done", got)
		}
	})
}

// TestScan_Timeout checks the error of a scan that waits for too long, or until the process
// stops. An operator does not wait.
func TestScan_Timeout(t *testing.T) {
	store, _, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	s, c := New(Deps{Store: store}, Options{}), &Call{Caller: Caller{Org: "acme"}}
	for range 2 * HalfOfProcessors() {
		s.reads.slots.TryAcquire("acme", 1)
	}
	if err := s.Scan(t.Context(), &Call{Caller: Caller{Org: "acme", Operator: true}}, func(storage.View) error { return nil }); err != nil {
		t.Errorf("an operator's scan: %v", err)
	}
	late, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Scan(late, c, nil); !errors.Is(err, ErrUnavailable) {
		t.Errorf("it ends with %v", err)
	}
	s.StopReads()
	if err := s.Scan(t.Context(), c, nil); !errors.Is(err, ErrUnavailable) {
		t.Errorf("in a process that stops: %v", err)
	}
}
