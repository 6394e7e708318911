package storage_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

func TestValidID_Forms(t *testing.T) {
	for id, want := range map[string]bool{
		"a": true, "Z": true, "0": true, "_": true, "-": true, "home_01J-x": true,
		strings.Repeat("x", 128): true, strings.Repeat("x", 129): false, "": false,
		"a.b": false, "a b": false, "a*": false, ">": false, "a/b": false, "a\x00": false, "é": false, "a\n": false,
		"@": false, "[": false, "`": false, "{": false, ":": false, "^": false,
	} {
		if got := storage.ValidID(id); got != want {
			t.Errorf("ValidID(%q) = %v", id, got)
		}
	}
}

func TestHash_Known(t *testing.T) {
	const want = "ba7816bf" // of FIPS 180-2, appendix B.1
	if text, b := storage.Hash("abc", 4), storage.Hash([]byte("abc"), 4); text != want || b != want {
		t.Errorf("Hash returned %s and %s, not %s", text, b, want)
	}
}

func TestValidID_Corpus(t *testing.T) {
	dir := os.Getenv("GRIDHOOK_TESTDATA")
	if dir == "" {
		t.Skip("GRIDHOOK_TESTDATA is not set: no corpus of identifiers")
	}
	f, err := os.Open(filepath.Join(dir, "corpora", "ids.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows := 0
	for lines := bufio.NewScanner(f); lines.Scan(); rows++ {
		var row struct{ ID, Expect string }
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		if got, want := storage.ValidID(row.ID), row.Expect == "accepted-form"; got != want {
			t.Errorf("ValidID(%q) = %v, want %v", row.ID, got, want)
		}
	}
	if rows < 50 {
		t.Errorf("only %d rows", rows)
	}
}

func TestNewID_SortsByTime(t *testing.T) {
	var ids []string
	for i := range 500 {
		ids = append(ids, storage.NewID("home_", storagetest.Start.Add(time.Duration(i/10)*time.Millisecond)))
	}
	if !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) {
		t.Error("identifiers repeat or do not rise")
	}
	for _, id := range ids {
		if !storage.ValidID(id) || !strings.HasPrefix(id, "home_") || len(id) != len("home_")+26 {
			t.Fatalf("%q is not an identifier", id)
		}
	}
}

func TestIDTime_RoundTrip(t *testing.T) {
	at := time.Date(2026, time.July, 1, 12, 0, 0, 1_000_000, time.UTC)
	if got, ok := storage.IDTime(storage.NewID("trg_", at)); !ok || !got.Equal(at) {
		t.Errorf("got %v, %v", got, ok)
	}
	for _, id := range []string{"", "trg_", "home-1", "trg_1", storage.NewID("trg_", at) + "0"} {
		if got, ok := storage.IDTime(id); ok {
			t.Errorf("the time of %q is %v", id, got)
		}
	}
}
