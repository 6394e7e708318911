// Gen writes the embedded typical years of package climate. It reads the tables in
// SOURCES.md from the directory data of GRIDHOOK_TESTDATA. It selects the stations that
// serve the most people.
package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd" //nolint:depguard // the generator is no part of the product

	"github.com/gridhook/gridhook/pricing/climate"
	"github.com/gridhook/gridhook/pricing/climate/internal/form"
	"github.com/gridhook/gridhook/pricing/climate/internal/state"
	"github.com/gridhook/gridhook/pricing/climate/internal/zone"
	"github.com/gridhook/gridhook/pricing/internal/embedded/pack"
)

// embeddedYears is the number of years, some 6 MB together.
const embeddedYears = 541

// station is a line of the source's index.
type station struct {
	ID, Name, State string
	Lat, Lon        float64
	Offset          float64 `json:"tz_offset_h"`
	Elevation       float64 `json:"elev_m"`
	Sun             float64 `json:"ghi_kwh_m2_yr"`
	Heating         float64 `json:"hdd65f"`
	Cooling         float64 `json:"cdd65f"`
	zone            string
}

func main() { pack.Main(run) }

func run(dir string) error {
	stations, err := readStations(filepath.Join(dir, "weather", "tmy3", "index.ndjson"))
	if err != nil {
		return err
	}
	zones, people, err := readZones(filepath.Join(dir, "weather", "county_climate_zones.csv"))
	if err != nil {
		return err
	}
	places, err := readPlaces(filepath.Join(dir, "geo", "zip_master.csv"), zones, people)
	if err != nil {
		return err
	}
	for i := range stations {
		stations[i].zone = zoneAt(&stations[i], places)
	}
	var years bytes.Buffer
	var index []*climate.Year
	for _, s := range choose(stations, places)[:embeddedYears] {
		packed, err := compact(filepath.Join(dir, "weather", "tmy3", s.ID+".csv.zst"))
		if err != nil {
			return fmt.Errorf("%s: %w", s.ID, err)
		}
		years.Write(packed)
		index = append(index, s.year(len(packed)))
		stations = slices.DeleteFunc(stations, func(o station) bool { return o.ID == s.ID })
	}
	for i := range stations {
		index = append(index, stations[i].year(0))
	}
	fmt.Printf("%d years of %d stations, %d bytes\n", embeddedYears, len(index), years.Len())
	if err := pack.Write(filepath.Join("data", "stations.bin"), index); err != nil {
		return err
	}
	for name, data := range map[string][]byte{"years.bin": years.Bytes(), "zones.txt": zoneTable(zones)} {
		if err := os.WriteFile(filepath.Join("data", name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// year returns the entry of the index. size is the size of the packed hours, 0 for none.
func (s *station) year(size int) *climate.Year {
	return &climate.Year{
		Station: s.ID, Name: title(s.Name), State: s.State, Zone: s.zone, Source: "TMY3", Offset: time.Duration(s.Offset * float64(time.Hour)),
		Lat: s.Lat, Lon: s.Lon, Elevation: s.Elevation, HeatingDegreeDays: s.Heating, CoolingDegreeDays: s.Cooling, Size: size,
	}
}

// title converts a name in capitals to title case.
func title(s string) string {
	words := strings.Fields(strings.ToLower(s))
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, " ")
}

func readStations(name string) (list []station, err error) {
	text, err := os.ReadFile(name) //nolint:gosec // the directory is the developer's own
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		var s station
		if err := json.Unmarshal(line, &s); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// readZones returns the climate zone and the population of counties, by zone.Key.
func readZones(name string) (zones map[string]string, people map[string]float64, err error) {
	rows, err := pack.Table(name)
	if err != nil {
		return nil, nil, err
	}
	zones, people = map[string]string{}, map[string]float64{}
	for _, row := range rows[1:] {
		key := zone.Key(state.Codes[row[1]], row[2])
		zones[key] = row[7] + row[8]
		people[key], _ = strconv.ParseFloat(row[5], 64) // 0 if the source has no count
	}
	return zones, people, nil
}

// zoneTable writes the counties of each zone: a line for each state and zone.
func zoneTable(zones map[string]string) []byte {
	lines := map[string][]string{}
	for key, z := range zones {
		state, county, _ := strings.Cut(key, " ")
		lines[state+" "+z] = append(lines[state+" "+z], county)
	}
	var text []string
	for head, counties := range lines {
		slices.Sort(counties)
		text = append(text, head+" "+strings.Join(counties, " "))
	}
	slices.Sort(text)
	return []byte(strings.Join(text, "\n") + "\n")
}

// compact converts a table to the compact form.
func compact(name string) ([]byte, error) {
	packed, err := os.ReadFile(name) //nolint:gosec // the directory is the developer's own
	if err != nil {
		return nil, err
	}
	in, err := zstd.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	defer in.Close()
	rows, err := csv.NewReader(in).ReadAll()
	if err != nil {
		return nil, err
	}
	columns := map[string][]float64{}
	for i, name := range rows[0] {
		for _, row := range rows[1:] {
			v, err := strconv.ParseFloat(row[i], 64)
			if err != nil {
				return nil, err
			}
			columns[name] = append(columns[name], v)
		}
	}
	dni, dhi, ghi := steps(columns["dni"], form.SunStep), steps(columns["dhi"], form.SunStep), steps(columns["ghi"], form.SunStep)
	y, before := form.Year{Wind: winds(columns["wspd"])}, 0
	for hour, degrees := range steps(columns["tdry_c"], form.TemperatureStep) {
		y.Temperature, before = append(y.Temperature, int8(degrees-before)), degrees
		y.Sun = append(y.Sun, uint8(dni[hour]), uint8(dhi[hour]), uint8(ghi[hour]-dhi[hour]))
	}
	if len(y.Temperature) != form.Hours {
		return nil, fmt.Errorf("%d hours, want %d", len(y.Temperature), form.Hours)
	}
	return pack.Encode(y)
}

// steps converts a column to steps. An hour of night keeps 0 sun.
func steps(values []float64, step float64) []int {
	steps := make([]int, len(values))
	carried := 0.0
	for i, v := range values {
		if v == 0 && step == form.SunStep {
			continue
		}
		steps[i] = int(math.Round((v + carried) / step))
		if step == form.SunStep && steps[i] < 0 {
			steps[i] = 0
		}
		carried += v - float64(steps[i])*step
	}
	return steps
}

// winds returns the mean winds by month and hour of the day.
func winds(values []float64) []uint8 {
	var sums, counts [form.Months * form.HoursADay]float64
	for i, v := range values {
		at := form.WindAt(i)
		sums[at] += v
		counts[at]++
	}
	winds := make([]uint8, len(sums))
	for at := range winds {
		winds[at] = uint8(math.Round(sums[at] / counts[at] / form.WindStep))
	}
	return winds
}
