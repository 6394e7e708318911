package app

import (
	"math"
	"testing"
)

func TestHeapsMayGrow(t *testing.T) {
	t.Parallel()
	const mib, plenty = 1 << 20, 16 << 30
	for _, c := range []struct {
		name        string
		live, limit uint64
		to          uint64 // the heap that may be, in MiB
	}{
		{"little lives: to the floor", 16 * mib, plenty, 256},
		{"nothing has lived yet", 0, plenty, 256},
		{"no limit is known", 0, math.MaxInt64, 256},
		{"a third of the floor lives", 85 * mib, plenty, 256},
		{"much lives: to three times of it", 1000 * mib, plenty, 3000},
		{"little memory: to an eighth of it", 16 * mib, 800 * mib, 100},
		{"little memory, most of which lives", 200 * mib, 400 * mib, 600},
	} {
		// A whole number of percents is up to a hundredth of what lives short.
		to := max(c.live, leastLive) * uint64(100+growth(c.live, c.limit)) / 100 / mib
		if to+c.live/mib/100+1 < c.to || to > c.to {
			t.Errorf("%s: it may grow to %d MiB, want %d", c.name, to, c.to)
		}
	}
}
