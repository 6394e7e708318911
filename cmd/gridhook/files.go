package main

import (
	"io"
	"os"
)

// standardInput is the file name that selects the standard input.
const standardInput = "-"

// openFile opens a file for reading. A size of 0 is unknown.
func (g *globals) openFile(name string) (file io.ReadCloser, size int64, err error) {
	if name == standardInput {
		return io.NopCloser(g.in), 0, nil
	}
	f, err := os.Open(name) //nolint:gosec // the user names the file
	if err != nil {
		return nil, 0, err
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	return f, size, nil
}

func (g *globals) readFile(name string) ([]byte, error) {
	f, _, err := g.openFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	return io.ReadAll(f)
}
