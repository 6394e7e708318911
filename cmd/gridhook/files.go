package main

import (
	"fmt"
	"io"
	"os"
)

// openFile opens a file for reading. The name "-" selects in. A size of 0 is unknown.
func openFile(name string, in io.Reader) (file io.ReadCloser, size int64, err error) {
	if name == "-" {
		return io.NopCloser(in), 0, nil
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

// readFile reads a file. The name "-" selects in.
func readFile(name string, in io.Reader) ([]byte, error) {
	f, _, err := openFile(name, in)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	return io.ReadAll(f)
}

// readAs reads a file and parses it. An error of parse gets the name as its prefix.
func readAs[T any](name string, in io.Reader, parse func(text []byte) (T, error)) (value T, err error) {
	text, err := readFile(name, in)
	if err != nil {
		return value, err
	}
	if value, err = parse(text); err != nil {
		return value, fmt.Errorf("%s: %w", name, err)
	}
	return value, nil
}
