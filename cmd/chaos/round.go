package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/blackbox"
)

// round is one world from start to verdict.
type round struct {
	topology topology
	seed     uint64
	cycles   int
	// only, if set, is part of the names of the selected faults.
	only string
	// drain is how long the accepted triggers may take at the end.
	drain time.Duration
	// hopeful makes every receiver accept its deliveries.
	hopeful bool
	// failpoints are active in every Gridhook that has them.
	failpoints string
	// data returns the path of a node's files; nil selects a folder beside the others.
	data func(name string) string
	// pace is the mean pause between two requests of a partner.
	pace     time.Duration
	dir      string
	binaries blackbox.Binaries
	out      io.Writer
}

// verdict is the result of a round.
type verdict struct {
	tally
	violations []violation
	took       time.Duration
}

func (v *verdict) bad() bool { return len(v.violations) > 0 }

// run runs the round with random faults.
func (r *round) run() (verdict, error) { return r.runWith(r.inflict) }

// runWith runs the round with the faults that do inflicts. An error means a failure of
// the harness; violations by Gridhook are in the verdict.
func (r *round) runWith(do func(*faults) error) (v verdict, err error) {
	began := time.Now()
	w, err := newWorld(r.dir, r.topology, r.binaries, r.data)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, w.end()) }()
	w.hopeful, w.failpoints = r.hopeful, r.failpoints
	if err := w.begin(); err != nil {
		return v, err
	}
	f := &faults{w: w, random: rand.New(rand.NewPCG(r.seed, 1))} //nolint:gosec // a seed that can be printed
	if err := r.underLoad(w, func() error { return do(f) }); err != nil {
		w.violated.addf("I0", "%v", err)
	}
	r.sayf("  %s: healing, draining, comparing\n", r.topology)
	v.tally = conclude(w, f.excused, r.drain)
	if len(w.violated.all()) == 0 {
		err = w.rebuild()
	}
	v.violations, v.took = w.violated.all(), time.Since(began)
	return v, err
}

// underLoad runs do while every partner sends requests. It returns when all requests have
// a response.
func (r *round) underLoad(w *world, do func() error) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	apis := w.those((*node).servesAPI)
	ended := make(chan error, len(w.partners))
	for i, p := range w.partners {
		l := &load{w: w, partner: p, api: apis[i%len(apis)], pace: r.paceOf(p), insistFor: r.drain, random: rand.New(rand.NewPCG(r.seed, uint64(i)+2))} //nolint:gosec // as above
		go func() { ended <- l.run(ctx) }()
	}
	errs := []error{do()}
	stop()
	for range w.partners {
		errs = append(errs, <-ended)
	}
	return errors.Join(errs...)
}

// paceOf returns the mean pause between two requests of a partner. A written event is one
// of the last triggers that the api lists until the end of the round.
func (r *round) paceOf(p *partner) time.Duration {
	if p.publisher != nil {
		return 3 * r.pace
	}
	return r.pace
}

// inflict inflicts a number of faults with a short pause after each.
func (r *round) inflict(f *faults) error {
	list := slices.DeleteFunc(tableOf(r.topology), func(f fault) bool { return !strings.Contains(f.name, r.only) })
	for cycle := range r.cycles {
		next := pick(f, list)
		began := time.Now()
		what, err := next.inflict(f)
		r.sayf("  %s %3d/%d  %5.1fs  %s: %s\n", r.topology, cycle+1, r.cycles, time.Since(began).Seconds(), next.name, what)
		if err != nil {
			return fmt.Errorf("cycle %d, %s: %w", cycle+1, next.name, err)
		}
		time.Sleep(f.between(300*time.Millisecond, 2*time.Second))
	}
	return nil
}

// conclude heals the world, waits for the accepted triggers, and compares the ledgers.
func conclude(w *world, excused int, drain time.Duration) tally {
	if err := w.heal(); err != nil {
		return tally{} // a stopped world cannot be queried
	}
	for _, p := range w.partners[:len(w.partners)-1] { // the last partner is hopeless
		w.probe(p)
	}
	finals := w.drain(drain)
	for _, n := range w.nodes {
		if err := n.died(); err != nil {
			w.violated.addf("I0", "%v", err)
		}
	}
	return compare(evidence{
		triggers: w.triggers.all(), arrivals: w.ledger.all(), finals: finals, find: w.findPartner, excused: excused,
		slack: ackWait + 20*time.Second,
	}, w.violated)
}

func (r *round) sayf(format string, args ...any) {
	_, _ = fmt.Fprintf(r.out, format, args...) // nobody may be reading
}

// ends lists the outcomes of the dead deliveries, such as "(FAILED 3, SUPERSEDED 20)".
func (t *tally) ends() string {
	var list []string
	for _, o := range slices.Sorted(maps.Keys(t.Ends)) {
		list = append(list, fmt.Sprintf("%s %d", o, t.Ends[o]))
	}
	return "(" + strings.Join(list, ", ") + ")"
}

// report prints a verdict.
func report(out io.Writer, what, dir string, v verdict) {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) } // nobody may be reading
	say("%s, %s\n", what, v.took.Round(time.Second))
	say("  accepted %d  expected %d  delivered %d  duplicate %d (at most %d)  dead %d %s  lost %d  leaked %d  misordered %d  late %d\n",
		v.Accepted, v.Expected, v.Delivered, v.Duplicate, v.Excused, v.Dead, v.ends(), v.Lost, v.Leaked, v.Misordered, v.Late)
	const shown = 20
	for i, broken := range v.violations {
		if i == shown {
			say("  ... and %d more\n", len(v.violations)-shown)
			break
		}
		say("  BROKEN %s: %s\n", broken.Invariant, broken.What)
	}
	if v.bad() {
		say("  the ledgers and the logs are in %s\n", filepath.Clean(dir))
	}
}
