package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Subjects of relayed requests and of their responses. They belong to no stream: only a
// client that listens now receives a request. The endpoint is in the subject of a
// response, so that no organization can respond for another.
const (
	relayRequestPrefix  = "gridhook.relay.request."
	relayResponsePrefix = "gridhook.relay.response."
)

func (c *Conn) relaySubject(prefix, org, endpointID string) string {
	return c.prefix.Name(prefix + org + "." + endpointID)
}

// Relay passes a request to a client that listens at a relay endpoint, and waits for the
// client's response until ctx ends. It sets the identifier of the request. Errors:
// events.ErrNoRelayClient, the error of ctx, storage.ErrUnavailable.
func (c *Conn) Relay(ctx context.Context, org, endpointID string, r events.RelayRequest) (response events.RelayResponse, err error) {
	r.ID = nuid.Next()
	data, err := json.Marshal(events.RelayLine{Request: &r})
	if err != nil {
		return response, err
	}
	if most := c.nc.MaxPayload(); int64(len(data)) > most {
		return response, fmt.Errorf("the request has %d bytes for the relay, more than %d, the largest message of NATS", len(data), most)
	}
	reply := c.relaySubject(relayResponsePrefix, org, endpointID) + "." + r.ID
	replies := make(chan *nats.Msg, 1) // SubscribeSync allocates half a megabyte for its channel
	sub, err := c.nc.ChanSubscribe(reply, replies)
	if err != nil {
		return response, fmt.Errorf("%w: subscribe to the response: %w", storage.ErrUnavailable, err)
	}
	defer sub.Unsubscribe() //nolint:errcheck // it fails only with the connection, which ends the subscription
	if err := c.nc.PublishRequest(c.relaySubject(relayRequestPrefix, org, endpointID), reply, data); err != nil {
		return response, fmt.Errorf("%w: publish the request: %w", storage.ErrUnavailable, err)
	}
	select {
	case m := <-replies:
		if len(m.Data) == 0 && m.Header.Get("Status") == noResponders {
			return response, events.ErrNoRelayClient
		}
		err = json.Unmarshal(m.Data, &response)
		return response, err
	case <-ctx.Done():
		return response, ctx.Err()
	}
}

// noResponders is the status of the server's reply to a request that nobody receives.
const noResponders = "503"

// RespondRelay passes a client's response to the worker that waits for it. A response that
// is too late has no effect. Errors: storage.ErrUnavailable.
func (c *Conn) RespondRelay(org, endpointID string, r events.RelayResponse) error {
	return c.send(c.relaySubject(relayResponsePrefix, org, endpointID)+"."+r.ID, r)
}

// Limits of the requests that wait for a client that reads slowly. Further requests are
// dropped and time out.
const (
	relayMessages = 256
	relayBytes    = 4 << 20
)

// ListenRelay receives the requests to a relay endpoint. ctx needs a deadline. Errors:
// storage.ErrUnavailable.
func (c *Conn) ListenRelay(ctx context.Context, org, endpointID string) (events.RelaySubscription, error) {
	subject := c.relaySubject(relayRequestPrefix, org, endpointID)
	sub, err := c.nc.QueueSubscribeSync(subject, "clients")
	if err != nil {
		return nil, fmt.Errorf("%w: subscribe to relayed requests: %w", storage.ErrUnavailable, err)
	}
	l := &relaySubscription{sub}
	if err = sub.SetPendingLimits(relayMessages, relayBytes); err == nil {
		err = c.nc.FlushWithContext(ctx) // from now on the server knows the subscription
	}
	if err != nil {
		l.Close() // otherwise it would take requests from the clients that listen
		return nil, fmt.Errorf("%w: subscribe to relayed requests: %w", storage.ErrUnavailable, err)
	}
	return l, nil
}

// relaySubscription is the subscription of one client.
type relaySubscription struct{ sub *nats.Subscription }

// Next implements events.RelaySubscription. A dropped request does not end the subscription.
func (l *relaySubscription) Next(ctx context.Context) ([]byte, error) {
	for {
		m, err := l.sub.NextMsgWithContext(ctx)
		switch {
		case errors.Is(err, nats.ErrSlowConsumer):
		case err == nil:
			return m.Data, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, nats.ErrBadSubscription): // drained
			return nil, io.EOF
		default:
			return nil, fmt.Errorf("%w: receive a relayed request: %w", storage.ErrUnavailable, err)
		}
	}
}

// Drain implements events.RelaySubscription.
func (l *relaySubscription) Drain() { _ = l.sub.Drain() } // it fails only with the connection, which ends the subscription

// Close implements events.RelaySubscription.
func (l *relaySubscription) Close() { _ = l.sub.Unsubscribe() } // it fails only with the connection, which ends the subscription
