package tour

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/gridhook/gridhook/pricing/catalog"
)

// TestTariff checks that the tour's tariff equals the catalog's.
func TestTariff(t *testing.T) {
	plan, ok := catalog.ByID("pge-e-elec")
	if !ok {
		t.Fatal("the catalog has no pge-e-elec")
	}
	file, err := os.ReadFile(filepath.Join(repository(t), "docs/tour/pge-e-elec.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want, got any
	if err := json.Unmarshal(plan.URDB, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(file, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("docs/tour/pge-e-elec.json is not the catalog's plan")
	}
}
