package tour

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// documents are those whose commands are run.
var documents = []string{"README.md", "docs/quickstart.md", "docs/command-line.md", "docs/partner-guide.md", "docs/operator-guide.md"}

func TestDocuments(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the commands of the documents need %s, which is not on this machine", tool)
		}
	}
	for _, document := range documents {
		t.Run(document, func(t *testing.T) {
			t.Parallel() // each has its own folder, shell and ports
			take(t, document)
		})
	}
}

// take runs a document's commands and compares what they print.
func take(t *testing.T, document string) {
	text, err := os.ReadFile(filepath.Join(repository(t), document))
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := parse(string(text))
	if err != nil {
		t.Fatalf("%s: %v", document, err)
	}
	if len(blocks) == 0 {
		t.Fatalf("%s has no commands", document)
	}
	s := newSession(t)
	ended := s.run(t, blocks)
	for i, b := range blocks {
		if b.notRun != "" {
			continue
		}
		output, exit, ran, err := s.result(i)
		switch {
		case err != nil:
			t.Fatalf("%s:%d: %v\n%s\n--- printed\n%s", document, b.line, err, b.code, output)
		case !ran:
			t.Fatalf("%s:%d: the shell did not come to\n%s", document, b.line, b.code)
		case exit != b.exit:
			t.Errorf("%s:%d: exit code %d, want %d\n%s\n--- printed\n%s", document, b.line, exit, b.exit, b.code, output)
		case b.shown && !matches(b.want, output):
			t.Errorf("%s:%d:\n%s\n--- printed\n%s\n--- the document shows\n%s", document, b.line, b.code, output, b.want)
		}
	}
	if ended != nil && !t.Failed() {
		t.Errorf("%s: the shell ended with %v", document, ended)
	}
}
