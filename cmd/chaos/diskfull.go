package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// smallDisk is the size of the disk to fill.
	smallDisk = 48 << 20
	// fullFor is how long the disk stays full. roomWithin is the time limit for full
	// recovery after space is free again.
	fullFor    = 15 * time.Second
	roomWithin = 30 * time.Second
)

// diskFull is a round that repeatedly fills the disk of the embedded default to the last
// byte under load and then frees it. The process must survive.
func (r *round) diskFull() (v verdict, err error) {
	d, err := newSmallDisk(r.dir, smallDisk)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, d.unmount()) }()
	r.data = func(name string) string { return filepath.Join(d.mount, name) }
	return r.runWith(func(f *faults) error {
		for cycle := range r.cycles {
			time.Sleep(f.between(time.Second, 2*time.Second))
			what, err := f.fillDisk(d)
			if err != nil {
				return fmt.Errorf("full disk %d: %w", cycle+1, err)
			}
			r.sayf("  full disk %3d/%d  %s\n", cycle+1, r.cycles, what)
		}
		return nil
	})
}

// fillDisk fills the disk, waits, and frees the space again.
func (f *faults) fillDisk(d *disk) (what string, err error) {
	n, before := f.w.nodes[0], f.w.unavailable.Load()
	restarts, err := f.w.restarts(n)
	if err != nil {
		return "", err
	}
	filler := filepath.Join(d.mount, "filler")
	until := time.Now().Add(fullFor)
	for time.Now().Before(until) {
		if err := fill(filler); err != nil {
			return "", err
		}
		if err := n.died(); err != nil {
			return "", err
		}
		time.Sleep(20 * time.Millisecond)
	}
	refused := f.w.unavailable.Load() - before
	if refused == 0 {
		f.w.violated.addf("I0", "with a full disk no request got 503 in %s", fullFor)
	}
	if err := os.Remove(filler); err != nil {
		return "", err
	}
	began := time.Now()
	if err := f.w.waitReady(n, began.Add(roomWithin)); err != nil {
		return "", fmt.Errorf("%s after there is room again: %w", roomWithin, err)
	}
	again, err := f.w.restarts(n)
	if err != nil {
		return "", err
	}
	f.excuse(again - restarts) // the worker may repeat work after each restart of the server
	return fmt.Sprintf("%d responses with 503; ready %s after there was room", refused, time.Since(began).Round(time.Millisecond)), nil
}

// restarts returns how often a node has restarted its embedded nats-server.
func (w *world) restarts(n *node) (int, error) {
	response, err := w.http.Get("http://" + n.admin + "/metrics") //nolint:noctx // the client has a timeout
	if err != nil {
		return 0, err
	}
	defer response.Body.Close() //nolint:errcheck // it is read
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "gridhook_nats_restarts_total "); ok {
			return strconv.Atoi(text)
		}
	}
	return 0, errors.New("there is no metric gridhook_nats_restarts_total")
}

// fill appends to a file until the disk has no space for another byte.
func fill(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it is filler
	for block := make([]byte, 1<<20); len(block) > 0; {
		if _, err := f.Write(block); err != nil { // no space for this block
			block = block[:len(block)/2]
		}
	}
	return nil
}
