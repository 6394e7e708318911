package catalog_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/pricing/catalog"
)

func TestRead(t *testing.T) {
	const a, b = `{"utility":"U","name":"A","startdate":"2026-01-01","energyratestructure":[[{"rate":1}]]}`,
		`{"utility":"U","name":"A","energyratestructure":[[{"rate":2}]]}`
	other := strings.ReplaceAll(b, `"A"`, `"B"`)
	for _, tt := range []struct {
		name, file string
		plans      []string // names
		versions   int      // of the first
	}{
		{"bare", a, []string{"A"}, 1},
		{"array", "[" + a + "," + other + "," + b + "]", []string{"A", "B"}, 2},
		{"items", `{"items":[` + a + "," + b + `]}`, []string{"A"}, 2},
		{"lines", `{"state":"AZ","utility":"U","eia_id":"7","plan":"C","urdb":"x","tz":"UTC","tariff":{"kind":"flat","import":{"flatRate":0.1}}}` + "\n\n", []string{"C"}, 1},
	} {
		documents, err := catalog.Read([]byte(tt.file))
		if err != nil || len(documents) != len(tt.plans) {
			t.Errorf("%s: %d plans, %v", tt.name, len(documents), err)
			continue
		}
		for i, d := range documents {
			tariff, err := pricing.ParseURDB(d.URDB)
			if err != nil || d.Name != tt.plans[i] || tariff.Info().Name != d.Name || d.Utility != "U" {
				t.Errorf("%s: %+v, %v", tt.name, d, err)
			}
			if i == 0 && err == nil && len(tariff.Versions()) != tt.versions {
				t.Errorf("%s: %d versions", tt.name, len(tariff.Versions()))
			}
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ file, want string }{
		"empty":      {"", "it is empty"},
		"number":     {"7", "must be a JSON object"},
		"no items":   {`{"items":[]}`, "the list is empty"},
		"components": {`{"tariffs":[]}`, `"tariffs" by component are not rates`},
		"entry":      {`[7]`, "entry 1"},
		"line":       {"{}\n{}", "line 1: catalog: not a rate of open-energy-tariffs"},
	} {
		if _, err := catalog.Read([]byte(tt.file)); !errors.Is(err, catalog.ErrFile) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// Every published tariff at hand imports, or is refused with the exact reason.
func TestPublishedTariffsImport(t *testing.T) {
	testdata(t, "SOURCE.md")
	refused := map[string]string{
		"urdb_539f6a23ec4f024411ec8beb.json": `energyratestructure[0][0].unit: "kWh/kW" steps with the kWh used per kW of demand, which a price signal cannot know`,
		"pge_residential_2025_2026.json":     `"tariffs" by component are not rates of the rate database`, // the catalog has them
	}
	plans := map[string]int{"us_urdb_catalogue_cc0.ndjson": 321, "ca_tou_2026.json": 3}
	files, err := filepath.Glob(filepath.Join(os.Getenv("GRIDHOOK_TESTDATA"), "data", "tariffs", "*json"))
	if err != nil || len(files) < 13 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		documents, err := catalog.Read(testdata(t, "tariffs", name))
		for _, d := range documents {
			if _, problem := pricing.ParseURDB(d.URDB); problem != nil {
				err = problem
			}
		}
		if want := refused[name]; want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %s", name, err, want)
			}
			continue
		}
		if err != nil || len(documents) != max(plans[name], 1) {
			t.Errorf("%s: %d plans, %v", name, len(documents), err)
		}
	}
}
