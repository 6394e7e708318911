package mqtt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"time"

	client "github.com/at-wat/mqtt-go"
	"github.com/cenkalti/backoff/v4"
	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// publishTimeout is the timeout of one message.
const publishTimeout = 10 * time.Second

// publishing limits the messages of a change in flight. A message waits for the broker's disk.
const publishing = 64

// catchUpTimeout is how long a change waits for the replica before the next attempt.
const catchUpTimeout = 5 * time.Second

// maxRetry is how long the publisher retries a change. So a change that the broker refuses
// does not hold back later changes for ever. maxDelay is the longest time between attempts.
const (
	maxRetry = time.Hour
	maxDelay = 30 * time.Second
)

// Bus delivers the triggers.
type Bus interface {
	// ConsumeChanges handles triggers until taking ends: one at a time of an organization, in
	// the order of the log, and several organizations at once.
	ConsumeChanges(ctx, taking context.Context, handle events.Handler[events.Trigger]) error
}

// Publisher publishes changes to a broker. It is an MQTT client, because the embedded
// broker retains only messages of MQTT clients. Run starts it.
type Publisher struct {
	Bus   Bus
	Store *storage.Store
	Log   *slog.Logger
	// Dial connects to the broker. Credentials are the publisher's for an organization.
	Dial        func(ctx context.Context, org string) (net.Conn, error)
	Credentials func(org string) (user, password string)
	// MakeRoom reports whether the broker has room for another message of an organization.
	// It may delete old ones for that.
	MakeRoom func(org string) (room bool, err error)
	// Erase deletes all messages of a deleted organization. It may be repeated.
	Erase func(org string) error
}

// Run publishes changes, in the order of the log for each organization, until ctx ends.
func (p *Publisher) Run(ctx context.Context) error {
	return p.Bus.ConsumeChanges(ctx, ctx, p.handle)
}

// handle publishes the change of a trigger, with retries for maxRetry. Errors: the error of an
// ended ctx.
func (p *Publisher) handle(ctx context.Context, t events.Trigger, _ events.Taken) error {
	if t.Change == nil {
		return nil
	}
	delays := backoff.NewExponentialBackOff(backoff.WithMaxInterval(maxDelay), backoff.WithMaxElapsedTime(maxRetry))
	err := backoff.RetryNotify(func() error {
		return events.Recovered(func() error { return p.announce(ctx, &t) })
	}, backoff.WithContext(delays, ctx), func(err error, delay time.Duration) {
		p.Log.Warn("change not published by MQTT, retrying", "trigger", t.ID, "org", t.OrganizationID, "delay", delay, "error", err)
	})
	if err != nil && ctx.Err() == nil {
		p.Log.Error("change not published by MQTT, dropped", "trigger", t.ID, "org", t.OrganizationID, "error", err)
		return nil
	}
	return err
}

// announce publishes a change. It returns when the broker has stored every message.
func (p *Publisher) announce(ctx context.Context, t *events.Trigger) error {
	if err := p.awaitState(ctx, t.Revision); err != nil {
		return err
	}
	if p.deleted(t.OrganizationID) {
		return p.Erase(t.OrganizationID) // an attempt before the deletion may have left messages
	}
	list, err := storage.Query(p.Store, func(v storage.View) ([]message, error) { return messages(v, t.OrganizationID, t.Change) })
	if err != nil || len(list) == 0 {
		return err
	}
	room, err := p.MakeRoom(t.OrganizationID)
	if err != nil {
		return err
	}
	if !room {
		list = p.removals(t, list)
	}
	conn, err := p.connect(ctx, t.OrganizationID)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()           // nothing is left to send
	for _, removal := range []bool{false, true} { // a program's end comes before the removal of its events
		if err := publishAll(ctx, conn, list, removal); err != nil {
			return fmt.Errorf("publish %s %s by MQTT: %w", t.Change.ObjectType, t.Change.ObjectID, err)
		}
	}
	if p.deleted(t.OrganizationID) {
		return p.Erase(t.OrganizationID) // the messages may have followed the erasure
	}
	return nil
}

// removals returns messages that remove what the messages of a change would replace: an old
// price must not stay as the newest. To wait for room would hold up the later changes of the
// organization, perhaps for ever.
func (p *Publisher) removals(t *events.Trigger, list []message) []message {
	p.Log.Error("change not published by MQTT, the messages of the organization take their share of the store: raise max-store",
		"trigger", t.ID, "org", t.OrganizationID)
	list = slices.DeleteFunc(list, func(m message) bool { return !m.retain })
	for i := range list {
		list[i].body = nil
	}
	return list
}

// deleted reports whether an organization has been deleted.
func (p *Publisher) deleted(org string) bool {
	_, err := storage.Query(p.Store, func(v storage.View) (storage.Record, error) { return v.Get(storage.OrganizationRef(org)) })
	return errors.Is(err, storage.ErrNotFound)
}

// publishAll publishes the removals among messages, or the others.
func publishAll(ctx context.Context, conn *client.BaseClient, list []message, removal bool) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(publishing)
	for _, m := range list {
		if removal == (len(m.body) == 0) {
			group.Go(func() error { return publish(ctx, conn, m) })
		}
	}
	return group.Wait()
}

// awaitState waits for the replica, because a change may depend on a new grant.
func (p *Publisher) awaitState(ctx context.Context, revision uint64) error {
	ctx, cancel := context.WithTimeout(ctx, catchUpTimeout)
	defer cancel()
	return p.Store.WaitFor(ctx, revision)
}

// publish publishes one message.
func publish(ctx context.Context, conn *client.BaseClient, m message) error {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	err := conn.Publish(ctx, &client.Message{Topic: m.topic, QoS: client.QoS1, Retain: m.retain, Payload: m.body})
	if err != nil {
		return fmt.Errorf("%s: %w", m.topic, err)
	}
	return nil
}

// connect connects to the broker for an organization.
func (p *Publisher) connect(ctx context.Context, org string) (*client.BaseClient, error) {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	transport, err := p.Dial(ctx, org)
	if err != nil {
		return nil, err
	}
	conn := &client.BaseClient{Transport: transport}
	id := storage.NewID("gridhook-", time.Now()) // a client with a known identifier could end the connection
	user, password := p.Credentials(org)
	if _, err := conn.Connect(ctx, id, client.WithUserNamePassword(user, password), client.WithCleanSession(true), client.WithKeepAlive(0)); err != nil {
		_ = transport.Close() // the error that counts is that of Connect
		return nil, err
	}
	return conn, nil
}
