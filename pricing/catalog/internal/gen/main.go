// Gen writes the embedded catalog of package catalog. It reads the collection in
// SOURCES.md from the directory data/tariffs of GRIDHOOK_TESTDATA.
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/gridhook/gridhook/pricing/catalog/internal/form"
	"github.com/gridhook/gridhook/pricing/catalog/internal/gen/open"
	"github.com/gridhook/gridhook/pricing/catalog/internal/gen/pack"
)

const comment = `Residential rates of US utilities: US Utility Rate Database (CC0), through open-energy-tariffs 034afe12 (data CC0),
as in force on 2026-08-05. See SOURCES.md for what the rates leave out. Written by go generate; do not edit.`

func main() {
	dir := os.Getenv("GRIDHOOK_TESTDATA")
	err := usRates(dir, "us.txt")
	if err == nil {
		err = pgeSheets(dir, "pge.json")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// usRates writes the collection's rates in the compact form.
func usRates(dir, name string) error {
	if dir == "" {
		return fmt.Errorf("set GRIDHOOK_TESTDATA to the directory that has data/tariffs")
	}
	text, err := os.ReadFile(filepath.Join(dir, "data", "tariffs", "us_urdb_catalogue_cc0.ndjson")) //nolint:gosec,misspell // the directory is the operator's own; the collection's file has this name
	if err != nil {
		return err
	}
	var rates []form.Rate
	for i, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		rate, err := open.Parse(line)
		if err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
		rates = append(rates, rate)
	}
	slices.SortFunc(rates, func(a, b form.Rate) int {
		return cmp.Or(cmp.Compare(a.Utility.State, b.Utility.State), cmp.Compare(a.Utility.Name, b.Utility.Name),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.Label, b.Label))
	})
	packed := pack.Encode(comment, rates)
	fmt.Printf("%s: %d rates, %d bytes\n", name, len(rates), len(packed))
	return os.WriteFile(name, packed, 0o600)
}
