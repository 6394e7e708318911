package reliability

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// TestReliability_Calibrated logs the diagram of each check. A confidence is the share of intervals whose price was within a tenth of the truth.
func TestReliability_Calibrated(t *testing.T) {
	root := os.Getenv("GRIDHOOK_TESTDATA")
	if root == "" {
		t.Skip("GRIDHOOK_TESTDATA is not set: no published data")
	}
	const enough, off = 200, 0.1
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d, err := c.count(filepath.Join(root, "data"))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("\n%s", d)
			compared := 0
			for i := range d.count {
				claimed, came, count := d.decile(i)
				if count < enough {
					continue
				}
				compared++
				if math.Abs(claimed-came) > off {
					t.Errorf("of %d intervals at %.2f, %.2f were right", count, claimed, came)
				}
			}
			if compared < c.deciles {
				t.Errorf("%d deciles with %d intervals:\n%s", compared, enough, d)
			}
		})
	}
}
