package tour

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// link matches a link of Markdown. Its first group is the destination.
var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinks checks that every link to a file or a heading of this repository resolves.
func TestLinks(t *testing.T) {
	root := repository(t)
	seen := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules") && path != root {
			return filepath.SkipDir
		}
		if entry.IsDir() || filepath.Ext(path) != ".md" {
			return nil
		}
		document, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		for _, m := range link.FindAllStringSubmatch(withoutFences(string(document)), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			seen++
			if why := leadsNowhere(path, m[1]); why != "" {
				t.Errorf("%s: the link to %s: %s", name, m[1], why)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Error("no document has a link")
	}
}

// TestIndex checks that the index of the documentation names every page.
func TestIndex(t *testing.T) {
	docs := filepath.Join(repository(t), "docs")
	index, err := os.ReadFile(filepath.Join(docs, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(docs, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if name := filepath.Base(page); name != "README.md" && !strings.Contains(string(index), "]("+name+")") {
			t.Errorf("docs/README.md has no link to %s", name)
		}
	}
}

// leadsNowhere returns what is wrong with a link of a document, "" if it resolves.
func leadsNowhere(document, to string) string {
	target, heading, _ := strings.Cut(to, "#")
	path := document
	if target != "" {
		path = filepath.Join(filepath.Dir(document), filepath.FromSlash(target))
	}
	info, err := os.Stat(path)
	if err != nil {
		return "there is no such file"
	}
	if heading == "" || info.IsDir() {
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	for line := range strings.SplitSeq(withoutFences(string(text)), "\n") {
		if strings.HasPrefix(line, "#") && anchor(strings.TrimLeft(line, "# ")) == heading {
			return ""
		}
	}
	return "there is no such heading"
}

var fences = regexp.MustCompile("(?ms)^```.*?^```$")

func withoutFences(document string) string { return fences.ReplaceAllString(document, "") }

var notInAnchors = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// anchor returns GitHub's anchor of a heading.
func anchor(heading string) string {
	return strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}
