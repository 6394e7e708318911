package mqtt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	client "github.com/at-wat/mqtt-go"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// publishTimeout is the timeout of one message.
const publishTimeout = 10 * time.Second

// catchUpTimeout is how long a change waits for the replica before it is redelivered.
const catchUpTimeout = 5 * time.Second

// maxRetry is how long the publisher retries a change. So a change that the broker refuses
// does not hold back later changes for ever.
const maxRetry = time.Hour

// Bus delivers the triggers.
type Bus interface {
	// ConsumeChanges handles one trigger at a time, in the order of the log, until taking
	// ends. A trigger whose handler returns an error is redelivered before any other.
	ConsumeChanges(ctx, taking context.Context, handle func(context.Context, events.Trigger, events.Taken) error) error
}

// Options are the options of a publisher.
type Options struct {
	Bus   Bus
	Store *storage.Store
	Log   *slog.Logger
	Now   func() time.Time
	// Dial connects to the broker. Credentials are the publisher's for an organization.
	Dial        func(ctx context.Context, org string) (net.Conn, error)
	Credentials func(org string) (user, password string)
}

// Publisher publishes changes to a broker. It is an MQTT client, because the embedded
// broker retains only messages of MQTT clients.
type Publisher struct {
	Options

	// failing is the trigger whose change fails, since its first failure.
	failing string
	since   time.Time
	conn    *client.BaseClient // nil while not connected
	org     string             // whose account the connection is for
}

// New returns a publisher.
func New(o Options) *Publisher { return &Publisher{Options: o} }

// Run publishes changes, in the order of the log, until ctx ends.
func (p *Publisher) Run(ctx context.Context) error {
	defer p.disconnect()
	return p.Bus.ConsumeChanges(ctx, ctx, p.handle)
}

// handle publishes the change of a trigger. After an error the trigger is redelivered.
func (p *Publisher) handle(ctx context.Context, t events.Trigger, _ events.Taken) error {
	if t.Change == nil {
		return nil
	}
	err := p.awaitState(ctx, t.Revision)
	if err == nil {
		err = p.announce(ctx, t.OrganizationID, t.Change)
	}
	switch {
	case err == nil:
		return nil
	case p.failing != t.ID:
		p.failing, p.since = t.ID, p.Now()
	case p.Now().Sub(p.since) > maxRetry:
		p.Log.Error("change not published by MQTT, dropped", "trigger", t.ID, "org", t.OrganizationID, "error", err)
		return nil
	}
	return err
}

// awaitState waits for the replica, because a change may depend on a new grant.
func (p *Publisher) awaitState(ctx context.Context, revision uint64) error {
	ctx, cancel := context.WithTimeout(ctx, catchUpTimeout)
	defer cancel()
	return p.Store.WaitFor(ctx, revision)
}

// announce publishes a change. It returns when the broker has stored every message.
func (p *Publisher) announce(ctx context.Context, org string, c *events.Change) error {
	list, err := storage.Query(p.Store, func(v storage.View) ([]message, error) { return messages(v, org, c) })
	if err != nil {
		return err
	}
	for _, m := range list {
		if p.deleted(org) {
			return nil // its messages are erased, and this one would stay
		}
		if err := p.publish(ctx, org, m); err != nil {
			return fmt.Errorf("publish %s of %s %s by MQTT: %w", m.topic, c.ObjectType, c.ObjectID, err)
		}
	}
	return nil
}

// deleted reports whether an organization has been deleted.
func (p *Publisher) deleted(org string) bool {
	_, err := storage.Query(p.Store, func(v storage.View) (storage.Record, error) { return v.Get(storage.OrganizationRef(org)) })
	return errors.Is(err, storage.ErrNotFound)
}

// publish publishes one message. After an error the next message connects again.
func (p *Publisher) publish(ctx context.Context, org string, m message) error {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	if p.conn == nil || p.conn.Err() != nil || p.org != org {
		if err := p.connect(ctx, org); err != nil {
			return err
		}
	}
	err := p.conn.Publish(ctx, &client.Message{Topic: m.topic, QoS: client.QoS1, Retain: m.retain, Payload: m.body})
	if err != nil {
		p.disconnect()
	}
	return err
}

func (p *Publisher) connect(ctx context.Context, org string) error {
	p.disconnect()
	transport, err := p.Dial(ctx, org)
	if err != nil {
		return err
	}
	conn := &client.BaseClient{Transport: transport}
	id := storage.NewID("gridhook-", p.Now()) // a client with a known identifier could end the connection
	user, password := p.Credentials(org)
	// Without a keep-alive, the connection may be idle for days.
	if _, err := conn.Connect(ctx, id, client.WithUserNamePassword(user, password), client.WithCleanSession(true), client.WithKeepAlive(0)); err != nil {
		_ = transport.Close() // the error that counts is that of Connect
		return err
	}
	p.conn, p.org = conn, org
	return nil
}

func (p *Publisher) disconnect() {
	if p.conn != nil {
		_ = p.conn.Close() // nothing is left to send
		p.conn = nil
	}
}
