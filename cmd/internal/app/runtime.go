package app

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// These constants tune the garbage collector.
const (
	// memoryShare is the share of the process's memory that the garbage collector may
	// use. The rest is for memory outside the Go heap.
	memoryShare = 0.9
	// gcPercent lets the heap grow to five times its live size before a collection.
	// Requests and deliveries create much garbage and little live data. With 10 MB live
	// and 200 percent, a loaded process collects five times a second, which delays
	// requests. The memory limit bounds the heap.
	gcPercent = 400
)

// LimitMemory sets the garbage collector's memory limit to limit bytes. With 0 it uses a
// share of the control group's or the machine's memory. GOMEMLIMIT and GOGC in the
// environment take precedence.
func LimitMemory(limit int64) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
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
		return fmt.Errorf("memory size unknown (%w): set --memory-limit", err)
	}
	return nil
}

// moreThreads is how many goroutines may run in addition to one for each processor. Work of
// some milliseconds, such as folding receipts, encoding one, or an estimate, otherwise keeps
// a processor from the many goroutines that need microseconds. With more threads the
// operating system shares the processors among them.
const moreThreads = 4

// ShareProcessors lets more goroutines run than there are processors. Under a limit of the
// control group it changes nothing, because threads beyond the limit use it up early and
// then all stop. GOMAXPROCS in the environment takes precedence.
func ShareProcessors() {
	if n := runtime.NumCPU(); os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) == n {
		runtime.GOMAXPROCS(n + moreThreads)
	}
}
