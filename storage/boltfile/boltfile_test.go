package boltfile_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/storage/boltfile"
)

func open(t testing.TB, path string) *boltfile.File {
	t.Helper()
	f, err := boltfile.Open(path, slog.New(slog.DiscardHandler), "one", "two")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func put(t testing.TB, f *boltfile.File, bucket string, pairs ...string) {
	t.Helper()
	err := f.Update(func(tx *bbolt.Tx) error {
		for i := 0; i < len(pairs); i += 2 {
			if err := tx.Bucket([]byte(bucket)).Put([]byte(pairs[i]), []byte(pairs[i+1])); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// content returns the values of the test's buckets by bucket/key.
func content(t testing.TB, f *boltfile.File) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := f.View(func(tx *bbolt.Tx) error {
		for _, bucket := range []string{"one", "two"} {
			err := tx.Bucket([]byte(bucket)).ForEach(func(k, v []byte) error {
				all[bucket+"/"+string(k)] = string(v)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// asides returns the set-aside files of a path.
func asides(t testing.TB, path string) []string {
	t.Helper()
	list, err := filepath.Glob(path + ".corrupt-*")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func closeFile(t testing.TB, f *boltfile.File) {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFile_ReopenKeepsContent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "down", "view.db")
	f := open(t, path)
	put(t, f, "one", "a", "1", "b", "", "c", "3")
	put(t, f, "two", "a", "other")
	refusal := errors.New("no")
	err := f.Update(func(tx *bbolt.Tx) error {
		if err := errors.Join(tx.Bucket([]byte("one")).Put([]byte("d"), []byte("4")), tx.Bucket([]byte("one")).Delete([]byte("a"))); err != nil {
			return err
		}
		return refusal
	})
	if !errors.Is(err, refusal) {
		t.Fatalf("Update returned %v", err)
	}
	closeFile(t, f)
	f = open(t, path)
	defer f.Close()
	want := map[string]string{"one/a": "1", "one/b": "", "one/c": "3", "two/a": "other"}
	if got := content(t, f); !maps.Equal(got, want) {
		t.Errorf("the content is %v, want %v", got, want)
	}
	if f.Path() != path || asides(t, path) != nil {
		t.Errorf("the path is %s, set aside: %v", f.Path(), asides(t, path))
	}
}

func TestAdopt_OtherIdentityWipes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "view.db")
	f := open(t, path)
	adopt := func(identity string, wantWiped bool) {
		t.Helper()
		if wiped, err := f.Adopt(identity); wiped != wantWiped || err != nil {
			t.Errorf("Adopt(%q) = %v, %v", identity, wiped, err)
		}
	}
	put(t, f, "one", "a", "1")
	adopt("first", false) // a file without an identity belongs to the first
	put(t, f, "two", "b", "2")
	adopt("first", false)
	closeFile(t, f)
	f = open(t, path)
	defer f.Close()
	adopt("first", false)
	if got := content(t, f); len(got) != 2 {
		t.Errorf("the content is %v", got)
	}
	adopt("second", true)
	if got := content(t, f); len(got) != 0 {
		t.Errorf("after the adoption by another stream the content is %v", got)
	}
}

func TestDeletePrefix_ExactPrefix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "view.db")
	f := open(t, path)
	for i := range 400 {
		put(t, f, "one", fmt.Sprintf("a\x00%03d", i), strings.Repeat("v", 50), fmt.Sprintf("b\x00%03d", i), "w")
	}
	put(t, f, "one", "a", "kept", "a\x01", "kept")
	if err := f.Update(func(tx *bbolt.Tx) error { return boltfile.DeletePrefix(tx, "one", []byte("a\x00")) }); err != nil {
		t.Fatal(err)
	}
	if got := content(t, f); len(got) != 402 || got["one/a"] != "kept" || got["one/a\x01"] != "kept" {
		t.Errorf("%d keys are left, with %q and %q", len(got), got["one/a"], got["one/a\x01"])
	}
	closeFile(t, f)
	closeFile(t, open(t, path))
	if asides(t, path) != nil {
		t.Error("the file was set aside")
	}
}

// TestFile_RandomOperations checks that the file is trusted and complete after any
// operations.
func TestFile_RandomOperations(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		path := filepath.Join(dir, fmt.Sprint(n))
		f := open(t, path)
		want := map[string]string{}
		buckets, keys := rapid.SampledFrom([]string{"one", "two"}), rapid.StringN(1, 3, 3)
		reopen := func(rt *rapid.T) {
			closeFile(t, f)
			f = open(t, path)
			if got := content(t, f); !maps.Equal(got, want) || asides(t, path) != nil {
				rt.Fatalf("reopened it has %v, want %v", got, want)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"put": func(rt *rapid.T) {
				bucket, key, value := buckets.Draw(rt, "bucket"), keys.Draw(rt, "key"), rapid.String().Draw(rt, "value")
				put(t, f, bucket, key, value)
				want[bucket+"/"+key] = value
			},
			"delete": func(rt *rapid.T) {
				bucket, key := buckets.Draw(rt, "bucket"), keys.Draw(rt, "key")
				if err := f.Update(func(tx *bbolt.Tx) error { return tx.Bucket([]byte(bucket)).Delete([]byte(key)) }); err != nil {
					rt.Fatal(err)
				}
				delete(want, bucket+"/"+key)
			},
			"": func(*rapid.T) {},
		})
		reopen(rt)
		closeFile(t, f)
	})
}

// TestOpen_HeldByAnotherProcess opens a file that another process holds and writes, so that
// its seal is broken.
func TestOpen_HeldByAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "view.db")
	f := open(t, path)
	defer f.Close()
	if err := os.Chtimes(path, time.Time{}, time.Now()); err != nil {
		t.Fatal(err)
	}
	_, err := boltfile.Open(path, slog.New(slog.DiscardHandler), "one")
	if err == nil || !strings.Contains(err.Error(), "held by another process") {
		t.Errorf("got %v", err)
	}
	if asides(t, path) != nil {
		t.Error("a file in use was set aside")
	}
}

// TestOpen_Folder checks that the error of a path that cannot be a file names its cause.
func TestOpen_Folder(t *testing.T) {
	path := t.TempDir()
	_, err := boltfile.Open(path, slog.New(slog.DiscardHandler), "one")
	if !errors.Is(err, syscall.EISDIR) || !strings.HasPrefix(err.Error(), "open "+path) {
		t.Errorf("got %v", err)
	}
}

// TestOpen_FreePagesStored checks that the file of a killed process has the correct list of
// its free pages. Without the list the next opening reads the whole file.
func TestOpen_FreePagesStored(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "view.db")
	f := open(t, path)
	defer closeFile(t, f)
	for round := range 20 {
		put(t, f, "one", fmt.Sprint(round%7), strings.Repeat("x", 3000*(1+round%5)))
		killed, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		// Each of the first two pages is a meta page with the number of the list's page.
		const place, none = 48, 1<<64 - 1
		for page := range 2 {
			if at := page*os.Getpagesize() + place; binary.NativeEndian.Uint64(killed[at:]) == none {
				t.Fatalf("round %d: meta page %d has no list", round, page)
			}
		}
		checkFile(t, filepath.Join(dir, fmt.Sprint(round)), killed)
	}
}

// checkFile checks the pages of a database and its list of free pages.
func checkFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_ = db.View(func(tx *bbolt.Tx) error {
		for err := range tx.Check() {
			t.Error(err)
		}
		return nil
	})
}
