package bench

import (
	"syscall"
	"time"
)

// cpuTime is the processor time that this process has used so far, in user and
// kernel. Unlike a rate it hardly depends on what else the machine does.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// microsecondsEach spreads processor time over a number of things.
func microsecondsEach(d time.Duration, n int) float64 {
	return float64(d.Nanoseconds()) / 1000 / float64(n)
}
