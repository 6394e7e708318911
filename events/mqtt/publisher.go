package mqtt

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	client "github.com/at-wat/mqtt-go"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// publishTimeout is the timeout of one message.
const publishTimeout = 10 * time.Second

// Options are the options of a publisher.
type Options struct {
	Store *storage.Store
	// Dial connects to the broker. User and Password are the publisher's credentials.
	Dial           func(ctx context.Context) (net.Conn, error)
	User, Password string
}

// Publisher publishes changes to a broker. It is an MQTT client, because the embedded
// broker retains only messages of MQTT clients.
type Publisher struct {
	Options

	mu   sync.Mutex
	conn *client.BaseClient // nil while not connected
}

// New returns a publisher. It connects when it has something to publish.
func New(o Options) *Publisher { return &Publisher{Options: o} }

// Announce publishes a change. It returns when the broker has stored every message.
func (p *Publisher) Announce(ctx context.Context, org string, c *events.Change) error {
	var list []message
	err := p.Store.View(func(v storage.View) (err error) {
		list, err = messages(v, org, c)
		return err
	})
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range list {
		if err := p.publish(ctx, m); err != nil {
			return fmt.Errorf("publish %s of %s %s by MQTT: %w", m.topic, c.ObjectType, c.ObjectID, err)
		}
	}
	return nil
}

// publish publishes one message. After an error the next message connects again.
func (p *Publisher) publish(ctx context.Context, m message) error {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	if p.conn == nil || p.conn.Err() != nil {
		if err := p.connect(ctx); err != nil {
			return err
		}
	}
	err := p.conn.Publish(ctx, &client.Message{Topic: m.topic, QoS: client.QoS1, Retain: m.retain, Payload: m.body})
	if err != nil {
		p.disconnect()
	}
	return err
}

func (p *Publisher) connect(ctx context.Context) error {
	p.disconnect()
	transport, err := p.Dial(ctx)
	if err != nil {
		return err
	}
	conn := &client.BaseClient{Transport: transport}
	// Without a keep-alive, the connection may be idle for days.
	if _, err := conn.Connect(ctx, "gridhook", client.WithUserNamePassword(p.User, p.Password), client.WithCleanSession(true), client.WithKeepAlive(0)); err != nil {
		_ = transport.Close() // the error that counts is that of Connect
		return err
	}
	p.conn = conn
	return nil
}

func (p *Publisher) disconnect() {
	if p.conn != nil {
		_ = p.conn.Close() // nothing is left to send
		p.conn = nil
	}
}

// Close disconnects.
func (p *Publisher) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.disconnect()
	return nil
}
