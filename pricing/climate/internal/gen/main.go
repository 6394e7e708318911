// Gen writes the typical years that package climate embeds. It reads the tables
// that SOURCES.md names from the directory data/weather of GRIDHOOK_TESTDATA.
package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gridhook/gridhook/pricing/climate/internal/form"
)

// station is a line of the index, read and written.
type station struct {
	File      string  `json:"file"`
	Location  string  `json:"location"`
	State     string  `json:"state"`
	Station   string  `json:"wmo"`
	Lat       float64 `json:"lat"`
	Lon       float64 `json:"lon"`
	Offset    float64 `json:"tz_offset_h"`
	Elevation float64 `json:"elev_m"`
}

func main() {
	if err := run(os.Getenv("GRIDHOOK_TESTDATA")); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	if dir == "" {
		return fmt.Errorf("set GRIDHOOK_TESTDATA to the directory that has data/weather")
	}
	weather := os.DirFS(filepath.Join(dir, "data", "weather"))
	index, err := fs.ReadFile(weather, "index.json")
	if err != nil {
		return err
	}
	var stations []station
	if err := json.Unmarshal(index, &stations); err != nil {
		return err
	}
	slices.SortFunc(stations, func(a, b station) int { return strings.Compare(a.File, b.File) })
	total := 0
	for i := range stations {
		f, err := weather.Open(stations[i].File)
		if err != nil {
			return err
		}
		rows, err := csv.NewReader(f).ReadAll()
		_ = f.Close() // it was only read
		if err != nil {
			return err
		}
		packed, err := pack(rows)
		if err != nil {
			return fmt.Errorf("%s: %w", stations[i].File, err)
		}
		stations[i].File = strings.TrimSuffix(stations[i].File, ".csv") + ".bin"
		total += len(packed)
		if err := os.WriteFile(filepath.Join("data", stations[i].File), packed, 0o600); err != nil {
			return err
		}
	}
	fmt.Printf("%d years, %d bytes\n", len(stations), total)
	return writeIndex(stations)
}

// pack brings the rows of a table, the header first, to the compact form.
func pack(rows [][]string) ([]byte, error) {
	values := make([][]float64, len(form.Columns))
	for i, column := range form.Columns {
		at := slices.Index(rows[0], column.Name)
		if at < 0 {
			return nil, fmt.Errorf("no column %s", column.Name)
		}
		for _, row := range rows[1:] {
			v, err := strconv.ParseFloat(row[at], 64)
			if err != nil {
				return nil, err
			}
			values[i] = append(values[i], v)
		}
	}
	return form.Encode(values)
}

// writeIndex writes one station a line.
func writeIndex(stations []station) error {
	var lines []string
	for _, s := range stations {
		line, err := json.Marshal(s)
		if err != nil {
			return err
		}
		lines = append(lines, string(line))
	}
	text := "[\n" + strings.Join(lines, ",\n") + "\n]\n"
	return os.WriteFile(filepath.Join("data", "index.json"), []byte(text), 0o600)
}
