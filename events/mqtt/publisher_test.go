package mqtt

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// A failed change is retried for an hour from its first failure, at any age, and is then
// dropped. The next change follows.
func TestPublisher_Retry(t *testing.T) {
	now := storagetest.Start
	store, _, _ := storagetest.NewStore(func() time.Time { return now })
	storagetest.Put(t, store, &storage.Organization{ID: "org", Base: storage.Base{OrganizationID: storage.Shared}})
	broker := errors.New("the broker is unavailable")
	p := New(Options{
		Store: store, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now },
		Dial: func(context.Context, string) (net.Conn, error) { return nil, broker },
	})
	change := func(id string) events.Trigger {
		return events.Trigger{
			ID: id, OrganizationID: "org", CreatedAt: storage.Time{Time: storagetest.Start.Add(-48 * time.Hour)},
			Change: &events.Change{ObjectType: storage.OpenADRReport, ObjectID: "report_1", Operation: events.OperationCreate, Object: []byte(`{}`)},
		}
	}
	for _, c := range []struct {
		trigger string
		after   time.Duration
		dropped bool
	}{{"a", 0, false}, {"a", maxRetry, false}, {"a", maxRetry + time.Second, true}, {"b", maxRetry + time.Second, false}} {
		now = storagetest.Start.Add(c.after)
		err := p.handle(t.Context(), change(c.trigger), events.Taken{})
		if c.dropped && err != nil || !c.dropped && !errors.Is(err, broker) {
			t.Errorf("%s after %s: %v, want dropped: %v", c.trigger, c.after, err, c.dropped)
		}
	}
	if err := p.handle(t.Context(), events.Trigger{ID: "c"}, events.Taken{}); err != nil {
		t.Errorf("a trigger without a change: %v", err)
	}
}
