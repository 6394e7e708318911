// Gen writes the embedded facts of package eligibility. It reads the tables in SOURCES.md
// from the directory data of GRIDHOOK_TESTDATA.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gridhook/gridhook/pricing/eligibility/internal/gen/compile"
	"github.com/gridhook/gridhook/pricing/internal/embedded/pack"
)

func main() {
	if err := run(os.Getenv("GRIDHOOK_TESTDATA")); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

const name = "facts.bin"

func run(dir string) error {
	if dir == "" {
		return fmt.Errorf("set GRIDHOOK_TESTDATA to the directory that has data/geo")
	}
	f, err := compile.Facts(os.DirFS(filepath.Join(dir, "data")))
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d zipcodes, %d utilities, %d territories\n", name, len(f.Zips), len(f.Utilities), len(f.Territories))
	return pack.Write(name, f)
}
