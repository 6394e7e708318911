package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/blackbox"
)

// visit is one hit of a failpoint: the process kills itself when it reaches the point for
// the number-th time.
type visit struct {
	point  string
	number int
	// while is the situation during the visit.
	while situation
}

// situation is the activity of the partners' side while a failpoint is armed.
type situation int

const (
	// walking: a worker walks a trigger of every home, and the receivers accept.
	walking situation = iota
	// failing: the receivers respond 500 for a while, which causes retries.
	failing
	// changing: the harness creates homes.
	changing
)

// visits lists the first, a middle and the last time that a walk of the first partner
// reaches each point. The partner has 200 homes and two endpoints: 4 slices and 400
// requests.
func visits() []visit {
	var list []visit
	for _, p := range []struct {
		point   string
		numbers []int
		while   situation
	}{
		{"accept", []int{1}, walking},
		{"slice", []int{1, 2, 4}, walking},
		{"post", []int{1, 200, 400}, walking},
		{"receipt", []int{1, 2, 4}, walking},
		{"ack", []int{1, 3, 5}, walking}, // the first ack is the trigger's
		{"retry", []int{1, 3}, failing},
		{"again", []int{1, 2}, failing},
		{"fold", []int{1}, walking},
		{"apply", []int{1}, changing},
	} {
		for _, n := range p.numbers {
			for _, side := range []string{"Before", "After"} {
				list = append(list, visit{p.point + side, n, p.while})
			}
		}
	}
	return list
}

// directed visits every failpoint. Its Gridhook has failpoints.
type directed struct {
	dir      string
	binaries blackbox.Binaries
	out      io.Writer
	// failpoints are active in every process. only is part of the names of the visited
	// failpoints.
	failpoints string
	only       string
	// drain is how long the accepted triggers may take at the end.
	drain time.Duration
}

func (d *directed) run() (v verdict, err error) {
	began := time.Now()
	w, err := newWorld(filepath.Join(d.dir, "directed"), serve, d.binaries, nil)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, w.end()) }()
	w.failpoints = d.failpoints
	if err := w.begin(); err != nil {
		return v, err
	}
	f := &faults{w: w}
	n := w.nodes[0]
	l := &load{w: w, partner: w.partners[0], api: n, insistFor: drainWithin, random: rand.New(rand.NewPCG(1, 1))} //nolint:gosec // it decides nothing
	for i, at := range visits() {
		if !strings.Contains(at.point, d.only) {
			continue
		}
		began := time.Now()
		if err := d.visit(w, n, l, at); err != nil {
			return v, fmt.Errorf("%s, %d: %w", at.point, at.number, err)
		}
		f.excuse(1)
		_, _ = fmt.Fprintf(d.out, "  directed %2d  %4.1fs  killed at %s, time %d\n", i+1, time.Since(began).Seconds(), at.point, at.number)
	}
	v.tally = conclude(w, f.excused, d.drain)
	v.violations, v.took = w.violated.all(), time.Since(began)
	return v, nil
}

// errNotReached says that the process did not reach a failpoint often enough.
var errNotReached = errors.New("the process did not reach the failpoint that often")

// visit arms a failpoint, creates the situation that leads to it, and restarts the
// process after it has killed itself.
func (d *directed) visit(w *world, n *node, l *load, at visit) error {
	if err := n.stop(); err != nil {
		return err
	}
	err := n.start(fmt.Sprintf("%s=%d*off->return", at.point, at.number-1))
	if errors.Is(err, blackbox.ErrEnded) { // it took up enough from before
		return n.start()
	}
	if err != nil {
		return err
	}
	if at.while == failing {
		l.partner.endpoints[0].setMood(moodError)
		defer l.partner.endpoints[0].setMood(moodWell)
	}
	ctx := context.Background()
	done := make(chan error, 1)
	go func() {
		if at.while == changing {
			done <- l.create(ctx)
			return
		}
		done <- l.surely(ctx)
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-n.running().Exited():
	case <-timer.C:
		return errNotReached
	}
	l.partner.endpoints[0].setMood(moodWell)
	if err := n.start(); err != nil {
		return err
	}
	return <-done
}
