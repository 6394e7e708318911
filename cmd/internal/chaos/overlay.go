package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gridhook/gridhook/cmd/internal/blackbox"
)

// change is a change of the source that a build of Gridhook is made with: go
// build reads the changed files in the place of the real ones (-overlay), which
// stay as they are. So neither failpoints nor planted bugs are in the product.
type change struct {
	// file is what is changed, or added where old is empty.
	file string
	// old, which must be there once, is replaced by new.
	old, new string
}

// buildChanged builds Gridhook with changes into a file of a folder.
func buildChanged(dir, name string, changes []change) (binary string, err error) {
	overlay, err := writeOverlay(dir, name, changes)
	if err != nil {
		return "", err
	}
	binary = filepath.Join(dir, "gridhook-"+name)
	return binary, blackbox.BuildGridhook(binary, "-overlay", overlay)
}

// writeOverlay writes the changed files, and the file that tells go build of them.
func writeOverlay(dir, name string, changes []change) (file string, err error) {
	source, err := blackbox.Source()
	if err != nil {
		return "", err
	}
	texts := map[string]string{}
	for _, c := range changes {
		if texts[c.file], err = c.apply(source, texts[c.file]); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
	}
	replaced := map[string]string{}
	for file, text := range texts {
		path := filepath.Join(dir, name+"-overlay", filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return "", err
		}
		replaced[filepath.Join(source, filepath.FromSlash(file))] = path
	}
	list, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, name+"-overlay.json")
	return file, os.WriteFile(file, list, 0o600)
}

// apply is the file's text after the change; text is what changes before made of
// it, empty for none.
func (c *change) apply(source, text string) (string, error) {
	if c.old == "" {
		return c.new, nil
	}
	if text == "" {
		b, err := os.ReadFile(filepath.Join(source, filepath.FromSlash(c.file))) //nolint:gosec // it is our own source
		if err != nil {
			return "", err
		}
		text = string(b)
	}
	if n := strings.Count(text, c.old); n != 1 {
		return "", fmt.Errorf("%s has %q %d times: bring the change in line with the source", c.file, c.old, n)
	}
	return strings.Replace(text, c.old, c.new, 1), nil
}
