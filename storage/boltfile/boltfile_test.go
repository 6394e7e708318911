package boltfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	err := f.Update(func(tx *boltfile.Tx) error {
		for i := 0; i < len(pairs); i += 2 {
			if err := tx.Put(bucket, []byte(pairs[i]), []byte(pairs[i+1])); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// content is bucket/key -> value of the test's buckets.
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

// asides are the files that were set aside beside a path.
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

func TestWhatWasWrittenIsThereAfterReopening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "down", "view.db")
	f := open(t, path)
	put(t, f, "one", "a", "1", "b", "", "c", "3")
	put(t, f, "two", "a", "other")
	refusal := errors.New("no")
	err := f.Update(func(tx *boltfile.Tx) error {
		if err := errors.Join(tx.Put("one", []byte("d"), []byte("4")), tx.Delete("one", []byte("a"))); err != nil {
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
		t.Errorf("it has %v, want %v", got, want)
	}
	if f.Path() != path || asides(t, path) != nil {
		t.Errorf("the path is %s, set aside are %v", f.Path(), asides(t, path))
	}
}

func TestAdopt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "view.db")
	f := open(t, path)
	adopt := func(identity string, wantWiped bool) {
		t.Helper()
		if wiped, err := f.Adopt(identity); wiped != wantWiped || err != nil {
			t.Errorf("Adopt(%q) = %v, %v", identity, wiped, err)
		}
	}
	put(t, f, "one", "a", "1")
	adopt("first", false) // what it has can only be the first's
	put(t, f, "two", "b", "2")
	adopt("first", false)
	closeFile(t, f)
	f = open(t, path)
	defer f.Close()
	adopt("first", false)
	if got := content(t, f); len(got) != 2 {
		t.Errorf("it has %v", got)
	}
	adopt("second", true)
	if got := content(t, f); len(got) != 0 {
		t.Errorf("adopted by another stream it has %v", got)
	}
}

func TestDeletePrefix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "view.db")
	f := open(t, path)
	for i := range 400 {
		put(t, f, "one", fmt.Sprintf("a\x00%03d", i), strings.Repeat("v", 50), fmt.Sprintf("b\x00%03d", i), "w")
	}
	put(t, f, "one", "a", "kept", "a\x01", "kept")
	if err := f.Update(func(tx *boltfile.Tx) error { return tx.DeletePrefix("one", []byte("a\x00")) }); err != nil {
		t.Fatal(err)
	}
	if got := content(t, f); len(got) != 402 || got["one/a"] != "kept" || got["one/a\x01"] != "kept" {
		t.Errorf("%d are left, with %q and %q", len(got), got["one/a"], got["one/a\x01"])
	}
	closeFile(t, f)
	closeFile(t, open(t, path))
	if asides(t, path) != nil {
		t.Error("the seal does not know of the deletion")
	}
}

// The seal follows whatever is done.
func TestTheSealFollows(t *testing.T) {
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
				if err := f.Update(func(tx *boltfile.Tx) error { return tx.Delete(bucket, []byte(key)) }); err != nil {
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

func TestAFileHeldByAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "view.db")
	f := open(t, path)
	defer f.Close()
	_, err := boltfile.Open(path, slog.New(slog.DiscardHandler), "one")
	if err == nil || !strings.Contains(err.Error(), "held by another process") {
		t.Errorf("got %v", err)
	}
	if asides(t, path) != nil {
		t.Error("a file that is in use was set aside")
	}
}

// full makes a file of several levels. It returns the file as it was half way
// and at the end, and every state that was once committed: a file that lost its
// last page of meta data is as it was one commit before.
func full(t *testing.T) (half, whole []byte, states map[string]bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "view.db")
	f := open(t, path)
	read := func() []byte {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	states = map[string]bool{}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 200 {
		if i == 100 {
			half = read()
		}
		var pairs []string
		for range 10 {
			pairs = append(pairs, fmt.Sprintf("key%04d", random.IntN(600)), strings.Repeat(fmt.Sprint(i), 30))
		}
		put(t, f, "one", pairs...)
		states[state(t, f)] = true
		put(t, f, "two", fmt.Sprint(i%10), "v")
		states[state(t, f)] = true
	}
	closeFile(t, f)
	return half, read(), states
}

func state(t testing.TB, f *boltfile.File) string { return fmt.Sprint(content(t, f)) }

// survives writes a file's bytes, opens it, and wants all or nothing: a state
// that was committed, or an empty new file with the damaged one beside it.
func survives(t *testing.T, data []byte, states map[string]bool) (setAside bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "view.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	f := open(t, path)
	defer f.Close()
	switch kept := asides(t, path); {
	case len(kept) == 0 && states[state(t, f)]:
		put(t, f, "one", "key0000", strings.Repeat("goes on", 1000))
		return false
	case len(kept) == 1 && len(content(t, f)) == 0:
		if b, err := os.ReadFile(kept[0]); err != nil || !bytes.Equal(b, data) {
			t.Errorf("what was set aside is not what was there: %v", err)
		}
		put(t, f, "one", "begins", "anew")
		return true
	default:
		t.Errorf("it opened with %d keys and %d files set aside", len(content(t, f)), len(kept))
		return false
	}
}

func TestDamage(t *testing.T) {
	_, data, states := full(t)
	if survives(t, data, states) {
		t.Fatal("an undamaged file was set aside")
	}
	page := os.Getpagesize()
	fill := func(from int, b byte) []byte {
		out := bytes.Clone(data)
		for i := from; i < len(out); i++ {
			out[i] = b
		}
		return out
	}
	for name, damaged := range map[string][]byte{
		"empty":                  {},
		"one byte":               data[:1],
		"one page":               data[:page],
		"both meta pages":        data[:2*page],
		"half":                   data[:len(data)/2/page*page],
		"half a page too few":    data[:len(data)/2],
		"garbage":                bytes.Repeat([]byte("garbage!"), 4096),
		"zeros":                  make([]byte, len(data)),
		"zeros behind the metas": fill(2*page, 0),
		"ones behind the metas":  fill(2*page, 0xff),
		"text":                   []byte("this is not a database\n"),
	} {
		t.Run(name, func(t *testing.T) {
			if !survives(t, damaged, states) {
				t.Error("it was not set aside")
			}
		})
	}
}

// The headers of pages and elements, where a flipped bit leads astray, are hit
// more often than the rest.
func TestAFlippedBit(t *testing.T) {
	_, data, states := full(t)
	random := rand.New(rand.NewPCG(3, 4))
	page := os.Getpagesize()
	found := 0
	for i := range 600 {
		damaged := bytes.Clone(data)
		at := random.IntN(len(data))
		if i%2 == 0 {
			at = at/page*page + random.IntN(128)
		}
		damaged[at] ^= 1 << random.IntN(8)
		if survives(t, damaged, states) {
			found++
		}
	}
	if found < 100 { // the rest hit pages and bytes that are not in use
		t.Errorf("only %d flipped bits of 600 were found", found)
	}
}

// A power cut can leave some pages as they were written lately and others as
// they were before.
func TestAMixtureOfOldAndNewPages(t *testing.T) {
	old, data, states := full(t)
	page := os.Getpagesize()
	random := rand.New(rand.NewPCG(5, 6))
	found := 0
	for range 100 {
		mixed := bytes.Clone(data)
		for at := 0; at < min(len(old), len(data)); at += page {
			if random.IntN(4) == 0 {
				copy(mixed[at:at+page], old[at:])
			}
		}
		if survives(t, mixed, states) {
			found++
		}
	}
	if found < 50 {
		t.Errorf("only %d mixtures of 100 were found", found)
	}
}
