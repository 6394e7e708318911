// Package pack writes the files that package embedded decodes, and reads tables. Only
// generators and tests use it.
package pack

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Main runs a generator with the directory data of GRIDHOOK_TESTDATA. It exits
// with 1 on an error, which begins with the name of the program.
func Main(run func(data string) error) {
	err := errors.New("set GRIDHOOK_TESTDATA to the directory that has data")
	if dir := os.Getenv("GRIDHOOK_TESTDATA"); dir != "" {
		err = run(filepath.Join(dir, "data"))
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
		os.Exit(1)
	}
}

// Table reads the rows of a CSV file. The first row is its header. Errors: it does not
// read, decode or has no rows.
func Table(name string) ([][]string, error) {
	text, err := os.ReadFile(name) //nolint:gosec // the directory is the developer's own
	if err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err == nil && len(rows) == 0 {
		err = errors.New("no header")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return rows, nil
}

// Encode returns the packed form of a value. It is the same for equal values if they have no
// maps.
func Encode(v any) ([]byte, error) {
	var packed bytes.Buffer
	out, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		err = errors.Join(gob.NewEncoder(out).Encode(v), out.Close())
	}
	return packed.Bytes(), err
}

// Write writes the packed form of a value to a file.
func Write(name string, v any) error {
	packed, err := Encode(v)
	if err != nil {
		return err
	}
	return os.WriteFile(name, packed, 0o600)
}
