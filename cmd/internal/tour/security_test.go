package tour

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var namedTest = regexp.MustCompile("`([a-z0-9/]+): (Test[A-Za-z0-9]+)`")

// Every test that the threat model names is there: a defence whose test was
// renamed or removed is held by nothing.
func TestTheThreatModelsTestsAreThere(t *testing.T) {
	const top = "../../.."
	text, err := os.ReadFile(filepath.Join(top, "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]string{}
	named := namedTest.FindAllStringSubmatch(string(text), -1)
	for _, m := range named {
		folder, name := m[1], m[2]
		if tests[folder] == "" {
			files, err := filepath.Glob(filepath.Join(top, folder, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				source, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				tests[folder] += string(source)
			}
		}
		if !strings.Contains(tests[folder], "\nfunc "+name+"(t *testing.T)") {
			t.Errorf("docs/security.md names the test %s of %s, which is not there", name, folder)
		}
	}
	if len(named) < 40 {
		t.Errorf("%d tests are named", len(named))
	}
	for row := range strings.Lines(string(text)) {
		if strings.HasPrefix(row, "| API") && !namedTest.MatchString(row) {
			t.Errorf("nothing holds %s", row)
		}
	}
}
