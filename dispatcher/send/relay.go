package send

import (
	"context"
	"encoding/base64"
	"net/http"

	"github.com/gridhook/gridhook/dispatcher/send/httpclient"
	"github.com/gridhook/gridhook/events"
)

// Relay passes requests to the clients that listen at relay endpoints.
type Relay interface {
	// Relay returns a client's response. Errors: events.ErrNoRelayClient, the error of ctx,
	// storage.ErrUnavailable.
	Relay(ctx context.Context, org, endpointID string, r events.RelayRequest) (events.RelayResponse, error)
}

// relay passes a request with the same headers and body as by HTTP.
func (s *Sender) relay(ctx context.Context, d *Destination, r *httpclient.Request) (*httpclient.Response, error) {
	ctx, cancel := context.WithDeadline(ctx, r.Deadline)
	defer cancel()
	relayed := events.RelayRequest{Headers: map[string]string{}, Body: base64.StdEncoding.EncodeToString(r.Body)}
	for name := range d.Header {
		relayed.Headers[name] = d.Header.Get(name)
	}
	for _, h := range r.Headers {
		relayed.Headers[h.Name] = h.Value
	}
	response, err := s.opt.Relay.Relay(ctx, d.Organization, d.EndpointID, relayed)
	if err != nil {
		return nil, err
	}
	kept := r.Keep.Failure
	if response.Status < 300 { // never below 200
		kept = r.Keep.Success
	}
	return &httpclient.Response{
		Status: response.Status, Header: http.Header{"Retry-After": {response.RetryAfter}}, Body: []byte(response.Body[:min(kept, len(response.Body))]),
	}, nil
}
