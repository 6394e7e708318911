package storage_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// FuzzSplitKey checks that the parts of a text that splits make the same text.
func FuzzSplitKey(f *testing.F) {
	for _, seed := range []string{"", "ghk_", "ghk_key_1_ab", "ghk__", "ghk_a_", "ghk_a.b_c", "gho_a_b", "ghk_a_b_c_d"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, secret, ok := storage.SplitKey(storage.KeyPrefix, text)
		if !ok {
			return
		}
		if !storage.ValidID(id) || secret == "" || storage.KeyPrefix+id+"_"+secret != text {
			t.Errorf("%q splits into %q and %q", text, id, secret)
		}
	})
}

// FuzzTime checks that an accepted text is a timestamp by RFC 3339, and that its
// written form reads as the same time.
func FuzzTime(f *testing.F) {
	for _, seed := range []string{
		`null`, `"2026-07-01T00:00:00Z"`, `"2026-07-01T02:30:00.5+02:30"`, `"2026-07-01T0:00:00Z"`, `"2026-07-01T00:00:00,5Z"`,
		`"9999-12-31T23:59:59-01:00"`, `"2026-02-30T00:00:00Z"`, `1`, `""`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var read, again storage.Time
		if err := read.UnmarshalJSON(text); err != nil || read.IsZero() {
			return
		}
		var plain string
		if err := json.Unmarshal(text, &plain); err != nil {
			t.Fatalf("%q was accepted: %v", text, err)
		}
		if _, err := time.Parse(time.RFC3339, plain); err != nil {
			t.Fatalf("%q was accepted: %v", text, err)
		}
		written, err := json.Marshal(read)
		if err != nil {
			t.Fatal(err)
		}
		if err := again.UnmarshalJSON(written); err != nil || !again.Equal(read.Truncate(time.Millisecond)) {
			t.Errorf("%q was written as %s and read as %s (%v)", text, written, again, err)
		}
	})
}
