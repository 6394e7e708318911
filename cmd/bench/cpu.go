package main

import (
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// cpuTime returns the user and kernel time that this process has used. Unlike a rate, it
// hardly depends on other load on the machine.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// microsecondsEach divides processor time by a number of items.
func microsecondsEach(d time.Duration, n int) float64 {
	return float64(d.Nanoseconds()) / 1000 / float64(n)
}

// processorTimeOf returns the processor time that another process has used, or 0 if the
// system does not report it.
func processorTimeOf(pid int) time.Duration {
	return time.Duration(statOf(pid).CPUTime() * float64(time.Second))
}

// residentOf returns the resident memory of another process in bytes, or 0 if the system
// does not report it.
func residentOf(pid int) int { return statOf(pid).ResidentMemory() }

// statOf returns the kernel's figures of a process, or zeros if the system does not report
// them.
func statOf(pid int) procfs.ProcStat {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return procfs.ProcStat{}
	}
	stat, err := process.Stat()
	if err != nil {
		return procfs.ProcStat{}
	}
	return stat
}
