package signals

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// TestHomeError_PricingPanic checks that a tariff that makes package pricing panic
// fails only the homes that have it.
func TestHomeError_PricingPanic(t *testing.T) {
	s, _, _ := storagetest.NewStore(func() time.Time { return storagetest.Start })
	storagetest.Put(t, s, storagetest.RatePlan("org", "plan", 0.2), storagetest.Home("org", "h", "plan"))
	err := s.View(func(v storage.View) error {
		pricer := NewPricer(10)
		record, err := v.Get(storage.KindRatePlan.Ref("org", "plan"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pricer.tariffs.get(tariffKey{revision: record.Revision}, func() (*tariff, error) { return &tariff{Tariff: new(pricing.Tariff)}, nil }); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the first leaves nothing in the caches
			_, err = pricer.HomeSignal(v, "org", "h", pricing.Window{Start: storagetest.Start, End: storagetest.Start.Add(24 * time.Hour)})
			var failed *HomeError
			if !errors.As(err, &failed) || strings.Contains(failed.Reason, "panic") || !strings.Contains(failed.Err.Error(), "panic: ") {
				t.Fatalf("got %v, want a HomeError with the panic as its cause", err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
