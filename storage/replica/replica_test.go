package replica_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/replica"
	"github.com/gridhook/gridhook/storage/storagetest"
)

func open(t testing.TB, path string) *replica.Replica {
	t.Helper()
	r, err := replica.Open(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// follow lets the replica follow a log until stop is called. stop closes the replica
// and returns the result of Follow.
func follow(t testing.TB, r *replica.Replica, log storage.Log) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Follow(ctx, log) }()
	return func() error {
		cancel()
		err := <-done
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		return err
	}
}

// caughtUp opens a replica, follows the log to its end and returns the dump.
func caughtUp(t testing.TB, path string, log storage.Log) string {
	t.Helper()
	r := open(t, path)
	stop := follow(t, r, log)
	state, err := log.State(context.Background())
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		err = r.WaitFor(ctx, state.Last)
	}
	if err != nil {
		t.Fatal(err)
	}
	text := dump(r)
	if err := stop(); err != nil {
		t.Errorf("Follow returned %v", err)
	}
	return text
}

var orgs = []string{"org", "other", storage.Shared}

// dump returns the content of a replica as text.
func dump(r storage.Replica) string {
	var b strings.Builder
	err := r.View(func(v storage.View) error {
		fmt.Fprintln(&b, "revision", v.Revision())
		for _, org := range orgs {
			fmt.Fprintln(&b, org, "bytes", v.Size(org))
		}
		for _, kind := range storage.Kinds() {
			for _, org := range orgs {
				fmt.Fprintln(&b, kind, org, v.Count(kind, org))
				err := v.Scan(kind, org, "", func(rec storage.Record) bool {
					fmt.Fprintf(&b, "%s %d %d %v %v %s\n", rec.Ref, rec.Revision, rec.First, rec.At.UTC(), rec.Deleted, rec.Value)
					return true
				})
				if err != nil {
					return err
				}
			}
		}
		for _, id := range []string{"a", "b", "c"} {
			org, err := v.Owner(storage.KindKey, id)
			fmt.Fprintln(&b, "owner", id, org, err)
		}
		return nil
	})
	fmt.Fprintln(&b, err)
	return b.String()
}

// filled returns a log with homes, keys and a deleted home.
func filled(t testing.TB) *storagetest.Log {
	t.Helper()
	log := storagetest.NewLog()
	for i := range 300 {
		ref := storage.KindHome.Ref(orgs[i%2], fmt.Sprintf("h%03d", i/2))
		add(t, log, storage.Write{Ref: ref, At: storagetest.Start, Value: []byte(strings.Repeat("v", i))})
	}
	add(t, log, storage.Write{Ref: storage.Ref{Kind: storage.KindKey, Org: "org", ID: "a"}, At: storagetest.Start, Value: []byte(`{}`)})
	add(t, log, storage.Write{Ref: storage.KindHome.Ref("org", "h000"), Expect: 1, First: 1, At: storagetest.Start, Deleted: true})
	return log
}

func add(t testing.TB, log storage.Log, w storage.Write) {
	t.Helper()
	if _, err := log.AppendBatch(t.Context(), []storage.Write{w}); err != nil {
		t.Fatal(err)
	}
}

// expiring is a log whose last record expires while a replica starts.
type expiring struct {
	*storagetest.Log
	asked atomic.Int32
}

func (l *expiring) Newest(ctx context.Context) (uint64, error) {
	last, err := l.Last(ctx)
	if l.asked.Add(1) > 1 {
		last--
	}
	return last, err
}

func (l *expiring) Tail(ctx context.Context, _ uint64, _ func([]storage.Record) error) error {
	<-ctx.Done()
	return nil
}

// A replica reaches the end of a log whose last record expires before the replica gets it. It
// does not skip the record while the log has it.
func TestReplica_LastRecordExpires(t *testing.T) {
	log := storagetest.NewLog()
	path := filepath.Join(t.TempDir(), "state.db")
	add(t, log, storage.Write{Ref: storage.KindHome.Ref("org", "stays"), At: storagetest.Start, Value: []byte(`{}`)})
	caughtUp(t, path, log)
	add(t, log, storage.Write{Ref: storage.KindHome.Ref("org", "goes"), At: storagetest.Start, Deleted: true, Forget: true})
	expires := &expiring{Log: log}
	if got := caughtUp(t, path, expires); !strings.HasPrefix(got, "revision 2\n") {
		t.Errorf("the replica has\n%s", got)
	}
	if n := expires.asked.Load(); n < 2 {
		t.Errorf("the replica asked for the newest record %d times, want 2", n)
	}
}

func TestReplica_Conformance(t *testing.T) {
	log := storagetest.NewLog()
	r := open(t, filepath.Join(t.TempDir(), "state.db"))
	stop := follow(t, r, log)
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	storagetest.Conformance(t, log, r)
}

// tailed records the revisions from which a log is tailed.
type tailed struct {
	*storagetest.Log
	after []uint64
}

