package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/events"
)

// RelayRequest is a webhook request that a client receives by listening.
type RelayRequest = events.RelayRequest

// RelayResponse is the response to a RelayRequest.
type RelayResponse = events.RelayResponse

// ListenTime is how long one connection of ListenEndpoint listens.
const ListenTime = 10 * time.Minute

// listenSilence is the time without a line, three times the server's interval, after which
// a connection counts as broken.
const listenSilence = 45 * time.Second

// ListenEndpoint receives the requests to an endpoint whose URL is relay:listen, over one
// connection of ListenTime. It calls each for each request, and with nil when the
// connection is established or idle. Respond to each request with RespondEndpoint. It
// returns nil when the server ends the connection.
func (c *Client) ListenEndpoint(ctx context.Context, id string, each func(*RelayRequest)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(listenSilence, func() { cancel(fmt.Errorf("the connection was silent for %s", listenSilence)) })
	defer silence.Stop()
	path := at("/v1/webhook/endpoints/{id}/listen", id)
	body, err := c.stream(ctx, path, strings.NewReader(fmt.Sprintf(`{"seconds":%d}`, int(ListenTime.Seconds()))))
	if err != nil {
		return errors.Join(err, silent(ctx))
	}
	defer body.Close() //nolint:errcheck // it was read to its end or is of no use
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxResponse)
	for lines.Scan() {
		silence.Reset(listenSilence)
		var line events.RelayLine
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return fmt.Errorf("read a line of %s: %w", path, err)
		}
		each(line.Request)
	}
	return errors.Join(lines.Err(), silent(ctx))
}

// silent returns why the client ended a silent connection, nil if it did not.
func silent(ctx context.Context) error {
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// RespondEndpoint sends the response to a request of ListenEndpoint. A response after the
// endpoint's timeout has no effect.
func (c *Client) RespondEndpoint(ctx context.Context, id string, r RelayResponse) error {
	_, err := Call[wire.Relayed](ctx, c, at("/v1/webhook/endpoints/{id}/respond", id), r)
	return err
}
