package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// powerCuts is a round in which the machine of the embedded default loses its power
// several times. All roles run in one process. At each power cut the disk drops the data
// that was not flushed.
func (r *round) powerCuts() (v verdict, err error) {
	d, err := newDisk(r.dir)
	if err != nil {
		return v, err
	}
	defer func() {
		if v.bad() { // the files are evidence
			err = errors.Join(err, os.CopyFS(filepath.Join(r.dir, "data"), os.DirFS(d.mount)))
		}
		err = errors.Join(err, d.remove())
	}()
	r.data = func(name string) string { return filepath.Join(d.mount, name) }
	return r.runWith(func(f *faults) error {
		for cycle := range r.cycles {
			time.Sleep(f.between(50*time.Millisecond, 1500*time.Millisecond))
			took, err := f.powerCut(d)
			if err != nil {
				return fmt.Errorf("power cut %d: %w", cycle+1, err)
			}
			r.sayf("  power cut %3d/%d  back in %s\n", cycle+1, r.cycles, took.Round(time.Millisecond))
		}
		return nil
	})
}

// powerCut cuts the power and restores it. The process gets SIGKILL first: for some
// milliseconds after the disk is cut, an fsync may return success for data that is gone, and
// the process must not answer then. Writes that are in the kernel at that moment go on, so the
// cut still tears them.
func (f *faults) powerCut(d *disk) (back time.Duration, err error) {
	f.excuse(1)
	n := f.w.nodes[0]
	if err := n.running().Signal(syscall.SIGKILL); err != nil {
		return 0, fmt.Errorf("kill %s: %w", n.name, err)
	}
	if err := d.cut(); err != nil {
		return 0, err
	}
	n.kill() // waits for its end
	if err := d.again(); err != nil {
		return 0, err
	}
	began := time.Now()
	err = n.start()
	return time.Since(began), err
}