func (l *tailed) Tail(ctx context.Context, after uint64, apply func([]storage.Record) error) error {
	l.after = append(l.after, after)
	return l.Log.Tail(ctx, after, apply)
}

func TestReplica_ResumesAtRevision(t *testing.T) {
	log := &tailed{Log: filled(t)}
	path := filepath.Join(t.TempDir(), "state.db")
	caughtUp(t, path, log)
	add(t, log, storage.Write{Ref: storage.KindHome.Ref("org", "new"), Value: []byte(`{}`)})
	got := caughtUp(t, path, log)
	if want := dump(log.Replica()); got != want {
		t.Errorf("after reopening the replica has\n%s\nwant\n%s", got, want)
	}
	if fmt.Sprint(log.after) != "[0 302]" {
		t.Errorf("the log was tailed after %v, want 0 and then 302", log.after)
	}
}

func TestReplica_RebuildsMissingFile(t *testing.T) {
	log := filled(t)
	path := filepath.Join(t.TempDir(), "state.db")
	before := caughtUp(t, path, log)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if after := caughtUp(t, path, log); after != before || after != dump(log.Replica()) {
		t.Errorf("after the rebuild the replica has\n%s\nwant\n%s", after, before)
	}
}

func TestReplica_RebuildsDamagedFile(t *testing.T) {
	log := filled(t)
	want := dump(log.Replica())
	for name, damage := range map[string]func([]byte) []byte{
		"truncated": func(b []byte) []byte { return b[:len(b)/2] },
		"garbage":   func(b []byte) []byte { return []byte(strings.Repeat("garbage", len(b)/7)) },
		"a flipped bit in a value": func(b []byte) []byte {
			b[strings.Index(string(b), strings.Repeat("v", 200))+9] ^= 4
			return b
		},
		"a flipped bit in an organization": func(b []byte) []byte {
			b[strings.LastIndex(string(b), "other\x00h07")] ^= 1
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.db")
			caughtUp(t, path, log)
			b, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, damage(b), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := caughtUp(t, path, log); got != want {
				t.Errorf("the replica has\n%s\nwant\n%s", got, want)
			}
			if kept, _ := filepath.Glob(path + ".corrupt-*"); len(kept) != 1 {
				t.Errorf("set aside: %v, want the damaged file", kept)
			}
		})
	}
}

// TestReplica_RebuildsAfterDamagedRead flips a byte but keeps the file's times, like a
// failing disk. The reader of the record detects it, and the next start rebuilds the
// file.
func TestReplica_RebuildsAfterDamagedRead(t *testing.T) {
	log := filled(t)
	want := dump(log.Replica())
	path := filepath.Join(t.TempDir(), "state.db")
	caughtUp(t, path, log)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[strings.Index(string(b), strings.Repeat("v", 200))+9] ^= 4
	if err := errors.Join(os.WriteFile(path, b, 0o600), os.Chtimes(path, time.Time{}, info.ModTime())); err != nil {
		t.Fatal(err)
	}
	r := open(t, path)
	if text := dump(r); !strings.Contains(text, "damaged") {
		t.Errorf("the damaged record was returned:\n%s", text)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if got := caughtUp(t, path, log); got != want {
		t.Errorf("the replica has\n%s\nwant\n%s", got, want)
	}
}

// renamed is a log with another identity, like a recreated log.
type renamed struct{ *storagetest.Log }

func (l renamed) State(ctx context.Context) (storage.LogState, error) {
	state, err := l.Log.State(ctx)
	state.Identity = "another"
	return state, err
}

func TestReplica_OtherLogRebuilds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	caughtUp(t, path, filled(t))
	other := renamed{storagetest.NewLog()}
	add(t, other, storage.Write{Ref: storage.KindHome.Ref("org", "only"), Value: []byte(`{}`)})
	if got, want := caughtUp(t, path, other), dump(other.Replica()); got != want {
		t.Errorf("the replica has\n%s\nwant\n%s", got, want)
	}
}

// TestReplica_OtherLogWhileRunning checks that a running replica refuses another log.
// Caches identify values by revision, and another log has other values at the same
// revisions.
func TestReplica_OtherLogWhileRunning(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	r := open(t, path)
	log := filled(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Follow(ctx, log) }()
	if err := r.WaitFor(t.Context(), 302); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	before := dump(r)
	other := renamed{storagetest.NewLog()}
	add(t, other, storage.Write{Ref: storage.KindHome.Ref("org", "only"), Value: []byte(`{}`)})
	ended, cancel := context.WithCancel(t.Context())
	cancel() // a replica that follows would end here
	if err := r.Follow(ended, other); !errors.Is(err, replica.ErrLogReplaced) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want ErrLogReplaced with the file's name", err)
	}
	if after := dump(r); after != before {
		t.Errorf("the replica changed to\n%s", after)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := caughtUp(t, path, other), dump(other.Replica()); got != want {
		t.Errorf("after a restart the replica has\n%s\nwant\n%s", got, want)
	}
}

