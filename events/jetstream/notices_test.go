package jetstream

import (
	"encoding/json"
	"testing"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Only the first put of a notice is stored, by any process. One worker gets it until it
// is handled.
func TestNotices_Once(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	notice := func(id, data string) events.Notice {
		return events.Notice{ID: id, Type: storage.EventTriggerCompleted, OrganizationID: "org", Data: json.RawMessage(data)}
	}
	for i, tt := range []struct {
		notice events.Notice
		fresh  bool
	}{{notice("evt_1", `{"n":1}`), true}, {notice("evt_1", `{"n":2}`), false}, {notice("evt_2", `{"n":3}`), true}} {
		fresh, err := b.PutNotice(within(t), tt.notice)
		if must(t, err); fresh != tt.fresh {
			t.Errorf("notice %d stored: %v, want %v", i, fresh, tt.fresh)
		}
	}
	got := make(chan string, 9)
	failed := false
	stop := consuming(t, b, func(ctx, taking contextT) error {
		return b.ConsumeNotices(ctx, taking, 1, func(_ contextT, n events.Notice, _ events.Taken) error {
			if n.ID == "evt_1" && !failed {
				failed = true
				return storage.ErrUnavailable
			}
			got <- n.ID + string(n.Data)
			return nil
		})
	})
	seen := map[string]bool{receive(t, got): true, receive(t, got): true}
	stop()
	if !seen[`evt_1{"n":1}`] || !seen[`evt_2{"n":3}`] {
		t.Errorf("consumed notices are %v", seen)
	}
	// The notice stays stored.
	if fresh, err := b.PutNotice(within(t), notice("evt_1", `{}`)); fresh || err != nil {
		t.Errorf("handled notice was stored again: %v, %v", fresh, err)
	}
}
