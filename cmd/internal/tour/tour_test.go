package tour

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestDocuments(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the commands of the documents need %s, which is not installed", tool)
		}
	}
	programs, texts := compile(t), documents(t)
	for document, text := range texts {
		path := []string{document}
		switch {
		case !strings.Contains(text, "\n```sh\n") || document == "README.md":
			continue
		case document == "docs/quickstart.md":
			path = []string{"README.md", document} // it continues the README
		}
		t.Run(strings.Join(path, ","), func(t *testing.T) {
			t.Parallel() // each has its own folder, shell and ports
			take(t, path, texts, programs)
		})
	}
}

// documents returns the texts of this repository by path, without third-party ones.
func documents(t *testing.T) map[string]string {
	t.Helper()
	root, found := repository(t), map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules" || entry.Name() == "dist"):
			return fs.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path) // it is under root
		found[name] = string(text)
		return err
	})
	if err != nil || found["README.md"] == "" {
		t.Fatalf("the documents cannot be found: %v", err)
	}
	return found
}

// unseen matches commands that the tour cannot run: in fences of other shells, and in
// indented text.
var unseen = regexp.MustCompile("(?m)^(?: *```(?:bash|shell|console|zsh|shell-session|sh .*)| +```sh|(?: {4,}|\t)(?:\\$ |gridhook |go (?:run|build|test) |curl |docker |helm |kubectl |systemctl |npm ).*)$")

// TestDocuments_EveryCommand checks that the commands of every document are in blocks
// that TestDocuments runs.
func TestDocuments_EveryCommand(t *testing.T) {
	for _, hidden := range []string{"```bash", "    gridhook demo", "\tcurl http://127.0.0.1", "  ```sh", "    $ ls"} {
		if !unseen.MatchString("text\n" + hidden + "\n") {
			t.Errorf("%q would not be found", hidden)
		}
	}
	for document, text := range documents(t) {
		for _, line := range unseen.FindAllString(text, -1) {
			t.Errorf("%s: the tour does not run this: put it in a block of sh: %s", document, line)
		}
	}
}

// showLogs prints the end of the log files if the test has failed.
func (s *session) showLogs(t *testing.T) {
	logs, _ := filepath.Glob(filepath.Join(s.dir, "*.log")) // the pattern is valid
	for _, path := range logs {
		if text, err := os.ReadFile(path); err == nil && t.Failed() {
			t.Logf("the end of %s:\n%s", filepath.Base(path), text[max(0, len(text)-2000):])
		}
	}
}

// take runs the commands of documents one after another, and compares the output. The
// README has its programs linked, as its reader does.
func take(t *testing.T, path []string, texts map[string]string, programs string) {
	var blocks []block
	for _, document := range path {
		parsed, err := parse(texts[document])
		if err != nil {
			t.Fatalf("%s: %v", document, err)
		}
		if len(parsed) == 0 {
			t.Fatalf("%s has no commands", document)
		}
		for _, b := range parsed {
			b.document = document
			blocks = append(blocks, b)
		}
	}
	s := newSession(t)
	if path[0] != "README.md" {
		s.haveBuilt(t, programs)
	}
	ended := s.run(t, blocks)
	defer s.showLogs(t)
	for i, b := range blocks {
		if b.notRun != "" {
			continue
		}
		output, exit, ran, err := s.result(i)
		switch {
		case err != nil:
			t.Fatalf("%s:%d: %v\n%s\n--- printed\n%s", b.document, b.line, err, b.code, output)
		case !ran:
			t.Fatalf("%s:%d: the shell did not reach\n%s", b.document, b.line, b.code)
		case exit != b.exit:
			t.Errorf("%s:%d: exit code %d, want %d\n%s\n--- printed\n%s", b.document, b.line, exit, b.exit, b.code, output)
		case b.shown && !matches(b.want, output):
			t.Errorf("%s:%d:\n%s\n--- printed\n%s\n--- the document shows\n%s", b.document, b.line, b.code, output, b.want)
		}
	}
	if ended != nil && !t.Failed() {
		t.Errorf("%s: the shell ended with %v", path, ended)
	}
}
