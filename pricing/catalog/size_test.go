package catalog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The catalog, the climates and the other embedded facts of package pricing add at most 8
// MB to the binary, the climates at most 6 MB.
func TestEmbeddedFacts_Size(t *testing.T) {
	sizes := map[string]int64{}
	err := filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "internal" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		switch filepath.Ext(path) {
		case ".bin", ".txt", ".json", ".gz":
			info, err := d.Info()
			if err != nil {
				return err
			}
			sizes["all"] += info.Size()
			if strings.HasPrefix(path, filepath.Join("..", "climate")) {
				sizes["climate"] += info.Size()
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes, the climates %d", sizes["all"], sizes["climate"])
	if sizes["climate"] < 5e6 || sizes["all"] > 8e6 || sizes["climate"] > 6e6 {
		t.Errorf("%d bytes, the climates %d", sizes["all"], sizes["climate"])
	}
}
