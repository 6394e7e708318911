package mqtt

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// A failed change is retried for an hour, and is then dropped. A panic is a failure, too.
func TestPublisher_Retry(t *testing.T) {
	for name, dial := range map[string]func() (net.Conn, error){
		"error": func() (net.Conn, error) { return nil, errors.New("the broker is unavailable") },
		"panic": func() (net.Conn, error) { panic("a fault of the publisher") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, dials := newPublisher(t, dial)
				began := time.Now()
				if err := p.handle(t.Context(), change("org"), events.Taken{}); err != nil {
					t.Errorf("a change that always fails ends with %v, want dropped", err)
				}
				if took := time.Since(began); took < maxRetry-2*maxDelay || took > maxRetry+2*maxDelay || *dials < 100 {
					t.Errorf("%d attempts in %s, want one each %s for %s", *dials, took, maxDelay, maxRetry)
				}
			})
		})
	}
}

// A publisher that stops does not drop the change that it retries.
func TestPublisher_Stop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broker := errors.New("the broker is unavailable")
		p, _ := newPublisher(t, func() (net.Conn, error) { return nil, broker })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := p.handle(ctx, change("org"), events.Taken{}); err == nil {
			t.Error("the change of a stopped publisher counts as published")
		}
	})
}

// A trigger without a change makes no message.
func TestPublisher_NoChange(t *testing.T) {
	p, dials := newPublisher(t, func() (net.Conn, error) { return nil, errors.New("refused") })
	if err := p.handle(t.Context(), events.Trigger{ID: "c", OrganizationID: "org"}, events.Taken{}); err != nil || *dials != 0 {
		t.Errorf("%v after %d connections, want none", err, *dials)
	}
}

// A change of a deleted organization makes no message. If the organization is deleted during
// an attempt, its messages are erased once more.
func TestPublisher_Deleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p *Publisher
		p, dials := newPublisher(t, func() (net.Conn, error) {
			_, err := p.Store.EraseOrganization(t.Context(), "org")
			return nil, errors.Join(err, errors.New("disconnected"))
		})
		var erased []string
		p.Erase = func(org string) error { erased = append(erased, org); return nil }
		for range 2 {
			if err := p.handle(t.Context(), change("org"), events.Taken{}); err != nil {
				t.Error(err)
			}
		}
		if *dials != 1 || len(erased) != 2 || erased[0] != "org" {
			t.Errorf("%d connections and erased %q, want one connection, and an erasure after each change", *dials, erased)
		}
	})
}

// Without room, a change removes the retained messages that it would replace, and does not hold
// up the changes of other organizations.
func TestPublisher_NoRoom(t *testing.T) {
	p, _ := newPublisher(t, nil)
	trigger := change("org")
	list := p.removals(&trigger, []message{{"a", []byte("{}"), true}, {"b", []byte("{}"), false}, {"c", nil, true}})
	if len(list) != 2 || list[0].topic != "a" || list[0].body != nil || list[1].topic != "c" {
		t.Errorf("without room it publishes %+v", list)
	}
}

// newPublisher returns a publisher with the organization org, and the number of its
// connections.
func newPublisher(t *testing.T, dial func() (net.Conn, error)) (p *Publisher, dials *int) {
	t.Helper()
	store, _, _ := storagetest.NewStore(time.Now)
	storagetest.Put(t, store, &storage.Organization{ID: "org", Base: storage.Base{OrganizationID: storage.Shared}})
	dials = new(int)
	return &Publisher{
		Store: store, Log: slog.New(slog.DiscardHandler),
		Dial:     func(context.Context, string) (net.Conn, error) { *dials++; return dial() },
		MakeRoom: func(string) (bool, error) { return true, nil },
	}, dials
}

func change(org string) events.Trigger {
	return events.Trigger{
		ID: "a", OrganizationID: org,
		Change: &events.Change{ObjectType: storage.OpenADRReport, ObjectID: "report_1", Operation: events.OperationCreate, Object: []byte(`{}`)},
	}
}
