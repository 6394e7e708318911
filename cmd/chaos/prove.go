package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/cmd/internal/blackbox"
)

// provedAtOnce is the number of bugs that run in parallel: most of the time is spent
// waiting.
const provedAtOnce = 3

// prove runs Gridhook with each bug until the harness finds the bug. An error names the
// bugs that it did not find.
func prove(dir string, binaries blackbox.Binaries, seed uint64, out io.Writer) error {
	list := plants()
	var err error
	if binaries.Gridhook, err = blackbox.BuildWithFailpoints(dir); err != nil {
		return err
	}
	wrong := make([]string, len(list))
	var group errgroup.Group
	group.SetLimit(provedAtOnce)
	for i, p := range list {
		group.Go(func() error {
			right, err := p.prove(dir, binaries, seed, out)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			if !right {
				wrong[i] = p.name
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if wrong = slices.DeleteFunc(wrong, func(name string) bool { return name == "" }); len(wrong) > 0 {
		return fmt.Errorf("the harness does not tell right from wrong: %s", strings.Join(wrong, ", "))
	}
	return nil
}

// prove reports whether the harness judges the plant correctly.
func (p *plant) prove(dir string, binaries blackbox.Binaries, seed uint64, out io.Writer) (right bool, err error) {
	say := func(format string, args ...any) {
		_, _ = fmt.Fprintf(out, "  planted "+p.name+": "+format+"\n", args...) // nobody may be reading
	}
	const tries = 3
	for try := range tries {
		v, err := p.run(filepath.Join(dir, fmt.Sprintf("%s-%d", p.name, try)), binaries, seed+uint64(try))
		broken := p.found(v)
		switch {
		case errors.Is(err, errNoDisk):
			say("SKIPPED: %v", err)
			return true, nil
		case p.name == nothing && v.bad():
			say("found %s: %s", v.violations[0].Invariant, v.violations[0].What)
			return false, err
		case p.name == nothing:
			say("found nothing in %s", v.took.Round(time.Second))
			return true, err
		case broken != nil:
			say("found in %s: %s: %s", v.took.Round(time.Second), broken.Invariant, broken.What)
			return true, nil
		case err != nil:
			return false, err
		}
	}
	say("NOT FOUND")
	return false, nil
}

// run runs a round that should reveal the bug.
func (p *plant) run(dir string, binaries blackbox.Binaries, seed uint64) (v verdict, err error) {
	const drain = 40 * time.Second
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return v, err
	}
	if p.visits != "" {
		d := &directed{dir: dir, binaries: binaries, out: io.Discard, failpoints: p.failpoints, only: p.visits, drain: drain}
		return d.run()
	}
	r := &round{
		topology: serve, seed: seed, cycles: p.cycles, only: p.only, pace: 200 * time.Millisecond, drain: drain, hopeful: true,
		dir: dir, binaries: binaries, failpoints: p.failpoints, out: io.Discard,
	}
	if p.powerCuts {
		return r.powerCuts()
	}
	return r.run()
}

// found returns the first violation that the bug accounts for, or nil if there is none.
func (p *plant) found(v verdict) *violation {
	i := slices.IndexFunc(v.violations, func(v violation) bool { return slices.Contains(p.breaks, v.Invariant) })
	if i < 0 {
		return nil
	}
	return &v.violations[i]
}
