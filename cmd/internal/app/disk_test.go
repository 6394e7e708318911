package app_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gridhook/gridhook/cmd/internal/app"
	"github.com/gridhook/gridhook/config"
)

// TestStoreLimit_AboveUse checks that the limit never falls below what the store has.
func TestStoreLimit_AboveUse(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	limit := func(max config.Size, free uint64) uint64 {
		return app.StoreLimit(&config.Config{Data: data, MaxStore: max}, free)
	}
	if got := limit(0, 4000); got != 2000 {
		t.Errorf("an empty store with 4000 free bytes may take %d, want 2000", got)
	}
	for path, size := range map[string]int{"nats/jetstream/a": 5000, "nats/b": 1000, "state.db": 700} {
		file := filepath.Join(data, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := limit(0, 400); got != 6200 {
		t.Errorf("a store of 6000 bytes with 400 free bytes may take %d, want 6200", got)
	}
	if got := limit(100, 400); got != 100 {
		t.Errorf("the limit is %d instead of max-store", got)
	}
}
