// Gen writes the embedded export values of package netbilling. It reads the tables in
// SOURCES.md from the directory data/export of GRIDHOOK_TESTDATA.
package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/gridhook/gridhook/pricing/internal/embedded/pack"
	"github.com/gridhook/gridhook/pricing/netbilling/internal/form"
)

// source is one file of the source.
type source struct {
	Utility      string `json:"utility"`
	EIAID        string `json:"eia_id"`
	ExactThrough int    `json:"exact_through"`
	Years        map[string]struct {
		Generation, Delivery [12][2][24]float64
	} `json:"years"`
}

// files are read in this order. The vintages of a file share its values.
var files = []struct {
	name     string
	vintages []string
}{
	{"nbt_pge_nbt00.json", []string{"NBT00"}},
	{"nbt_pge_nbt23.json", []string{"NBT23"}},
	{"nbt_pge_nbt24.json", []string{"NBT24"}},
	{"nbt_pge_nbt25.json", []string{"NBT25"}},
	{"nbt_pge_nbt26.json", []string{"NBT26"}},
	{"nbt_sce_2022acc.json", []string{"NBT23", "NBT24"}},
	{"nbt_sdge_2022acc.json", []string{"NBT23", "NBT24"}},
}

func main() { pack.Main(run) }

const name = "values.bin"

func run(data string) error {
	var tables []form.Table
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(data, "export", f.name)) //nolint:gosec // the directory is the operator's own
		if err != nil {
			return err
		}
		t, err := table(text)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		t.Vintages = f.vintages
		tables = append(tables, t)
	}
	fmt.Printf("%s: %d tables\n", name, len(tables))
	return pack.Write(name, tables)
}

func table(text []byte) (t form.Table, err error) {
	var s source
	if err := json.Unmarshal(text, &s); err != nil {
		return t, err
	}
	years := slices.Sorted(maps.Keys(s.Years))
	t = form.Table{Utility: s.Utility, ExactThrough: s.ExactThrough}
	if t.EIAID, err = strconv.Atoi(s.EIAID); err != nil {
		return t, err
	}
	if t.FirstYear, err = strconv.Atoi(years[0]); err != nil {
		return t, err
	}
	for i, year := range years {
		if year != strconv.Itoa(t.FirstYear+i) {
			return t, fmt.Errorf("%d is missing", t.FirstYear+i)
		}
		t.Years = append(t.Years, form.Year{Generation: steps(s.Years[year].Generation), Delivery: steps(s.Years[year].Delivery)})
	}
	return t, nil
}

// steps converts the values of a component to steps.
func steps(values [12][2][24]float64) (c form.Component) {
	for month, kinds := range values {
		for kind, hours := range kinds {
			for hour, value := range hours {
				c[month][kind][hour] = int32(math.Round(value * form.Steps))
			}
		}
	}
	return c
}
