package jetstream

import (
	"errors"
	"maps"
	"testing"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Known returns the stored signals. A writer at an old revision does not overwrite them.
func TestKnown_CompareAndSet(t *testing.T) {
	b := newBus(t, t.TempDir())
	ctx := within(t)
	read := func(endpoint string, slice int) events.Known {
		t.Helper()
		known, err := b.Known(ctx, "org", endpoint, slice)
		if err != nil {
			t.Fatal(err)
		}
		return known
	}
	none := read("ep", 0)
	if len(none.Signals) != 0 || none.Signals == nil || none.Revision != 0 {
		t.Fatalf("known signals of a new endpoint are %+v", none)
	}
	none.Signals["home"], none.Receiver = "a", "receiver"
	revision, err := b.PutKnown(ctx, "org", "ep", 0, none)
	if err != nil {
		t.Fatal(err)
	}
	first := read("ep", 0)
	if !maps.Equal(first.Signals, map[string]string{"home": "a"}) || first.Receiver != "receiver" || first.Revision == 0 || first.Revision != revision {
		t.Fatalf("known signals are %+v", first)
	}
	if _, err := b.PutKnown(ctx, "org", "ep", 0, none); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("put at an old revision returns %v", err)
	}
	first.Signals["home"] = "b"
	if _, err := b.PutKnown(ctx, "org", "ep", 0, first); err != nil {
		t.Error(err)
	}
	if second := read("ep", 0); second.Signals["home"] != "b" {
		t.Errorf("known signals are %+v", second)
	}
	for _, other := range []events.Known{read("ep", 1), read("other", 0)} {
		if len(other.Signals) != 0 {
			t.Errorf("known signals of another slice or endpoint are %+v", other)
		}
	}
}
