package events

import (
	"context"
	"errors"
)

// RelayLine is a line of the response to a client that listens at a relay endpoint.
type RelayLine struct {
	Request *RelayRequest `json:"request" doc:"The next request to the endpoint. null while there is none: such lines come at the beginning, and when the connection is idle."`
}

// RelayRequest is a webhook request to a relay endpoint.
type RelayRequest struct {
	ID      string            `json:"id" doc:"The identifier of the request, for the response."`
	Headers map[string]string `json:"headers" doc:"The headers of the webhook, with its signature." example:"{\"Webhook-Id\":\"msg_1\"}"`
	Body    string            `json:"body" doc:"The base64 of the webhook's body." example:"e30="`
}

// RelayResponse is a client's response to a relayed webhook request.
type RelayResponse struct {
	_ struct{} `required:"id,status"`

	ID         string `json:"id" pattern:"id" doc:"The identifier of the request."`
	Status     int    `json:"status" minimum:"200" maximum:"599" doc:"The HTTP status of the response." example:"204"`
	RetryAfter string `json:"retryAfter" maxLength:"64" nullable:"false" doc:"The header Retry-After of the response, empty for none." example:""`
	Body       string `json:"body" maxLength:"65536" nullable:"false" doc:"The body of the response." example:""`
}

// ErrNoRelayClient says that no client listens at a relay endpoint.
var ErrNoRelayClient = errors.New("no client listens at the relay endpoint: run gridhook listen")

// RelaySubscription receives the requests to a relay endpoint. Several subscriptions share
// the requests.
type RelaySubscription interface {
	// Next waits for the next request and returns its RelayLine as JSON. Errors: the
	// error of ctx, io.EOF after Drain and the last request, storage.ErrUnavailable.
	Next(ctx context.Context) ([]byte, error)
	// Drain stops the subscription from receiving. Next returns the requests that are here.
	Drain()
	// Close ends the subscription. Requests without a response time out.
	Close()
}
