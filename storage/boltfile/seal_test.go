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
	"time"

	"go.etcd.io/bbolt"

	"github.com/gridhook/gridhook/storage/boltfile"
)

// full returns an open file with a tree of several levels.
func full(t *testing.T) *boltfile.File {
	t.Helper()
	f := open(t, filepath.Join(t.TempDir(), "view.db"))
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 100 {
		var pairs []string
		for range 20 {
			pairs = append(pairs, fmt.Sprintf("key%04d", random.IntN(600)), strings.Repeat(fmt.Sprint(i), 30))
		}
		put(t, f, "one", pairs...)
	}
	return f
}

// killed copies an open file with its modification time, as a process that is killed
// now would leave it.
func killed(t *testing.T, f *boltfile.File) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "view.db")
	info, err := os.Stat(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(f.Path())
	if err = errors.Join(err, os.WriteFile(path, data, 0o600), os.Chtimes(path, time.Time{}, info.ModTime())); err != nil {
		t.Fatal(err)
	}
	return path
}

// isTrusted checks that a file opens with a content.
func isTrusted(t *testing.T, path string, want map[string]string) {
	t.Helper()
	f := open(t, path)
	defer closeFile(t, f)
	if got := content(t, f); len(asides(t, path)) != 0 || !maps.Equal(got, want) {
		t.Errorf("opened with %d keys and set aside %v, want all %d keys", len(got), asides(t, path), len(want))
	}
	put(t, f, "one", "goes", "on")
}

// isSetAside checks that a file opens empty, and that a copy of its bytes remains.
func isSetAside(t *testing.T, path string) {
	t.Helper()
	was, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := open(t, path)
	defer closeFile(t, f)
	kept := asides(t, path)
	if got := content(t, f); len(kept) != 1 || len(got) != 0 {
		t.Fatalf("opened with %d keys and set aside %v, want no keys and one file", len(got), kept)
	}
	if b, err := os.ReadFile(kept[0]); err != nil || !bytes.Equal(b, was) {
		t.Errorf("the set-aside file differs from the original: %v", err)
	}
	put(t, f, "one", "begins", "anew")
}

func TestSeal_KilledOrStopped(t *testing.T) {
	f := full(t)
	want := content(t, f)
	t.Run("killed", func(t *testing.T) { isTrusted(t, killed(t, f), want) })
	t.Run("killed, then booted", func(t *testing.T) {
		path := killed(t, f)
		if err := boltfile.Reboot(path); err != nil {
			t.Fatal(err)
		}
		isSetAside(t, path)
	})
	closeFile(t, f)
	t.Run("stopped", func(t *testing.T) { isTrusted(t, killed(t, f), want) })
	t.Run("stopped, then booted", func(t *testing.T) {
		path := killed(t, f)
		if err := boltfile.Reboot(path); err != nil {
			t.Fatal(err)
		}
		isTrusted(t, path, want)
	})
	t.Run("stopped, opened, then booted", func(t *testing.T) {
		path := killed(t, f)
		again := open(t, path)
		defer closeFile(t, again)
		path = killed(t, again)
		if err := boltfile.Reboot(path); err != nil {
			t.Fatal(err)
		}
		isSetAside(t, path)
	})
}

// TestSeal_KilledInTransaction checks that a process that is killed inside a
// transaction leaves an unsealed file.
func TestSeal_KilledInTransaction(t *testing.T) {
	f := full(t)
	defer closeFile(t, f)
	path := killed(t, f)
	if err := os.Chtimes(path, time.Time{}, time.Now()); err != nil {
		t.Fatal(err)
	}
	isSetAside(t, path)
}

