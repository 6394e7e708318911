package boltfile_test

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/storage/boltfile"
)

// A marked file is copied once at the next opening, without the bytes of deleted values.
// Neither an interrupted compaction nor a damaged file leaves them.
func TestFile_CompactAtOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "view.db")
	has := func() (found bool) {
		files, _ := filepath.Glob(path + "*")
		for _, file := range files {
			text, err := os.ReadFile(file) //nolint:gosec // of the test itself
			if err != nil {
				t.Fatal(err)
			}
			found = found || bytes.Contains(text, []byte("secret"))
		}
		return found
	}
	f := open(t, path)
	put(t, f, "one", "a", strings.Repeat("secret", 1000), "b", "kept")
	put(t, f, "two", "c", "kept too")
	err := f.Update(func(tx *bbolt.Tx) error {
		if err := tx.Bucket([]byte("one")).Delete([]byte("a")); err != nil {
			return err
		}
		return boltfile.CompactAtOpen(tx)
	})
	if err != nil {
		t.Fatal(err)
	}
	want := content(t, f)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if !has() {
		t.Fatal("bbolt overwrites deleted values by itself")
	}
	for _, left := range []string{".compacting", ".corrupt-20260701T000000.000"} {
		if err := os.WriteFile(path+left, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f = open(t, path)
	if got := content(t, f); !maps.Equal(got, want) || has() {
		t.Errorf("after the compaction the file has %v and deleted bytes: %v; want %v", got, has(), want)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	f = open(t, path)
	defer f.Close()
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("the file is copied again: %v", err)
	}
	if list := asides(t, path); len(list) != 0 {
		t.Errorf("damaged files are left: %v", list)
	}
}

// A file that cannot be copied, because the disk has no space for example, stays in use, and
// a later opening copies it.
func TestFile_CompactAtOpen_Fails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "view.db")
	f := open(t, path)
	put(t, f, "one", "a", "kept")
	want := content(t, f)
	if err := errors.Join(f.Update(boltfile.CompactAtOpen), f.Close()); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, blocked := range []string{path + ".compacting", path + ".corrupt-1", ""} { // a folder with content cannot be removed
		copied := blocked == ""
		if !copied {
			if err := os.MkdirAll(filepath.Join(blocked, "folder"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		f = open(t, path)
		after, err := os.Stat(path)
		if got := content(t, f); err != nil || !maps.Equal(got, want) || os.SameFile(before, after) == copied {
			t.Errorf("the file has %v, want %v; it must be copied: %v; %v", got, want, copied, err)
		}
		if err := errors.Join(f.Close(), os.RemoveAll(blocked)); err != nil {
			t.Fatal(err)
		}
		if left, err := filepath.Glob(path + ".*"); err != nil || len(left) > 0 {
			t.Errorf("besides the file there are %v, %v", left, err)
		}
	}
}
