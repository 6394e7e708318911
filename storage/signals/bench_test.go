package signals_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/replica"
	"github.com/gridhook/gridhook/storage/signals"
	"github.com/gridhook/gridhook/storage/storagetest"
)

const (
	benchHomes = 20_000
	slice      = 64
)

// benchStore returns a store with a file, like a worker's. It has homes on a plan,
// every fourth with solar.
func benchStore(b *testing.B) *storage.Store {
	b.Helper()
	log := storagetest.NewLog()
	file, err := replica.Open(filepath.Join(b.TempDir(), "state.db"), slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- file.Follow(ctx, log) }()
	b.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
		if err := file.Close(); err != nil {
			b.Error(err)
		}
	})
	store := storage.NewStore(log, file, func() time.Time { return storagetest.Start })
	entities := []storage.Entity{storagetest.RatePlan(storage.Shared, "plan", 0.1)}
	for i := range benchHomes {
		id := fmt.Sprintf("home_%05d", i)
		entities = append(entities, home(id, "plan", func(h *storage.Home) {
			inChicago(h)
			h.Name, h.City, h.StreetAddress = "Blue house", "Chicago", "1 Lake Street"
		}))
		if i%4 == 0 {
			entities = append(entities, &storage.Solar{HomeID: id, SizeKw: float64(4 + i%40/10), Base: org})
		}
	}
	storagetest.Put(b, store, entities...)
	return store
}

// BenchmarkSlice prices the homes of a slice from cached curves. It reports the total,
// and the total minus the time to read and decode the homes.
func BenchmarkSlice(b *testing.B) {
	store, pricer := benchStore(b), signals.NewPricer(1000)
	each := func(use func(v storage.View) func(storage.Record)) func(*testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				err := store.View(func(v storage.View) error {
					n, do := 0, use(v)
					after := fmt.Sprintf("home_%05d", i*slice%(benchHomes-slice))
					return v.Scan(storage.KindHome, "org", after, func(r storage.Record) bool { do(r); n++; return n < slice })
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/slice, "ns/home")
		}
	}
	decode := func(b *testing.B, reader *signals.Reader, r storage.Record) *signals.Home {
		h, err := reader.Home(r)
		if err != nil {
			b.Fatal(err)
		}
		return h
	}
	b.Run("read", each(func(storage.View) func(storage.Record) { return func(storage.Record) {} }))
	b.Run("read and decode", each(func(v storage.View) func(storage.Record) {
		reader := pricer.Reader(v, "org")
		return func(r storage.Record) { decode(b, reader, r) }
	}))
	b.Run("price", each(func(v storage.View) func(storage.Record) {
		reader := pricer.Reader(v, "org")
		return func(r storage.Record) {
			if _, err := reader.Signal(decode(b, reader, r), day); err != nil {
				b.Fatal(err)
			}
		}
	}))
}

// BenchmarkOrganization prices 1,024 homes of one organization, with one view per
// slice.
func BenchmarkOrganization(b *testing.B) {
	const homes = 1024
	store, pricer := benchStore(b), signals.NewPricer(1000)
	b.ReportAllocs()
	for b.Loop() {
		after := ""
		for range homes / slice {
			err := store.View(func(v storage.View) error {
				n, reader := 0, pricer.Reader(v, "org")
				var failed error
				err := v.Scan(storage.KindHome, "org", after, func(r storage.Record) bool {
					var h *signals.Home
					if h, failed = reader.Home(r); failed == nil {
						_, failed = reader.Signal(h, day)
					}
					n, after = n+1, r.ID
					return n < slice && failed == nil
				})
				return errors.Join(err, failed)
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/homes, "ns/home")
}

// BenchmarkDistinct computes the signals of homes that each have a separate curve, JSON
// included.
func BenchmarkDistinct(b *testing.B) {
	s := newStore()
	storagetest.Put(b, s, plan("tiers", tiers), home("h", "tiers", inChicago))
	pricer := signals.NewPricer(1000)
	for i := 0; b.Loop(); i++ {
		w := pricing.Window{Start: day.Start.Add(time.Duration(i%2000) * pricing.Interval)}
		w.End = w.Start.Add(24 * time.Hour)
		err := s.View(func(v storage.View) error { _, err := pricer.HomeSignal(v, "org", "h", w); return err })
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "curves/s")
}
