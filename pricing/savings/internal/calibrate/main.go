// Calibrate checks the uncertainty band of estimated savings. It draws homes in eight
// climates. Each home differs from the estimate's assumptions in its weather station,
// device and prices. Calibrate prints the share of true savings within the band. With
// -reference it prints the energy of a reference house next to published figures.
//
//	go run ./pricing/savings/internal/calibrate -draws 500
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"time"
	_ "time/tzdata" // the same zones on every machine
)

func main() {
	draws := flag.Int("draws", 500, "draws in each climate")
	name := flag.String("set", heldOut, "places and tariffs: held-out, seen or tuning")
	climate := flag.String("climate", "", "only the climate of this name")
	reference := flag.Bool("reference", false, "the reference house and the setback instead")
	flag.Parse()
	if err := run(*draws, *name, *climate, *reference); err != nil {
		fmt.Fprintln(os.Stderr, "calibrate:", err)
		os.Exit(1)
	}
}

func run(draws int, name, climate string, reference bool) error {
	if reference {
		return printReference()
	}
	chosen, ok := sets[name]
	if !ok {
		return fmt.Errorf("set %q is not held-out, seen or tuning", name)
	}
	fmt.Printf("%-14s %6s %8s %8s %8s\n", "climate", "draws", "below", "in band", "above")
	for i, p := range chosen.places {
		if climate != "" && p.name != climate {
			continue
		}
		location, err := time.LoadLocation(p.zone)
		if err != nil {
			return err
		}
		c, err := cover(p, location, chosen.tariffs, draws, rand.New(rand.NewPCG(19, uint64(i)))) //nolint:gosec // an index; reproducible by intent
		if err != nil {
			return err
		}
		n := float64(draws) / 100
		fmt.Printf("%-14s %6d %6.1f %% %6.1f %% %6.1f %%\n", p.name, draws, float64(c.below)/n, float64(c.in)/n, float64(c.above)/n)
	}
	return nil
}
