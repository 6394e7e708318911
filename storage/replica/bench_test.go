package replica_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/replica"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// large is the number of entities in a benchmark.
const large = 100 * storage.MaxBatch

// followed returns an open replica of a log with large entities, and its path. stop closes it.
func followed(b *testing.B, entity func(i int) storage.Entity) (r *replica.Replica, path string, stop func() error) {
	b.Helper()
	log := storagetest.NewLog()
	for i := 0; i < large; {
		writes := make([]storage.Write, storage.MaxBatch)
		for j := range writes {
			e := entity(i)
			value, err := json.Marshal(e)
			if err != nil {
				b.Fatal(err)
			}
			writes[j] = storage.Write{Ref: e.Ref(), At: storagetest.Start, Value: value}
			i++
		}
		if _, err := log.AppendBatch(b.Context(), writes); err != nil {
			b.Fatal(err)
		}
	}
	path = filepath.Join(b.TempDir(), "state.db")
	r = open(b, path)
	stop = follow(b, r, log)
	if err := r.WaitFor(b.Context(), large); err != nil {
		b.Fatal(err)
	}
	return r, path, stop
}

// BenchmarkOpen opens the file of 100,000 homes after a clean stop.
func BenchmarkOpen(b *testing.B) {
	_, path, stop := followed(b, func(i int) storage.Entity {
		return storagetest.Home("org", fmt.Sprintf("home_%06d", i), "plan")
	})
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

// BenchmarkDevicesOf finds the device of a home among 100,000 devices.
func BenchmarkDevicesOf(b *testing.B) {
	r, _, stop := followed(b, func(i int) storage.Entity {
		d := storage.NewHVACDevice("org")
		d.ID, d.HomeID = fmt.Sprintf("dev_%06d", i), fmt.Sprintf("home_%06d", i)
		return &d
	})
	for b.Loop() {
		err := r.View(func(v storage.View) error {
			for _, err := range storage.DevicesOf(v, "org", "home_050000", "") {
				return err
			}
			return storage.ErrNotFound
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := stop(); err != nil {
		b.Fatal(err)
	}
}
