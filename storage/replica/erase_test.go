package replica_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// A replica drops everything of a deleted organization at its mark, ignores what comes
// later, and shows a later organization with the same identifier.
func TestReplica_Erasure(t *testing.T) {
	log := filled(t)
	mark := storage.ErasureRef("other")
	steps := []storage.Write{
		{Ref: storage.OrganizationRef("other"), Value: []byte(`{}`)},
		{Ref: storage.OrganizationRef("org"), Value: []byte(`{}`)},
		{Ref: storage.Ref{Kind: storage.KindKey, Org: "other", ID: "a"}, Value: []byte(`{}`)},
		{Ref: storage.KindHome.Ref("other", "forgotten"), Deleted: true, Forget: true},
		{Ref: mark, Deleted: true, Forget: true},
		{Ref: storage.KindHome.Ref("other", "orphan"), Value: []byte(`{}`)},
		{Ref: storage.KindHome.Ref("org", "stays"), Value: []byte(`{}`)},
		{Ref: storage.KindHome.Ref("other", "new"), Value: []byte(`{}`), At: storagetest.Start.Add(storagetest.DeletionsAge + time.Hour)},
	}
	path := filepath.Join(t.TempDir(), "state.db")
	memory := log.Replica()
	for i, w := range steps {
		if w.At.IsZero() {
			w.At = storagetest.Start
		}
		add(t, log, w)
		if got, want := caughtUp(t, path, log), dump(memory); got != want {
			t.Fatalf("after write %d the replica has\n%s\nwant\n%s", i, got, want)
		}
		if w.Ref.ID == "orphan" { // the opening after the mark has overwritten everything
			file, err := os.ReadFile(path) //nolint:gosec // of the test itself
			if err != nil || strings.Contains(string(file), "other") {
				t.Errorf("the file names the deleted organization: %v", err)
			}
		}
	}
	text := dump(memory)
	for _, want := range []string{"home/other/new", "home/org/stays", "organization/_/org"} {
		if !strings.Contains(text, want) {
			t.Errorf("the replica lacks %s", want)
		}
	}
	if strings.Contains(text, "orphan") || strings.Count(text, "home/other/") != 1 {
		t.Errorf("the replica has\n%s", text)
	}
	rebuilt := open(t, filepath.Join(t.TempDir(), "state.db"))
	var by []time.Time
	rebuilt.OnErasure(func(t time.Time) error { by = append(by, t); return nil })
	stop := follow(t, rebuilt, log)
	last, _ := log.Last(t.Context())
	if err := rebuilt.WaitFor(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	if len(by) != 1 || !by[0].Equal(storagetest.Start.Add(storagetest.DeletionsAge)) {
		t.Errorf("deletions are erased by %v, want only the expiry of the mark", by)
	}
	const more = 2 // organization/_/org, home/other/new
	n := uint64(strings.Count(dump(rebuilt), "/org/") + more)
	// The mark counts until the log may have removed it. Clocks may differ by a part of its age.
	const counts = storagetest.DeletionsAge - storagetest.DeletionsAge/24
	for after, want := range map[time.Duration]uint64{0: n + 1, counts: n + 1, counts + time.Millisecond: n} {
		if revision, records, err := rebuilt.Records(storagetest.Start.Add(after)); err != nil || revision != last || records != want {
			t.Errorf("%v after the mark, the replica counts %d records at revision %d, want %d at %d: %v", after, records, revision, want, last, err)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// An expired tombstone of a key leaves no owner, whose key names the organization.
func TestReplica_ForgetsOwner(t *testing.T) {
	log := storagetest.NewLog()
	key := storage.Ref{Kind: storage.KindKey, Org: "org", ID: "a"}
	expired := storagetest.Start.Add(2 * storagetest.DeletionsAge)
	add(t, log, storage.Write{Ref: key, At: storagetest.Start, Value: []byte(`{}`)})
	add(t, log, storage.Write{Ref: key, Expect: 1, First: 1, At: storagetest.Start, Deleted: true, Forget: true})
	add(t, log, storage.Write{Ref: storage.KindHome.Ref("org", "h"), At: expired, Value: []byte(`{}`)})
	r := open(t, filepath.Join(t.TempDir(), "state.db"))
	stop := follow(t, r, log)
	if err := r.WaitFor(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	err := r.View(func(v storage.View) error {
		if owner, err := v.Owner(key.Kind, key.ID); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("the forgotten key belongs to %q, %v", owner, err)
		}
		return nil
	})
	if err := errors.Join(err, stop()); err != nil {
		t.Error(err)
	}
}
