package netbilling_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing/netbilling"
)

func TestValues_Published(t *testing.T) {
	for _, tt := range []struct {
		name                 string
		year                 int
		month                time.Month
		weekend              bool
		hour                 int
		generation, delivery float64
		published            bool
	}{
		{"PG&E NBT00", 2026, time.January, false, 0, 0.09342, 0.00089, true},
		{"pge nbt25", 2026, time.June, false, 18, 0.08745, 0.18358, true},
		{"14328 NBT26", 2026, time.September, false, 19, 0.59312, 0.00193, true},
		{"PG&E NBT25", 2035, time.June, false, 18, 0.08906, 0.33465, true},
		{"PG&E NBT25", 2036, time.June, false, 18, 0.08746, 0.33894, false}, // PG&E marks it as an estimate
		{"SCE NBT24", 2036, time.June, false, 18, 0.08229, 0.20064, true},
		{"SCE NBT24", 2023, time.January, false, 0, 0.04951, 0, true},
		{"SCE NBT24", 2022, time.January, false, 0, 0.04951, 0, false},
	} {
		v, ok := netbilling.Named(tt.name)
		if !ok {
			t.Fatalf("%s is not known", tt.name)
		}
		got := v.At(tt.year, tt.month, tt.weekend, tt.hour)
		if got.Generation != tt.generation || tt.delivery != 0 && got.Delivery != tt.delivery || got.Published != tt.published {
			t.Errorf("%s, %d-%d %d:00: got %+v", tt.name, tt.year, tt.month, tt.hour, got)
		}
	}
}

func TestNamed_EveryName(t *testing.T) {
	names := netbilling.Names()
	if len(names) != 9 {
		t.Errorf("got %v", names)
	}
	for _, name := range names {
		v, ok := netbilling.Named(name)
		if !ok {
			t.Errorf("%s is not found", name)
			continue
		}
		if utility, eiaID := v.Utility(); !strings.HasPrefix(name, utility) || eiaID == 0 || !strings.Contains(v.String(), utility) {
			t.Errorf("%s: got %v, %s, %d", name, v, utility, eiaID)
		}
		// A value is never negative, and years beyond the last repeat it.
		_, last := v.Years()
		for hour := range 24 {
			a, b := v.At(last, time.May, true, hour), v.At(last+30, time.May, true, hour)
			if a.Total() < 0 || b.Published {
				t.Errorf("%s: %+v, %+v", name, a, b)
			}
		}
	}
	if _, ok := netbilling.Named("PG&E NBT27"); ok {
		t.Error("found unknown values")
	}
}

func TestAdder_Years(t *testing.T) {
	for _, tt := range []struct {
		name            string
		segment         netbilling.Segment
		connected, year int
		want            float64
	}{
		{"PG&E NBT23", netbilling.General, 2023, 2023, 0.022},
		{"PG&E NBT23", netbilling.General, 2023, 2031, 0.022},
		{"PG&E NBT23", netbilling.General, 2023, 2032, 0},
		{"PG&E NBT23", netbilling.General, 2023, 2022, 0},
		{"PG&E NBT26", netbilling.LowIncome, 2027, 2030, 0.018},
		{"PG&E NBT26", netbilling.NewHome, 2025, 2026, 0},
		{"SCE NBT24", netbilling.General, 2026, 2026, 0.016},
		{"SCE NBT24", netbilling.LowIncome, 2023, 2026, 0.093},
		{"SCE NBT24", netbilling.General, 2028, 2028, 0},
		{"SDG&E NBT23", netbilling.LowIncome, 2023, 2026, 0},
		{"PG&E NBT23", netbilling.General, 2022, 2026, 0},
	} {
		v, _ := netbilling.Named(tt.name)
		if got := v.Adder(tt.segment, tt.connected, tt.year); got != tt.want {
			t.Errorf("%+v: got %v", tt, got)
		}
	}
}

