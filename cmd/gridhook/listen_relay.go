package main

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/receiver"
	"github.com/gridhook/gridhook/events/periodic"
	"github.com/gridhook/gridhook/storage"
)

const (
	// relayTimeout is the timeout of an attempt at a relay endpoint.
	relayTimeout = 30 * time.Second
	// relayAtOnce is the maximum number of relayed requests that the command handles at
	// once.
	relayAtOnce = 64
	// relayRate is the number of deliveries a second from each worker. Each response is a
	// request, which counts against the rate limit of the key.
	relayRate = 25.0
	// relayPause is the pause before the next connection after a connection broke, and the
	// shortest pause before a response is sent again.
	relayPause = time.Second
	// relayOverlap is how long before the end of a connection the next connection begins.
	relayOverlap = 5 * time.Second
)

// listenByRelay receives webhooks over connections to the server, at a temporary endpoint.
func (g *globals) listenByRelay(ctx context.Context, o *listenOptions) error {
	c, endpoint, remove, err := g.temporaryEndpoint(ctx, o)
	if err != nil {
		return err
	}
	defer remove()
	if endpoint.Secret != "" {
		say(g.err, "signing secret %s\n", endpoint.Secret)
	}
	l := &relayLoop{g: g, c: c, endpoint: endpoint.ID, r: receiver.New(o.options)}
	return errors.Join(l.run(ctx), g.sumUp(l.r))
}

// temporaryEndpoint creates the command's endpoint, or takes the endpoint of --endpoint. The
// command verifies with its secret. remove removes the endpoint.
func (g *globals) temporaryEndpoint(ctx context.Context, o *listenOptions) (c *client.Client, endpoint client.Endpoint, remove func(), err error) {
	if c, err = g.connect(); err != nil {
		return nil, endpoint, nil, err
	}
	if endpoint, err = createTemporary(ctx, c, o); err != nil {
		return nil, endpoint, nil, err
	}
	remove = func() { g.removeTemporary(ctx, c, endpoint.ID) }
	if endpoint.Secret != "" {
		if o.options.Verifier, err = receiver.NewVerifier(endpoint.Secret); err != nil {
			remove()
		}
	}
	return c, endpoint, remove, err
}

// createTemporary creates an endpoint at the public URL or for a relay, or takes the endpoint
// of --endpoint. Without a secret to verify with, that endpoint gets a new secret. It must be
// a relay endpoint, because the command removes it at the end.
func createTemporary(ctx context.Context, c *client.Client, o *listenOptions) (client.Endpoint, error) {
	if o.endpoint == "" {
		fields := client.EndpointFields{URL: new(cmp.Or(o.publicURL, storage.RelayURL)), Description: new("gridhook listen (temporary)")}
		if o.publicURL == "" {
			fields.TimeoutSeconds, fields.RateLimit = new(relayTimeout.Seconds()), new(relayRate)
		}
		return c.CreateEndpoint(ctx, client.NewEndpoint{EndpointFields: fields})
	}
	endpoint, err := c.GetEndpoint(ctx, o.endpoint)
	switch {
	case err != nil:
		return endpoint, err
	case endpoint.URL != storage.RelayURL:
		return endpoint, usagef("--endpoint must be an endpoint of gridhook listen: the url of %s is %s, not %s", o.endpoint, plain(endpoint.URL), storage.RelayURL)
	case o.options.Verifier == nil && !o.options.Unverified:
		return c.RotateSecret(ctx, o.endpoint)
	}
	return endpoint, nil
}

// relayLoop listens at an endpoint and responds to its requests.
type relayLoop struct {
	g         *globals
	c         *client.Client
	endpoint  string
	r         *receiver.Receiver
	announced sync.Once
}

// run listens over one connection after another until ctx ends or the server refuses. The
// connections overlap, so that an attempt always finds a client.
func (l *relayLoop) run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var requests errgroup.Group
	requests.SetLimit(relayAtOnce)
	defer requests.Wait() //nolint:errcheck // they return no errors
	var connections sync.WaitGroup
	defer connections.Wait()
	defer stop()
	for ctx.Err() == nil {
		began, ended := time.Now(), make(chan error, 1)
		connections.Go(func() {
			ended <- l.c.ListenEndpoint(ctx, l.endpoint, func(request *client.RelayRequest) {
				l.announced.Do(func() {
					say(l.g.err, "listening at the temporary endpoint %s of %s; stop with Ctrl-C\n", l.endpoint, l.g.server())
					say(l.g.err, "to continue after an interruption: gridhook listen%s --endpoint %s\n", l.g.orgFlag(), l.endpoint)
				})
				if request != nil {
					requests.Go(func() error { l.respond(ctx, request); return nil })
				}
			})
		})
		var err error
		select {
		case err = <-ended:
		case <-time.After(client.ListenTime - relayOverlap):
			continue
		}
		switch {
		case ctx.Err() != nil, err == nil && time.Since(began) > relayPause: // the end of a connection's time
			continue
		case err == nil:
		case !temporary(err):
			return err
		default:
			say(l.g.err, "connection lost, connecting again: %v\n", err)
		}
		periodic.Sleep(ctx, relayPause)
	}
	return nil
}

// respond handles a request and sends the response. The server reports a lost response as
// a timeout, and retries the request.
func (l *relayLoop) respond(ctx context.Context, request *client.RelayRequest) {
	ctx, cancel := context.WithTimeout(ctx, relayTimeout)
	defer cancel()
	response, responds, err := l.r.Relayed(ctx, request)
	if err == nil && responds {
		err = l.send(ctx, response)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		say(l.g.err, "response not sent: %v\n", err)
	}
}

// send sends a response. It retries until ctx ends, because a webhook that was handled
// would otherwise be repeated.
func (l *relayLoop) send(ctx context.Context, response client.RelayResponse) error {
	for {
		err := l.c.RespondEndpoint(ctx, l.endpoint, response)
		if err == nil || !temporary(err) {
			return err
		}
		pause := relayPause
		if refused, ok := errors.AsType[*client.Error](err); ok {
			pause = max(pause, time.Duration(refused.RetryAfterSeconds)*time.Second)
		}
		if periodic.Sleep(ctx, pause); ctx.Err() != nil {
			return err
		}
	}
}
