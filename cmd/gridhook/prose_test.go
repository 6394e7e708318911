package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	fenced = regexp.MustCompile("(?ms)^```.*?^```")
	inline = regexp.MustCompile("`(gridhook [^`\n]+)`")
)

// TestProse checks that the command line accepts the commands in sentences and tables of
// the documents. The tour runs those in blocks.
func TestProse(t *testing.T) {
	found := 0
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "dist" || strings.HasPrefix(entry.Name(), ".") && entry.Name() != ".."):
			return fs.SkipDir
		case filepath.Ext(path) != ".md" || entry.Name() == "CHANGELOG.md": // it has old commands
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range inline.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
			found++
			if err := takesLine(m[1]); err != nil {
				t.Errorf("%s: `%s`: %v", path, m[1], err)
			}
		}
		return nil
	})
	if err != nil || found < 50 {
		t.Errorf("%d commands were found, %v", found, err)
	}
}

// takesLine returns why a command line is invalid: an unknown command, flag or value.
func takesLine(line string) error {
	args := words(line)
	root := newRoot(&globals{out: &bytes.Buffer{}, err: &bytes.Buffer{}})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	found, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	found.InitDefaultHelpFlag()
	if err := found.ParseFlags(rest); err != nil {
		return err
	}
	if left := found.Flags().Args(); found.HasSubCommands() && len(left) > 0 {
		return found.Args(found, left)
	}
	return nil
}
