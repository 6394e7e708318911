package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gridhook/gridhook/cmd/internal/app"
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

// byteOrderMark precedes UTF-8 text from spreadsheets, and from editors on Windows.
const byteOrderMark = "\ufeff"

// unmarked returns a text without its byte order mark.
func unmarked(r io.Reader) io.Reader {
	text := bufio.NewReader(r)
	if mark, _ := text.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		_, _ = text.Discard(len(mark)) // it is in the buffer
	}
	return text
}

// readText reads a file without its byte order mark.
func readText(name string, in io.Reader) ([]byte, error) {
	text, err := readFile(name, in)
	return bytes.TrimPrefix(text, []byte(byteOrderMark)), err
}

// readAs reads a text and parses it. An error of parse gets the name as its prefix.
func readAs[T any](name string, in io.Reader, parse func(text []byte) (T, error)) (value T, err error) {
	text, err := readText(name, in)
	if err != nil {
		return value, err
	}
	if value, err = parse(text); err != nil {
		return value, fmt.Errorf("%s: %w", name, err)
	}
	return value, nil
}

// saveFile writes a file that appears only when it is complete and on disk. Only its owner
// may read it.
func saveFile(path string, from io.Reader) (size int64, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".part-")
	if err != nil {
		return 0, err
	}
	if size, err = fill(f, from); err != nil {
		return 0, err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return 0, errors.Join(err, os.Remove(f.Name()))
	}
	return size, app.SyncFolder(filepath.Dir(path))
}

// fill writes a new file to disk and closes it. If the write fails, fill deletes the file.
func fill(f *os.File, from io.Reader) (size int64, err error) {
	if size, err = io.Copy(f, from); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return size, err
}
