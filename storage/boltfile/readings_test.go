package boltfile_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gridhook/gridhook/storage/boltfile"
)

// number is what a reading has under the key n of the bucket one.
func number(r *boltfile.Reading) uint64 {
	if v := r.Get("one", []byte("n")); len(v) == 8 {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}

func putNumber(t testing.TB, f *boltfile.File, n uint64) {
	t.Helper()
	put(t, f, "one", "n", string(binary.BigEndian.AppendUint64(nil, n)))
}

// reads wants a number to be what is read now.
func reads(t testing.TB, f *boltfile.File, want uint64) {
	t.Helper()
	err := f.Read(func(r *boltfile.Reading) error {
		if n := number(r); n != want {
			t.Errorf("%d is read, want %d", n, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Whoever reads after a write has returned sees it, and one reading is of one state
// from its begin to its end, whatever is written meanwhile.
func TestReadingsAreOfTheNewest(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "f"))
	defer closeFile(t, f)
	const writes = 300
	var written atomic.Uint64
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for written.Load() < writes {
				least := written.Load()
				err := f.Read(func(r *boltfile.Reading) error {
					first := number(r)
					if again := number(r); again != first || first < least {
						return fmt.Errorf("it reads %d and then %d after %d was written", first, again, least)
					}
					return nil
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for n := uint64(1); n <= writes; n++ {
		putNumber(t, f, n)
		written.Store(n)
	}
	group.Wait()
}

// A key is looked up as bbolt does it, whatever stands around it and whatever was looked
// up before.
func TestLookingUp(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "f"))
	defer closeFile(t, f)
	var pairs []string
	for n := range 3000 { // some pages
		pairs = append(pairs, fmt.Sprintf("key_%05d", 2*n), fmt.Sprint(n))
	}
	put(t, f, "one", pairs...)
	err := f.Read(func(r *boltfile.Reading) error {
		for _, n := range rand.Perm(6010) {
			key := fmt.Appendf(nil, "key_%05d", n)
			if got, want := r.Get("one", key), r.Bucket("one").Get(key); !bytes.Equal(got, want) || (got == nil) != (want == nil) {
				t.Fatalf("%s is %q, want %q", key, got, want)
			}
		}
		if got := r.Get("two", []byte("key_00000")); got != nil {
			t.Errorf("an empty bucket has %q", got)
		}
		if got := r.Get("none", nil); got != nil {
			t.Errorf("a bucket that is not there has %q", got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A reading that was begun before a write, and ends after it, is not another's.
func TestAReadingThatIsOldIsNotKept(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "f"))
	defer closeFile(t, f)
	putNumber(t, f, 1)
	err := f.Read(func(r *boltfile.Reading) error {
		putNumber(t, f, 2)
		if n := number(r); n != 1 {
			t.Errorf("it has become %d", n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		reads(t, f, 2)
	}
}

// A view that is asked between writes costs no pages: what nobody reads any more is
// taken up again.
func TestReadingsThatWaitHoldNoPages(t *testing.T) {
	size := func(read bool) int64 {
		path := filepath.Join(t.TempDir(), "f")
		f := open(t, path)
		defer closeFile(t, f)
		value := string(make([]byte, 1000))
		for n := range 500 {
			put(t, f, "two", fmt.Sprint(n%10), value)
			if !read {
				continue
			}
			if err := f.Read(func(*boltfile.Reading) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	if alone, beside := size(false), size(true); beside > alone {
		t.Errorf("the file has %d bytes where it was read between writes, and %d where not", beside, alone)
	}
}

// What a reader returns, and that it panics, is its own matter.
func TestAReaderThatFails(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "f"))
	defer closeFile(t, f) // would wait for ever for a reading that nobody ends
	mine := errors.New("mine")
	if err := f.Read(func(*boltfile.Reading) error { return mine }); !errors.Is(err, mine) {
		t.Errorf("the error is %v", err)
	}
	for _, panics := range []func(){
		func() { _ = f.Read(func(*boltfile.Reading) error { panic("mine") }) },
		func() { _ = f.Update(func(*boltfile.Tx) error { panic("mine") }) },
	} {
		func() {
			defer func() { _ = recover() }()
			panics()
		}()
	}
	putNumber(t, f, 1)
	reads(t, f, 1)
}

// Closing waits for who still reads, and leaves nothing to read for who comes then.
func TestClosingWaitsForReaders(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "f"))
	putNumber(t, f, 7)
	reading, closed := make(chan struct{}), make(chan error, 1)
	err := f.Read(func(r *boltfile.Reading) error {
		go func() {
			close(reading)
			closed <- f.Close()
		}()
		<-reading
		if n := number(r); n != 7 {
			t.Errorf("%d is read", n)
		}
		select {
		case err := <-closed:
			t.Errorf("it was closed under a reader, %v", err)
		default:
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if err := f.Read(func(*boltfile.Reading) error { return nil }); err == nil {
		t.Error("a file that is closed was read")
	}
}

func BenchmarkRead(b *testing.B) {
	f := open(b, filepath.Join(b.TempDir(), "f"))
	defer closeFile(b, f)
	putNumber(b, f, 1)
	b.ReportAllocs()
	for b.Loop() {
		_ = f.Read(func(r *boltfile.Reading) error { number(r); return nil })
	}
}
