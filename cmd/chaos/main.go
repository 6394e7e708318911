package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/blackbox"
)

func main() {
	broken, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
	}
	if broken || err != nil {
		os.Exit(1)
	}
}

// options holds the command line.
type options struct {
	seed       uint64
	cycles     int
	topologies []topology
	pace       time.Duration
	dir        string
	only       string
	directed   bool
	prove      bool
	powerCuts  int
	diskFulls  int
	rolling    int
}

func parse(args []string, out io.Writer) (options, error) {
	o := options{}
	f := flag.NewFlagSet("chaos", flag.ContinueOnError)
	f.SetOutput(out)
	f.Uint64Var(&o.seed, "seed", 0, "which faults, in which order; 0 takes one by chance and prints it")
	f.IntVar(&o.cycles, "cycles", 25, "how many faults, shared out among the topologies")
	f.DurationVar(&o.pace, "pace", 700*time.Millisecond, "the mean pause between two requests of one of the three partners")
	f.StringVar(&o.dir, "dir", "", "the `folder` for ledgers and logs; by default one that is removed where nothing was broken")
	f.StringVar(&o.only, "only", "", "part of the names of the faults that are wanted")
	f.BoolVar(&o.directed, "directed", true, "begin with the directed faults")
	f.BoolVar(&o.prove, "prove", false, "prove the harness instead: it must find bugs that are planted")
	f.IntVar(&o.powerCuts, "power-cuts", 0, "how many power cuts beside, for which root is needed")
	f.IntVar(&o.diskFulls, "disk-fulls", 0, "how often a disk is filled beside, for which root is needed")
	f.IntVar(&o.rolling, "rolling", 0, "how often every process of a cluster is restarted beside, one after another")
	which := f.String("topology", "serve,fleet,cluster", "which of serve, fleet and cluster, with commas between them")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	for name := range strings.SplitSeq(*which, ",") {
		t := topology(name)
		if t.describe() == "" {
			return o, fmt.Errorf("there is no topology %q", name)
		}
		o.topologies = append(o.topologies, t)
	}
	if o.seed == 0 {
		o.seed = rand.Uint64N(1_000_000) + 1 //nolint:gosec // it is printed
	}
	return o, nil
}

// run runs the selected rounds and reports whether an invariant was broken.
func run(args []string, out io.Writer) (broken bool, err error) {
	o, err := parse(args, out)
	if err != nil {
		return false, err
	}
	temporary := o.dir == ""
	if temporary {
		if o.dir, err = os.MkdirTemp("", "gridhook-chaos-"); err != nil {
			return false, err
		}
	} else if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return false, err
	}
	binaries, err := blackbox.Build(o.dir)
	if err != nil {
		return false, err
	}
	_, _ = fmt.Fprintf(out, "seed %d\n", o.seed)
	if o.prove {
		err = prove(o.dir, binaries, o.seed, out)
	} else {
		broken, err = o.rounds(binaries, out)
	}
	if temporary && !broken && err == nil {
		err = os.RemoveAll(o.dir)
	}
	return broken, err
}

// rounds runs the directed faults, a round for each topology, and the additional rounds.
func (o *options) rounds(b blackbox.Binaries, out io.Writer) (broken bool, err error) {
	if o.directed {
		d := &directed{dir: o.dir, binaries: b, out: out, drain: drainWithin}
		if d.binaries.Gridhook, err = blackbox.BuildWithFailpoints(o.dir); err != nil {
			return false, err
		}
		v, err := d.run()
		report(out, "directed faults", d.dir, v)
		if broken = v.bad(); err != nil {
			return broken, err
		}
	}
	for i, t := range o.topologies {
		r := o.round(t, string(t), share(o.cycles, i, len(o.topologies)), b, out)
		v, err := r.run()
		report(out, fmt.Sprintf("%s (%s), seed %d, %d cycles", t, t.describe(), r.seed, r.cycles), r.dir, v)
		broken = broken || v.bad()
		if err != nil {
			return broken, err
		}
	}
	for _, beside := range []struct {
		name   string
		of     topology
		cycles int
		run    func(*round) (verdict, error)
	}{
		{"rolling restarts", cluster, o.rolling, (*round).rolling},
		{"power cuts", serve, o.powerCuts, (*round).powerCuts},
		{"full disks", serve, o.diskFulls, (*round).diskFull},
	} {
		if beside.cycles == 0 {
			continue
		}
		r := o.round(beside.of, strings.ReplaceAll(beside.name, " ", "-"), beside.cycles, b, out)
		v, err := beside.run(r)
		if errors.Is(err, errNoDisk) {
			_, _ = fmt.Fprintf(out, "SKIPPED: there can be no %s here: %v\n", beside.name, err)
			continue
		}
		report(out, fmt.Sprintf("%s (%s), seed %d, %d of them", beside.name, beside.of.describe(), r.seed, r.cycles), r.dir, v)
		broken = broken || v.bad()
		if err != nil {
			return broken, err
		}
	}
	return broken, nil
}

func (o *options) round(t topology, name string, cycles int, b blackbox.Binaries, out io.Writer) *round {
	return &round{
		topology: t, seed: o.seed, cycles: cycles, pace: o.pace, only: o.only, drain: drainWithin,
		dir: filepath.Join(o.dir, name), binaries: b, out: out,
	}
}

// share returns the i-th of n shares of a whole. The first shares are the larger ones.
func share(whole, i, n int) int { return (whole + n - 1 - i) / n }
