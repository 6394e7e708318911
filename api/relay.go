package api

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Relay connects the clients that listen at relay endpoints with the workers.
type Relay interface {
	// ListenRelay receives the requests to an endpoint. ctx needs a deadline. Errors:
	// storage.ErrUnavailable.
	ListenRelay(ctx context.Context, org, endpointID string) (events.RelaySubscription, error)
	// RespondRelay passes on a client's response. Errors: storage.ErrUnavailable.
	RespondRelay(org, endpointID string, r events.RelayResponse) error
}

const (
	// relayBeat is the time without a request after which a client gets a line without one,
	// so that both sides notice a broken connection.
	relayBeat = 15 * time.Second
	// maxRelayClients is the maximum number of clients of a payer that listen at once at this
	// process.
	maxRelayClients = 8
)

// listenInput says how long a client listens.
type listenInput struct {
	_ struct{} `required:"seconds"`

	Seconds int `json:"seconds" minimum:"1" maximum:"600" doc:"How long the connection stays open." example:"600"`
}

// listenEndpoint subscribes to the endpoint before the response begins, and keeps the
// endpoint for another storage.RelayRetention. When the stream's time ends, it writes the
// requests that it has received.
func (s *server) listenEndpoint(ctx context.Context, c *rest.Call, in *listenInput) (rest.Stream, error) {
	if err := s.relayOf(c); err != nil {
		return nil, err
	}
	release, err := s.listening.TakeOne(c.Payer(), maxRelayClients, errRelayClients)
	if err != nil {
		return nil, err
	}
	subscription, err := s.Relay.ListenRelay(ctx, c.Org, c.ID)
	if err != nil {
		release()
		return nil, err
	}
	end := func() { subscription.Close(); release() }
	if err := s.Store.Touch(ctx, storage.KindWebhookEndpoint.Ref(c.Org, c.ID)); err != nil {
		end()
		return nil, err
	}
	return func(ctx context.Context, write func([]byte) error) {
		defer end()
		defer time.AfterFunc(time.Duration(in.Seconds)*time.Second, subscription.Drain).Stop()
		s.relay(ctx, c, subscription, write)
	}, nil
}

func (s *server) respondEndpoint(_ context.Context, c *rest.Call, in *events.RelayResponse) (wire.Relayed, error) {
	if err := s.relayOf(c); err != nil {
		return wire.Relayed{}, err
	}
	return wire.Relayed{ID: in.ID}, s.Relay.RespondRelay(c.Org, c.ID, *in)
}

// errRelayClients refuses a client beside maxRelayClients others.
var errRelayClients = rest.NewProblem(rest.CodeRateLimited, fmt.Sprintf("The organization has %d clients that listen, which is the limit.", maxRelayClients),
	"Stop a client.").After(1)

// errNotRelay refuses to listen at an endpoint with another URL.
var errNotRelay = rest.NewProblem(rest.CodeConflict, "The url of the endpoint is not "+storage.RelayURL+".",
	"Create an endpoint with that url, or use gridhook listen.")

// relayOf checks that the call's endpoint is a relay endpoint of the call's organization.
func (s *server) relayOf(c *rest.Call) error {
	if err := c.Wrong.Err(); err != nil {
		return err
	}
	e, err := storage.Get[storage.WebhookEndpoint](s.Store, storage.KindWebhookEndpoint.Ref(c.Org, c.ID))
	switch {
	case err != nil:
		return err
	case !e.IsRelay():
		return errNotRelay
	}
	return nil
}

// idleLine says that there is no request.
var idleLine = []byte(`{"request":null}`)

// relay passes an endpoint's requests to a client until ctx or the subscription ends.
func (s *server) relay(ctx context.Context, c *rest.Call, subscription events.RelaySubscription, write func([]byte) error) {
	for line := idleLine; s.mayListen(c) && write(line) == nil; {
		waiting, stop := context.WithTimeout(ctx, relayBeat)
		next, err := subscription.Next(waiting)
		stop()
		switch {
		case err == nil:
			line = next
		case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
			line = idleLine
		default:
			return
		}
	}
}

// mayListen reports whether the client may still listen: the endpoint may be deleted, the
// key revoked, an organization suspended, or a child organization taken from its parent.
func (s *server) mayListen(c *rest.Call) bool {
	if s.relayOf(c) != nil || s.rest.MayActFor(&c.Caller, c.Org) != nil {
		return false
	}
	switch {
	case c.Operator && c.KeyID == storage.BootstrapKeyID:
		return true // the configured key, which does not change
	case c.Operator:
		key, err := storage.Get[storage.OperatorKey](s.Store, storage.OperatorKeyRef(c.KeyID))
		return err == nil && key.Live(s.Store.Now()) && key.Role.Includes(storage.RoleOperate)
	}
	key, err := s.rest.LiveKey(c.KeyID, s.Store.Now())
	return err == nil && key != nil
}