// The adders are those of the source, for as long as a home has them.
func TestAdder_MatchesSource(t *testing.T) {
	root := os.Getenv("GRIDHOOK_TESTDATA")
	if root == "" {
		t.Skip("GRIDHOOK_TESTDATA is not set: no published data")
	}
	data, err := os.ReadFile(filepath.Join(root, "data", "export", "acc_plus_adders.csv"))
	if err != nil {
		t.Fatal(err)
	}
	segments := map[string]netbilling.Segment{
		"Residential General Market": netbilling.General, "Residential Low-Income": netbilling.LowIncome, "Residential New Home/Change of Party": netbilling.NewHome,
	}
	for line := range strings.Lines(string(data)) {
		row := strings.Split(strings.TrimSpace(line), ",")
		segment, ok := segments[row[1]]
		if !ok {
			continue // the headings, and customers that are no homes
		}
		v, _ := netbilling.Named(row[0] + " NBT23")
		for i, text := range row[2:] {
			want, err := strconv.ParseFloat(text, 64)
			if got := v.Adder(segment, 2023+i, 2023+i); err != nil || got != want {
				t.Errorf("%s, %s, connected in %d: %v, want %s, %v", row[0], segment, 2023+i, got, text, err)
			}
		}
	}
}

// One component of a vintage has no values of the other one. The adder belongs to the delivery.
func TestOnly_Vintage(t *testing.T) {
	v, _ := netbilling.Named("PG&E NBT26")
	both := v.Vintage(2024, 2024)
	whole := both.At(2026, time.June, false, 18)
	for only, want := range map[netbilling.Component]netbilling.Value{
		netbilling.Generation: {Generation: whole.Generation, Published: true}, netbilling.Delivery: {Delivery: whole.Delivery, Published: true},
	} {
		part := v.Only(only).Vintage(2024, 2024)
		if got := part.At(2026, time.June, false, 18); got != want || !part.Certain {
			t.Errorf("%s: %+v, want %+v", only, got, want)
		}
		if got := part.Adder(netbilling.General, 2023, 2026); got != map[netbilling.Component]float64{netbilling.Delivery: 0.022}[only] {
			t.Errorf("%s: an adder of %v", only, got)
		}
	}
	if whole.Generation == 0 || whole.Delivery == 0 {
		t.Errorf("both: %+v", whole)
	}
}

// The embedded tables have every value of the source.
func TestValues_MatchSource(t *testing.T) {
	root := os.Getenv("GRIDHOOK_TESTDATA")
	if root == "" {
		t.Skip("GRIDHOOK_TESTDATA is not set: no published data")
	}
	for file, name := range map[string]string{
		"nbt_pge_nbt00.json": "PG&E NBT00", "nbt_pge_nbt23.json": "PG&E NBT23", "nbt_pge_nbt24.json": "PG&E NBT24",
		"nbt_pge_nbt25.json": "PG&E NBT25", "nbt_pge_nbt26.json": "PG&E NBT26",
		"nbt_sce_2022acc.json": "SCE NBT24", "nbt_sdge_2022acc.json": "SDG&E NBT23",
	} {
		data, err := os.ReadFile(filepath.Join(root, "data", "export", file))
		if err != nil {
			t.Fatal(err)
		}
		var source struct {
			Years map[string]map[string][][][]float64
		}
		if err := json.Unmarshal(data, &source); err != nil {
			t.Fatal(err)
		}
		v, ok := netbilling.Named(name)
		if !ok {
			t.Fatalf("%s is not known", name)
		}
		for text, components := range source.Years {
			year, err := strconv.Atoi(text)
			if err != nil {
				t.Fatal(err)
			}
			for month := range 12 {
				for kind := range 2 {
					for hour := range 24 {
						got := v.At(year, time.Month(month+1), kind == 1, hour)
						want := components["generation"][month][kind][hour] + components["delivery"][month][kind][hour]
						if math.Abs(got.Total()-want) > 1e-12 {
							t.Fatalf("%s, %d-%d, kind %d, %d:00: %v, want %v", name, year, month+1, kind, hour, got, want)
						}
					}
				}
			}
		}
	}
}
