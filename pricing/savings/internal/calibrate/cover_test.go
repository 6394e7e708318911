package main

import (
	"math/rand/v2"
	"testing"
	"time"
)

// The band holds four of five draws over all held-out climates. Each climate is checked
// by the command, with more draws.
func TestCover_FourOfFive(t *testing.T) {
	const draws = 6
	var all coverage
	for i, p := range sets[heldOut].places {
		location, err := time.LoadLocation(p.zone)
		if err != nil {
			t.Fatal(err)
		}
		c, err := cover(p, location, sets[heldOut].tariffs, draws, rand.New(rand.NewPCG(23, uint64(i)))) //nolint:gosec // an index; reproducible by intent
		if err != nil {
			t.Fatal(err)
		}
		all.below, all.in, all.above = all.below+c.below, all.in+c.in, all.above+c.above
	}
	total := draws * len(sets[heldOut].places)
	if share := float64(all.in) / float64(total); share < 0.70 || share > 0.90 || all.below == 0 || all.above == 0 {
		t.Errorf("of %d draws %+v", total, all)
	}
}
