package main

import "testing"

// The yearly energy of ten simulated houses is within the range that docs/savings.md
// states. Energy near zero is not compared.
func TestCompare_PublishedEnergy(t *testing.T) {
	const lowest, highest = 0.6, 1.25
	all, err := compare()
	if err != nil {
		t.Fatal(err)
	}
	heated, cooled := 0, 0
	check := func(c *comparison, what string, got, want float64, count *int) {
		if want < 15 {
			return
		}
		*count++
		if ratio := got / want; ratio < lowest || ratio > highest {
			t.Errorf("%s: %s of %.0f, published %.0f", c.name, what, got, want)
		}
	}
	for i := range all {
		c := &all[i]
		check(c, "heating, therms", c.therms, c.wantTherms, &heated)
		check(c, "cooling, kWh", c.coolingKwh, c.wantCooling, &cooled)
	}
	if len(all) != 10 || heated != 7 || cooled != 9 {
		t.Errorf("%d places, %d heated and %d cooled", len(all), heated, cooled)
	}
}
