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
	tuning := flag.Bool("tuning", false, "the places and tariffs by which the band was set, instead of the others")
	climate := flag.String("climate", "", "only the climate of this name")
	reference := flag.Bool("reference", false, "the reference house and the setback instead")
	flag.Parse()
	if err := run(*draws, *tuning, *climate, *reference); err != nil {
		fmt.Fprintln(os.Stderr, "calibrate:", err)
		os.Exit(1)
	}
}

func run(draws int, tuning bool, climate string, reference bool) error {
	if reference {
		return printReference(os.Stdout)
	}
	places, tariffs := heldOutPlaces, heldOutTariffs
	if tuning {
		places, tariffs = tuningPlaces, tuningTariffs
	}
	fmt.Printf("%-14s %6s %8s %8s %8s\n", "climate", "draws", "below", "in band", "above")
	for i, p := range places {
		if climate != "" && p.name != climate {
			continue
		}
		location, err := time.LoadLocation(p.zone)
		if err != nil {
			return err
		}
		c, err := cover(p, location, tariffs, draws, rand.New(rand.NewPCG(19, uint64(i)))) //nolint:gosec // an index; reproducible by intent
		if err != nil {
			return err
		}
		n := float64(draws) / 100
		fmt.Printf("%-14s %6d %6.1f %% %6.1f %% %6.1f %%\n", p.name, draws, float64(c.below)/n, float64(c.in)/n, float64(c.above)/n)
	}
	return nil
}
