// Reliability compares the confidence of prices with the truth. For each decile of
// confidence it prints the share of intervals within a tenth of the truth.
// docs/pricing.md shows the output. Reliability reads the directory data of
// GRIDHOOK_TESTDATA.
//
//	go run ./pricing/internal/reliability
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/gridhook/gridhook/pricing/internal/embedded/pack"
)

func main() {
	pack.Main(func(data string) error { return run(data, os.Stdout) })
}

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

func run(dir string, out io.Writer) error {
	for _, c := range checks {
		d, err := c.count(dir)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Fprintf(out, "%s\n%s\n", c.name, d) //nolint:errcheck // a terminal or a buffer
	}
	return nil
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
