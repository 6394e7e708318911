package storagetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// Conformance tests the contract of a log and of a replica that follows it. Each test
// writes to its own organization.
func Conformance(t *testing.T, log storage.Log, replica storage.Replica) {
	c := conformance{log: log, replica: replica}
	t.Run("compare and set", c.compareAndSet)
	t.Run("a batch is all or none", c.batch)
	t.Run("a batch may be as large as MaxBatch", c.largestBatch)
	t.Run("tail", c.tail)
	t.Run("a record comes back as it was written", c.roundTrip)
	t.Run("first survives a deletion", c.firstSurvivesDeletion)
	t.Run("scan", c.scan)
	t.Run("devices of a home", c.devices)
	t.Run("count", c.count)
	t.Run("owner", c.owner)
	t.Run("a view does not change", c.viewIsImmutable)
	t.Run("wait ends with its context", c.waitCanceled)
	t.Run("upsert matches a map", c.upsertMatchesMap)
}

type conformance struct {
	log     storage.Log
	replica storage.Replica
}

// at has whole milliseconds, the resolution of the log.
var at = Start.Add(7 * time.Millisecond)

func write(ref storage.Ref, expect uint64, value string) storage.Write {
	return storage.Write{Ref: ref, Expect: expect, At: at, Value: []byte(value)}
}

// put appends a write that must succeed. It returns the revision when the replica has it.
func (c conformance) put(t *testing.T, w storage.Write) uint64 {
	t.Helper()
	revision, err := c.log.AppendBatch(t.Context(), []storage.Write{w})
	if err == nil {
		err = c.replica.WaitFor(t.Context(), revision)
	}
	if err != nil {
		t.Fatalf("append %s: %v", w.Ref, err)
	}
	return revision
}

func (c conformance) get(t *testing.T, ref storage.Ref) (rec storage.Record) {
	t.Helper()
	err := c.replica.View(func(v storage.View) (err error) {
		rec, err = v.Get(ref)
		rec.Value = append([]byte(nil), rec.Value...) // rec.Value is valid in the view only
		return err
	})
	if err != nil {
		t.Fatalf("get %s: %v", ref, err)
	}
	return rec
}

func (c conformance) compareAndSet(t *testing.T) {
	ref := storage.KindHome.Ref("cas", "h")
	first := c.put(t, write(ref, 0, `"a"`))
	for _, expect := range []uint64{0, first - 1, first + 1} {
		if _, err := c.log.AppendBatch(t.Context(), []storage.Write{write(ref, expect, `"b"`)}); !errors.Is(err, storage.ErrConflict) {
			t.Errorf("append expecting %d where %d is: %v, want ErrConflict", expect, first, err)
		}
	}
	second := c.put(t, write(ref, first, `"c"`))
	if second <= first {
		t.Errorf("revision %d after %d", second, first)
	}
	if _, err := c.log.AppendBatch(t.Context(), []storage.Write{write(storage.KindHome.Ref("cas", "none"), first, `"b"`)}); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("append expecting a missing record: %v, want ErrConflict", err)
	}
	if got := c.get(t, ref); string(got.Value) != `"c"` || got.Revision != second {
		t.Errorf("the log has %s at %d, want \"c\" at %d", got.Value, got.Revision, second)
	}
}

