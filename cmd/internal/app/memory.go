package app

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// Memory.
const (
	// memoryShare of what the process may have is what the garbage collector is
	// told; the rest is for what it does not see.
	memoryShare = 0.9
	// gcPercent lets the heap grow to three times of what lives before it is
	// collected: deliveries leave much garbage and keep little, and collecting
	// half as often saves about 7 % of their processor time. The memory limit
	// bounds it.
	gcPercent = 200
	// heapFloor is how far the heap may grow before it is collected, however little
	// of it lives, in bytes, or to a floorPart of the memory limit where that is
	// less. What answers keeps 15 MB: at 200 % it would be collected ten times a
	// second under load, and each time answers wait for the 10 to 20 ms in which the
	// collector has its share of the processors.
	heapFloor = 256 << 20
	floorPart = 8
)

// LimitMemory tells the garbage collector how much memory there is: limit bytes,
// or with 0 a share of the control group's or the machine's. GOMEMLIMIT and GOGC
// in the environment have the last word.
func LimitMemory(limit int64) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
		defer holdHeapFloor(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	if limit > 0 {
		debug.SetMemoryLimit(limit)
		return nil
	}
	_, err := memlimit.Set(memlimit.WithRatio(memoryShare),
		memlimit.WithProvider(memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)))
	if err != nil {
		return fmt.Errorf("how much memory there is cannot be found out (%w): say it with --memory-limit", err)
	}
	return nil
}

// holdHeapFloor sets how much the heap may grow by what lived when it was last
// collected, and does so again after each collection. Now is what it is set to.
func holdHeapFloor(now int) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if percent := growth(live[0].Value.Uint64(), uint64(debug.SetMemoryLimit(-1))); percent != now { //nolint:gosec // a limit is positive
		debug.SetGCPercent(percent)
		now = percent
	}
	// Nobody keeps this: it is gone with the next collection.
	runtime.AddCleanup(new(*int), holdHeapFloor, now)
}

// leastLive is what growth takes to live at least, in bytes: what Go itself begins with,
// by which it also says how far a heap may grow of which nothing has been collected yet.
const leastLive = 4 << 20

// growth is by how much a heap of which so many bytes live may grow, in percent, within
// a memory limit.
func growth(live, limit uint64) int {
	floor := min(heapFloor, limit/floorPart)
	return max(gcPercent, int(floor*100/max(live, leastLive))-100) //nolint:gosec // a floor is at most 256 MiB
}
