// Gen writes the embedded facts of package eligibility. It reads the tables in SOURCES.md
// from the directory data of GRIDHOOK_TESTDATA.
package main

import (
	"fmt"

	"github.com/gridhook/gridhook/pricing/eligibility/internal/gen/compile"
	"github.com/gridhook/gridhook/pricing/internal/embedded/pack"
)

func main() { pack.Main(run) }

const name = "facts.bin"

func run(data string) error {
	f, err := compile.Facts(data)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d zipcodes, %d utilities, %d territories\n", name, len(f.Zips), len(f.Utilities), len(f.Territories))
	return pack.Write(name, f)
}
