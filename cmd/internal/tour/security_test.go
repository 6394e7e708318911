package tour

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var namedTest = regexp.MustCompile("`([a-z0-9/]+): (Test[A-Za-z0-9_]+)`")

// TestThreatModel_Tests checks that every test in the threat model exists. Nothing would
// hold a defense whose test was renamed or removed.
func TestThreatModel_Tests(t *testing.T) {
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
			tests[folder] = testsOf(t, filepath.Join(top, folder))
		}
		if !strings.Contains(tests[folder], "\nfunc "+name+"(t *testing.T)") {
			t.Errorf("docs/security.md names the test %s of %s, which does not exist", name, folder)
		}
	}
	if len(named) < 40 {
		t.Errorf("%d tests are named", len(named))
	}
	for row := range strings.Lines(string(text)) {
		if strings.HasPrefix(row, "| API") && !namedTest.MatchString(row) {
			t.Errorf("no test holds %s", row)
		}
	}
}

// testsOf returns the source of a folder's tests.
func testsOf(t *testing.T, folder string) (text string) {
	t.Helper()
	folder, below := strings.CutSuffix(folder, "/...")
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if below {
		deeper, _ := filepath.Glob(filepath.Join(folder, "*", "*_test.go"))
		files = append(files, deeper...)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text += string(source)
	}
	return text
}

var ranTest = regexp.MustCompile("`go test ([./a-z0-9 ]+?)(?: -run ([A-Za-z]+))?`")

// TestPromises_Tests checks that every command in the table of promises runs a test. "go
// test" succeeds without a matching test.
func TestPromises_Tests(t *testing.T) {
	const top = "../../.."
	text, err := os.ReadFile(filepath.Join(top, "docs", "reliability.md"))
	if err != nil {
		t.Fatal(err)
	}
	ran := ranTest.FindAllStringSubmatch(string(text), -1)
	for _, m := range ran {
		for folder := range strings.FieldsSeq(m[1]) {
			named := regexp.MustCompile(`\nfunc Test[A-Za-z0-9_]*` + m[2] + `[A-Za-z0-9_]*\(t \*testing\.T\)`)
			if !named.MatchString(testsOf(t, filepath.Join(top, folder))) {
				t.Errorf("docs/reliability.md says %s, and there is no such test", m[0])
			}
		}
	}
	if len(ran) < 10 {
		t.Errorf("%d commands are named", len(ran))
	}
}
