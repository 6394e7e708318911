package tour

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// snippet is a block that a document copies from a file beside it.
var snippet = regexp.MustCompile("(?ms)^<!-- from: (\\S+) -->\n```[a-z]+\n(.*?)^```$")

// TestSnippets checks that every copied block is in its file, line by line, except for
// the indentation.
func TestSnippets(t *testing.T) {
	docs := filepath.Join(repository(t), "docs")
	documents, err := filepath.Glob(filepath.Join(docs, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, path := range documents {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range snippet.FindAllStringSubmatch(string(text), -1) {
			seen++
			file, err := os.ReadFile(filepath.Join(docs, filepath.FromSlash(m[1])))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(flush(string(file)), flush(m[2])) {
				t.Errorf("%s: %s does not contain\n%s", filepath.Base(path), m[1], m[2])
			}
		}
	}
	if seen == 0 {
		t.Error("no document has a block of a file")
	}
}

// flush returns a text's lines without their indentation.
func flush(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return b.String()
}