func (c conformance) batch(t *testing.T) {
	there := c.put(t, write(storage.KindHome.Ref("batch", "b"), 0, `1`))
	before, err := c.log.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	refs := []storage.Ref{storage.KindHome.Ref("batch", "a"), storage.KindHome.Ref("batch", "b"), storage.KindHome.Ref("batch", "c")}
	ws := make([]storage.Write, len(refs))
	for i, ref := range refs {
		ws[i] = write(ref, 0, `2`) // b exists, so 0 does not match
	}
	if _, err := c.log.AppendBatch(t.Context(), ws); !errors.Is(err, storage.ErrConflict) {
		t.Fatalf("a batch with a wrong expectation: %v, want ErrConflict", err)
	}
	if after, _ := c.log.State(t.Context()); after.Last != before.Last {
		t.Fatalf("a refused batch moved the log from %d to %d", before.Last, after.Last)
	}
	ws[1].Expect = there
	last, err := c.log.AppendBatch(t.Context(), ws)
	if err != nil || last != before.Last+3 {
		t.Fatalf("a batch of three after %d: %d, %v", before.Last, last, err)
	}
	if err := c.replica.WaitFor(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	for i, ref := range refs {
		if got := c.get(t, ref); string(got.Value) != `2` || got.Revision != before.Last+1+uint64(i) {
			t.Errorf("%s holds %s at %d, want 2 at %d", ref, got.Value, got.Revision, before.Last+1+uint64(i))
		}
	}
}

func (c conformance) largestBatch(t *testing.T) {
	ws := make([]storage.Write, storage.MaxBatch)
	for i := range ws {
		ws[i] = write(storage.KindHome.Ref("large", fmt.Sprintf("h%04d", i)), 0, `{}`)
	}
	last, err := c.log.AppendBatch(t.Context(), ws)
	if err == nil {
		err = c.replica.WaitFor(t.Context(), last)
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = c.replica.View(func(v storage.View) error {
		if n := v.Count(storage.KindHome, "large"); n != len(ws) {
			t.Errorf("%d of %d records exist", n, len(ws))
		}
		return nil
	})
}

var errEnough = errors.New("enough")

// read tails the log up to the record of a revision.
func (c conformance) read(t *testing.T, after, until uint64) []storage.Record {
	t.Helper()
	var records []storage.Record
	err := c.log.Tail(t.Context(), after, func(batch []storage.Record) error {
		records = append(records, batch...)
		if batch[len(batch)-1].Revision >= until {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		t.Fatalf("tail ended with %v, want the error of apply", err)
	}
	return records
}

func (c conformance) tail(t *testing.T) {
	a := c.put(t, write(storage.KindHome.Ref("tail", "a"), 0, `1`))
	b := c.put(t, write(storage.KindHome.Ref("tail", "b"), 0, `2`))
	again := c.put(t, write(storage.KindHome.Ref("tail", "a"), a, `3`))
	var got []uint64
	for _, r := range c.read(t, a, again) {
		got = append(got, r.Revision)
	}
	if want := []uint64{b, again}; !reflect.DeepEqual(got, want) {
		t.Errorf("after %d the tail has %v, want %v", a, got, want)
	}
	newest := uint64(0)
	for _, r := range c.read(t, 0, again) {
		if r.Revision <= newest {
			t.Fatalf("%d comes after %d", r.Revision, newest)
		}
		if newest = r.Revision; r.Revision == a {
			t.Errorf("the tail has revision %d, which was replaced", a)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.log.Tail(ctx, again, func([]storage.Record) error { return nil }); err != nil {
		t.Errorf("a tail whose context ends: %v, want nil", err)
	}
}

func (c conformance) roundTrip(t *testing.T) {
	ref := storage.Ref{Kind: storage.KindWebhookEndpoint, Org: "A-z_09", ID: "-_9aZ"}
	revision := c.put(t, write(ref, 0, `{"x":["\u003c",1.5,null]}`))
	want := storage.Record{Ref: ref, Revision: revision, First: revision, At: at, Value: []byte(`{"x":["\u003c",1.5,null]}`)}
	if got := c.get(t, ref); !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, want %#v", got, want)
	}
	if got := c.read(t, revision-1, revision)[0]; got.Ref != ref || string(got.Value) != string(want.Value) || !got.At.Equal(at) {
		t.Errorf("the tail has %#v, want %#v", got, want)
	}
}

func (c conformance) firstSurvivesDeletion(t *testing.T) {
	ref := storage.KindHome.Ref("first", "h")
	first := c.put(t, write(ref, 0, `1`))
	gone := c.put(t, storage.Write{Ref: ref, Expect: first, First: first, At: at, Deleted: true})
	if got := c.get(t, ref); !got.Deleted || got.First != first || got.Revision != gone || len(got.Value) != 0 {
		t.Errorf("the tombstone is %#v", got)
	}
	w := write(ref, gone, `2`)
	w.First = first
	c.put(t, w)
	if got := c.get(t, ref); got.Deleted || got.First != first {
		t.Errorf("created again the record is %#v, want First %d", got, first)
	}
}

func (c conformance) scan(t *testing.T) {
	for _, org := range []string{"scan", "scan-", "scan0", "sca"} {
		for _, id := range []string{"b", "a", "c", "B", "a0", "a-"} {
			c.put(t, write(storage.KindHome.Ref(org, id), 0, `1`))
		}
	}
	gone := c.get(t, storage.KindHome.Ref("scan", "c"))
	c.put(t, storage.Write{Ref: gone.Ref, Expect: gone.Revision, First: gone.First, At: at, Deleted: true})
	for _, tt := range []struct {
		after string
		limit int
		want  []string
	}{
		{"", 99, []string{"B", "a", "a-", "a0", "b", "c deleted"}},
		{"a", 99, []string{"a-", "a0", "b", "c deleted"}},
		{"a1", 99, []string{"b", "c deleted"}},
		{"", 2, []string{"B", "a"}},
		{"c", 99, nil},
		{"zzz", 99, nil},
	} {
		var got []string
		err := c.replica.View(func(v storage.View) error {
			return v.Scan(storage.KindHome, "scan", tt.after, func(r storage.Record) bool {
				name := r.ID
				if r.Deleted {
					name += " deleted"
				}
				got = append(got, name)
				return len(got) < tt.limit
			})
		})
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("scan after %q, at most %d: %q, %v, want %q", tt.after, tt.limit, got, err, tt.want)
		}
	}
}

func (c conformance) devices(t *testing.T) {
	revisions := map[string]uint64{}
	put := func(id, value string) {
		t.Helper()
		ref := storage.KindHVACDevice.Ref("devices", id)
		w := write(ref, revisions[id], value)
		w.Deleted = value == ""
		revisions[id] = c.put(t, w)
	}
	want := func(home, after string, limit int, want ...string) {
		t.Helper()
		var got []string
		err := c.replica.View(func(v storage.View) error {
			return v.Devices("devices", home, after, func(r storage.Record) bool {
				got = append(got, r.ID)
				return len(got) < limit
			})
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("devices of home %q after %q, at most %d: %q, %v, want %q", home, after, limit, got, err, want)
		}
	}
	for _, id := range []string{"c", "a", "b", "a-"} {
		put(id, `{"homeId":"h"}`)
	}
	put("other", `{"homeId":"h1"}`)
	put("none", `{}`)
	put("damaged", `{"homeId":5}`)
	c.put(t, write(storage.KindHVACDevice.Ref("devices2", "d"), 0, `{"homeId":"h"}`))
	c.put(t, write(storage.KindHome.Ref("devices", "h"), 0, `{"homeId":"h"}`))
	want("h", "", 99, "a", "a-", "b", "c")
	want("h", "a", 2, "a-", "b")
	want("h", "a0", 99, "b", "c")
	want("h", "z", 99)
	want("h1", "", 99, "other")
	put("b", `{"homeId":"h1"}`)
	put("c", "")
	want("h", "", 99, "a", "a-")
	want("h1", "", 99, "b", "other")
	put("c", `{"homeId":"h"}`)
	want("h", "", 99, "a", "a-", "c")
}

func (c conformance) count(t *testing.T) {
	ref, other := storage.KindHome.Ref("count", "h"), storage.KindHome.Ref("count", "i")
	want := func(n, deleted int, after string) {
		t.Helper()
		_ = c.replica.View(func(v storage.View) error {
			if live, gone := v.Count(storage.KindHome, "count"), v.Deleted(storage.KindHome, "count"); live != n || gone != deleted {
				t.Errorf("after %s there are %d, and %d deleted, want %d and %d", after, live, gone, n, deleted)
			}
			if got := v.Count(storage.KindSolar, "count") + v.Deleted(storage.KindSolar, "count"); got != 0 {
				t.Errorf("after %s the count of another kind is %d", after, got)
			}
			return nil
		})
	}
	want(0, 0, "nothing")
	r := c.put(t, write(ref, 0, `1`))
	want(1, 0, "a create")
	r = c.put(t, write(ref, r, `2`))
	want(1, 0, "an update")
	c.put(t, write(other, 0, `1`))
	want(2, 0, "another create")
	r = c.put(t, storage.Write{Ref: ref, Expect: r, At: at, Deleted: true})
	want(1, 1, "a delete")
	r = c.put(t, storage.Write{Ref: ref, Expect: r, At: at, Deleted: true})
	want(1, 1, "another delete")
	c.put(t, write(ref, r, `3`))
	want(2, 0, "a create again")
}

func (c conformance) owner(t *testing.T) {
	ref := storage.Ref{Kind: storage.KindKey, Org: "owner", ID: "key_1"}
	r := c.put(t, write(ref, 0, `1`))
	owner := func() (org string, err error) {
		_ = c.replica.View(func(v storage.View) error { org, err = v.Owner(storage.KindKey, "key_1"); return nil })
		return org, err
	}
	if org, err := owner(); org != "owner" || err != nil {
		t.Errorf("the owner is %q, %v", org, err)
	}
	c.put(t, storage.Write{Ref: ref, Expect: r, At: at, Deleted: true})
	if org, err := owner(); org != "owner" || err != nil {
		t.Errorf("the owner of the tombstone is %q, %v", org, err)
	}
	_ = c.replica.View(func(v storage.View) error {
		if org, err := v.Owner(storage.KindKey, "key_none"); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("the owner of a missing record is %q, %v", org, err)
		}
		if _, err := v.Get(storage.KindHome.Ref("owner", "none")); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("Get of a missing record: %v", err)
		}
		return nil
	})
}

func (c conformance) viewIsImmutable(t *testing.T) {
	ref := storage.KindHome.Ref("still", "h")
	r := c.put(t, write(ref, 0, `1`))
	_ = c.replica.View(func(v storage.View) error {
		before := v.Revision()
		if before < r {
			t.Errorf("the view is at %d after a wait for %d", before, r)
		}
		// Do not wait for the write here: a replica may apply it only after its readers
		// end.
		if _, err := c.log.AppendBatch(t.Context(), []storage.Write{write(ref, r, `2`)}); err != nil {
			t.Error(err)
		}
		if got, err := v.Get(ref); err != nil || string(got.Value) != `1` || v.Revision() != before {
			t.Errorf("inside the view the value is %s at %d, %v", got.Value, v.Revision(), err)
		}
		return nil
	})
	state, err := c.log.State(t.Context())
	if err == nil {
		err = c.replica.WaitFor(t.Context(), state.Last)
	}
	if got := c.get(t, ref); err != nil || string(got.Value) != `2` {
		t.Errorf("after the view the value is %s, %v", got.Value, err)
	}
}

func (c conformance) waitCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := c.replica.WaitFor(ctx, c.replica.Revision()+1_000_000)
	if !errors.Is(err, storage.ErrUnavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want ErrUnavailable and Canceled", err)
	}
	if err := c.replica.WaitFor(ctx, c.replica.Revision()); err != nil {
		t.Errorf("WaitFor of a past revision: %v", err)
	}
}
