package embedded

import (
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"
)

// No lock and no stream of an erased organization stays in memory. The server is healthy
// without them.
func TestAccounts_EraseFreesMemory(t *testing.T) {
	t.Parallel()
	const patience = time.Minute
	s, err := Start(Options{Dir: t.TempDir(), StartTimeout: patience, Log: slog.New(slog.DiscardHandler), MQTT: &MQTT{Listen: "127.0.0.1:0"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(patience) })
	a := s.organizations()
	for i := range 3 {
		org := fmt.Sprint("org-", i)
		if _, err := a.open(org); err != nil {
			t.Fatal(err)
		}
		if err := s.EraseMQTT(org); err != nil {
			t.Fatal(err)
		}
	}
	locks := 0
	a.opening.Range(func(any, any) bool { locks++; return true })
	if locks != 0 {
		t.Errorf("%d locks stay after 3 deletions", locks)
	}
	if n := s.ns.JetStreamNumAccounts(); n != 1 {
		t.Errorf("%d accounts have JetStream, want that of Gridhook", n)
	}
	if err := s.Healthy(); err != nil {
		t.Error(err)
	}
}

// One caller at a time has the lock of an organization.
func TestAccounts_Lock(t *testing.T) {
	t.Parallel()
	var a accounts
	var callers sync.WaitGroup
	inside := 0
	for range 50 {
		callers.Go(func() {
			defer a.lock("acme")()
			if inside++; inside != 1 {
				t.Errorf("%d callers have the lock", inside)
			}
			inside--
		})
	}
	callers.Wait()
}
