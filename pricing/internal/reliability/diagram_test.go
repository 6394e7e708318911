package reliability

import "fmt"

// checks are the comparisons by name.
var checks = []struct {
	name    string
	deciles int // at least, with enough intervals to compare
	count   func(dir string) (*diagram, error)
}{
	{"market forecasts, up to 30 days", 5, markets},
	{"tiers without a usage", 5, tiers},
	{"carbon of the hour", 5, emissions},
	{"probability of exporting", 5, exports},
	{"regime unknown, on a plan with a sell rate", 2, regimes},
}

// diagram is a reliability diagram: claims and outcomes by decile of the claim.
type diagram struct {
	claimed, came [10]float64
	count         [10]int
}

func (d *diagram) add(claim float64, came bool) {
	decile := min(int(claim*10), 9)
	d.count[decile]++
	d.claimed[decile] += claim
	if came {
		d.came[decile]++
	}
}

// decile returns the mean claim, the share of true claims and the number of intervals.
func (d *diagram) decile(i int) (claimed, came float64, count int) {
	n := float64(max(1, d.count[i]))
	return d.claimed[i] / n, d.came[i] / n, d.count[i]
}

// String returns the diagram as a table.
func (d *diagram) String() string {
	text := "| claimed | came true | intervals |\n|---|---|---|\n"
	for i := range d.count {
		if claimed, came, count := d.decile(i); count > 0 {
			text += fmt.Sprintf("| %.2f | %.2f | %d |\n", claimed, came, count)
		}
	}
	return text
}
