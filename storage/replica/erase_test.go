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
	caughtUp(t, path, log)
	file, err := os.ReadFile(path) //nolint:gosec // of the test itself
	if err != nil || strings.Contains(string(file), "other\x00h0") {
		t.Errorf("the file has bytes of the deleted organization: %v", err)
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
	_, records, err := rebuilt.Records(storagetest.Start)
	const more = 3 // organization/_/org, the mark, home/other/new
	if n := strings.Count(dump(rebuilt), "/org/") + more; err != nil || records != uint64(n) {
		t.Errorf("the replica counts %d records, want %d: %v", records, n, err)
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
