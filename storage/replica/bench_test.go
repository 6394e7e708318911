package replica_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// BenchmarkOpen opens the file of 100,000 homes after a clean stop.
func BenchmarkOpen(b *testing.B) {
	log := storagetest.NewLog()
	for i := range 100 {
		writes := make([]storage.Write, storage.MaxBatch)
		for j := range writes {
			h := storagetest.Home("org", fmt.Sprintf("home_%06d", i*storage.MaxBatch+j), "plan")
			value, err := json.Marshal(h)
			if err != nil {
				b.Fatal(err)
			}
			writes[j] = storage.Write{Ref: h.Ref(), At: storagetest.Start, Value: value}
		}
		if _, err := log.AppendBatch(b.Context(), writes); err != nil {
			b.Fatal(err)
		}
	}
	path := filepath.Join(b.TempDir(), "state.db")
	r := open(b, path)
	stop := follow(b, r, log)
	if err := r.WaitFor(b.Context(), 100*storage.MaxBatch); err != nil {
		b.Fatal(err)
	}
	if err := stop(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r := open(b, path)
		b.StopTimer()
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