func TestSeal_DamagedFile(t *testing.T) {
	f := full(t)
	defer closeFile(t, f)
	data, err := os.ReadFile(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	random := rand.New(rand.NewPCG(3, 4))
	flipped := func() []byte {
		out := bytes.Clone(data)
		out[random.IntN(len(out))] ^= 1 << random.IntN(8)
		return out
	}
	for name, damaged := range map[string][]byte{
		"empty":                 {},
		"one byte":              data[:1],
		"one page":              data[:page],
		"both meta pages":       data[:2*page],
		"half a page too few":   data[:len(data)-page/2],
		"garbage":               bytes.Repeat([]byte("garbage!"), 4096),
		"zeros":                 make([]byte, len(data)),
		"text":                  []byte("this is not a database\n"),
		"a flipped bit":         flipped(),
		"another flipped bit":   flipped(),
		"a bit of a meta page":  append(append(bytes.Clone(data[:page]), data[page]^1), data[page+1:]...),
		"the same bytes, again": data,
	} {
		t.Run(name, func(t *testing.T) {
			path := killed(t, f)
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			isSetAside(t, path)
		})
	}
	t.Run("cut short", func(t *testing.T) {
		path := killed(t, f)
		if err := os.Truncate(path, int64(len(data)/3)); err != nil {
			t.Fatal(err)
		}
		isSetAside(t, path)
	})
}

// TestSeal_DamagedWhileOpen checks that the next opening detects a write of another
// program to the open file.
func TestSeal_DamagedWhileOpen(t *testing.T) {
	for _, goesOn := range []bool{false, true} {
		f := full(t)
		other, err := os.OpenFile(f.Path(), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		info, err := other.Stat()
		if err != nil {
			t.Fatal(err)
		}
		_, err = other.WriteAt([]byte{0}, info.Size()-1)
		if err = errors.Join(err, other.Close()); err != nil {
			t.Fatal(err)
		}
		if goesOn {
			put(t, f, "one", "goes", "on")
		}
		closeFile(t, f)
		isSetAside(t, f.Path())
	}
}

// TestSeal_DamageFoundByReader checks that a damaged record that a reader found causes
// a rebuild of the file.
func TestSeal_DamageFoundByReader(t *testing.T) {
	found := fmt.Errorf("%w: a record", boltfile.ErrDamaged)
	for name, read := range map[string]func(*boltfile.File) error{
		"view":   func(f *boltfile.File) error { return f.View(func(*bbolt.Tx) error { return found }) },
		"update": func(f *boltfile.File) error { return f.Update(func(*bbolt.Tx) error { return found }) },
	} {
		t.Run(name, func(t *testing.T) {
			f := full(t)
			if err := read(f); !errors.Is(err, boltfile.ErrDamaged) {
				t.Errorf("returned %v", err)
			}
			put(t, f, "one", "goes", "on")
			isSetAside(t, killed(t, f))
			closeFile(t, f)
			isSetAside(t, f.Path())
		})
	}
}

// TestSeal_DeletedWhileOpen checks that an open file that is deleted stays usable, and
// that the next opening creates a new file.
func TestSeal_DeletedWhileOpen(t *testing.T) {
	f := full(t)
	if err := os.Remove(f.Path()); err != nil {
		t.Fatal(err)
	}
	put(t, f, "one", "goes", "on")
	if got := content(t, f); got["one/goes"] != "on" {
		t.Errorf("the file has %d keys, without the newest", len(got))
	}
	closeFile(t, f)
	isTrusted(t, f.Path(), map[string]string{})
}

// TestSetAside_OneCopy checks that repeated damage does not fill the disk with copies.
func TestSetAside_OneCopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "view.db")
	for i := range 3 {
		if err := os.WriteFile(path, []byte(fmt.Sprint("damage ", i)), 0o600); err != nil {
			t.Fatal(err)
		}
		isSetAside(t, path)
	}
}

func TestFile_ConcurrentUse(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "view.db"))
	done := make(chan error, 1)
	go func() {
		var failed error
		for range 200 {
			failed = errors.Join(failed, f.View(func(tx *bbolt.Tx) error {
				b := tx.Bucket([]byte("one"))
				if a, b := string(b.Get([]byte("a"))), string(b.Get([]byte("b"))); a != b {
					return fmt.Errorf("it reads %q and %q of one transaction", a, b)
				}
				return nil
			}))
		}
		done <- failed
	}()
	for i := range 200 {
		put(t, f, "one", "a", fmt.Sprint(i), "b", fmt.Sprint(i))
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	closeFile(t, f)
	if err := f.View(func(*bbolt.Tx) error { return nil }); err == nil {
		t.Error("a closed file was read")
	}
}

func BenchmarkUpdate(b *testing.B) {
	f, err := boltfile.Open(filepath.Join(b.TempDir(), "f"), slog.New(slog.DiscardHandler), "one")
	if err != nil {
		b.Fatal(err)
	}
	defer closeFile(b, f)
	for b.Loop() {
		put(b, f, "one", "n", "value")
	}
}
