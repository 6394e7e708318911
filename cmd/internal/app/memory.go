package app

import (
	"fmt"
	"os"
	"runtime/debug"

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
)

// LimitMemory tells the garbage collector how much memory there is: limit bytes,
// or with 0 a share of the control group's or the machine's. GOMEMLIMIT and GOGC
// in the environment have the last word.
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
		return fmt.Errorf("how much memory there is cannot be found out (%w): say it with --memory-limit", err)
	}
	return nil
}
