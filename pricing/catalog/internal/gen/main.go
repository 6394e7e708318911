// Gen writes the embedded plans of package catalog. It reads the tables in SOURCES.md from
// the directory data/tariffs of GRIDHOOK_TESTDATA, and the plans in sheets.json.
package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gridhook/gridhook/pricing/catalog"
	"github.com/gridhook/gridhook/pricing/catalog/internal/gen/build"
	"github.com/gridhook/gridhook/pricing/internal/embedded/pack"
)

//go:embed sheets.json
var written []byte

func main() { pack.Main(run) }

func run(data string) error {
	dir := filepath.Join(data, "tariffs")
	collection, err := os.ReadFile(filepath.Join(dir, "us_urdb_catalogue_cc0.ndjson")) //nolint:gosec,misspell // the directory is the operator's own; the collection's file has this name
	if err != nil {
		return err
	}
	pge, err := os.ReadFile(filepath.Join(dir, "pge_residential_2025_2026.json")) //nolint:gosec // the directory is the operator's own
	if err != nil {
		return err
	}
	plans, err := build.Plans(collection, pge, written)
	if err != nil {
		return err
	}
	list := make([]catalog.Plan, len(plans))
	for i, p := range plans {
		list[i] = p.Plan
		if list[i].URDB, err = p.RateJSON(); err != nil {
			return fmt.Errorf("%s: %w", p.ID, err)
		}
	}
	fmt.Printf("%d plans\n", len(list))
	return pack.Write("plans.bin", list)
}