// forgetful is a log that has removed the tombstones before a time.
type forgetful struct {
	*storagetest.Log
	since time.Time
}

func (l forgetful) State(ctx context.Context) (storage.LogState, error) {
	state, err := l.Log.State(ctx)
	state.WholeSince = l.since
	return state, err
}

// TestReplica_RemovedTombstone checks that a replica rebuilds itself if the log may have removed
// a tombstone that the replica has not seen. The rebuilt replica has everything of the log.
func TestReplica_RemovedTombstone(t *testing.T) {
	home := func(id string) storage.Write {
		return storage.Write{Ref: storage.KindHome.Ref("org", id), At: storagetest.Start, Value: []byte(`{}`)}
	}
	for name, tt := range map[string]struct {
		since time.Time
		newer bool // the log has records that the replica lacks
		stays bool
	}{
		"seen in time":              {storagetest.Start.Add(-time.Second), true, true},
		"too late":                  {storagetest.Start, true, false},
		"the replica is at the end": {storagetest.Start.Add(time.Hour), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.db")
			before, after := storagetest.NewLog(), storagetest.NewLog()
			add(t, before, home("gone"))
			add(t, after, home("other")) // it has no record of the home
			if tt.newer {
				add(t, after, home("new"))
			}
			caughtUp(t, path, before)
			got, want := caughtUp(t, path, forgetful{after, tt.since}), dump(after.Replica())
			if strings.Contains(got, "gone") != tt.stays || !tt.stays && got != want {
				t.Errorf("the replica has\n%s\nthe log has\n%s", got, want)
			}
		})
	}
}

func TestReplica_LogLostWrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	caughtUp(t, path, filled(t))
	older := storagetest.NewLog()
	add(t, older, storage.Write{Ref: storage.KindHome.Ref("org", "h000"), Value: []byte(`{}`)})
	r := open(t, path)
	defer r.Close()
	before := dump(r)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err := r.Follow(ctx, older)
	if !errors.Is(err, replica.ErrLogBehind) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want ErrLogBehind with the file's name", err)
	}
	if dump(r) != before {
		t.Error("the replica was changed")
	}
}

// silent is a log that does not respond.
type silent struct{ *storagetest.Log }

func (silent) State(context.Context) (storage.LogState, error) {
	return storage.LogState{}, storage.ErrUnavailable
}

func TestReplica_LogUnavailable(t *testing.T) {
	r := open(t, filepath.Join(t.TempDir(), "state.db"))
	defer r.Close()
	if err := r.Follow(t.Context(), silent{storagetest.NewLog()}); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestReplica_UnknownKind(t *testing.T) {
	log := storagetest.NewLog()
	add(t, log, storage.Write{Ref: storage.Ref{Kind: "tomorrow", Org: "org", ID: "a"}, Value: []byte(`{}`)})
	r := open(t, filepath.Join(t.TempDir(), "state.db"))
	stop := follow(t, r, log)
	if err := r.WaitFor(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	_ = r.View(func(v storage.View) error {
		if _, err := v.Get(storage.Ref{Kind: "tomorrow", Org: "org", ID: "a"}); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("Get returned %v", err)
		}
		if err := v.Scan("tomorrow", "org", "", func(storage.Record) bool { t.Error("a record was found"); return true }); err != nil {
			t.Error(err)
		}
		return nil
	})
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestReplica_FileInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	r := open(t, path)
	defer r.Close()
	if _, err := replica.Open(path, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("got %v", err)
	}
}

// TestReplica_MatchesModel checks that the replica has the same content as the
// in-memory model after any writes and restarts.
func TestReplica_MatchesModel(t *testing.T) {
	dir, runs := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		path := filepath.Join(dir, fmt.Sprint(runs))
		log := storagetest.NewLog()
		memory := log.Replica()
		kinds := rapid.SampledFrom([]storage.Kind{storage.KindHome, storage.KindKey})
		for range rapid.IntRange(1, 4).Draw(rt, "openings") {
			for range rapid.IntRange(0, 12).Draw(rt, "writes") {
				ref := storage.Ref{Kind: kinds.Draw(rt, "kind"), Org: rapid.SampledFrom(orgs).Draw(rt, "org"), ID: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "id")}
				w := storage.Write{Ref: ref, At: storagetest.Start, Deleted: rapid.Bool().Draw(rt, "deleted")}
				_ = memory.View(func(v storage.View) error {
					if was, err := v.Get(ref); err == nil {
						w.Expect, w.First = was.Revision, was.First
					}
					return nil
				})
				if !w.Deleted {
					w.Value = []byte(rapid.SampledFrom([]string{`1`, `2`}).Draw(rt, "value"))
				}
				add(t, log, w)
			}
			if got, want := caughtUp(t, path, log), dump(memory); got != want {
				rt.Fatalf("the replica has\n%s\nwant\n%s", got, want)
			}
		}
	})
}
