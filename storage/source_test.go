package storage_test

import (
	"testing"

	"github.com/gridhook/gridhook/storage"
)

// SPP's file of real-time prices has the latest five minutes alone, its file of day-ahead
// prices the whole day.
func TestSource_DefaultInterval(t *testing.T) {
	for _, tt := range []struct {
		adapter, market string
		named, want     int
	}{
		{"spp", "", 0, 3600},
		{"spp", "DAY_AHEAD", 0, 3600},
		{"spp", "REAL_TIME", 0, 300},
		{"spp", "REAL_TIME", 900, 900},
		{"nyiso", "REAL_TIME", 0, 3600}, // the file has the whole day
	} {
		var s storage.Source
		s.Adapter, s.EverySeconds, s.Parameters = tt.adapter, tt.named, map[string]string{"market": tt.market}
		if s.SetDefaults(); s.EverySeconds != tt.want {
			t.Errorf("%+v: %d s", tt, s.EverySeconds)
		}
	}
}
