package send

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"testing"

	"github.com/gridhook/gridhook/dispatcher/send/httpclient"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// relayed responds to relayed requests.
type relayed struct {
	request  events.RelayRequest
	response events.RelayResponse
	err      error
}

func (r *relayed) Relay(ctx context.Context, org, endpointID string, request events.RelayRequest) (events.RelayResponse, error) {
	if org != "acme" || endpointID != "ep_1" {
		return events.RelayResponse{}, errNotAllowed
	}
	r.request = request
	if errors.Is(r.err, context.DeadlineExceeded) {
		<-ctx.Done()
		return events.RelayResponse{}, ctx.Err()
	}
	return r.response, r.err
}

// TestSend_Relay passes on the headers and body of a request, and judges the response like
// a response by HTTP. The guard of this sender allows no private address.
func TestSend_Relay(t *testing.T) {
	for name, tt := range map[string]struct {
		relayed
		status   int
		response string
		class    events.ErrorClass
	}{
		"204":                   {relayed{response: events.RelayResponse{Status: 204}}, 204, "", ""},
		"500":                   {relayed{response: events.RelayResponse{Status: 500, Body: "broken"}}, 500, "broken", events.ErrorStatus},
		"nobody listens":        {relayed{err: events.ErrNoRelayClient}, 0, "", events.ErrorConnect},
		"no response in time":   {relayed{err: context.DeadlineExceeded}, 0, "", events.ErrorTimeout},
		"NATS does not respond": {relayed{err: storage.ErrUnavailable}, 0, "", events.ErrorResponse},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(Options{IdlePerDestination: 1, Relay: &tt.relayed})
			t.Cleanup(s.Close)
			timeout := patient
			if tt.class == events.ErrorTimeout {
				timeout = hasty
			}
			u, err := url.Parse(storage.RelayURL)
			if err != nil {
				t.Fatal(err)
			}
			d := &Destination{TargetOptions: httpclient.TargetOptions{Organization: "acme", URL: u, Header: http.Header{"X-Site": {"eu-1"}}}, EndpointID: "ep_1", Timeout: timeout}
			a := s.Send(t.Context(), d, &Request{ID: "msg_1", Headers: []Header{{Name: "Webhook-Id", Value: "msg_1"}}, Body: []byte("{}")})
			if a.Status != tt.status || a.Response != tt.response || a.ErrorClass() != tt.class {
				t.Errorf("the attempt is %+v, of class %q", a, a.ErrorClass())
			}
			got := tt.request
			if body, err := base64.StdEncoding.DecodeString(got.Body); err != nil || string(body) != "{}" || got.Headers["Webhook-Id"] != "msg_1" || got.Headers["X-Site"] != "eu-1" {
				t.Errorf("it relays %+v", got)
			}
		})
	}
}

// TestSend_RelayRetryAfter reads the header Retry-After of a relayed response.
func TestSend_RelayRetryAfter(t *testing.T) {
	s := New(Options{IdlePerDestination: 1, Relay: &relayed{response: events.RelayResponse{Status: 503, RetryAfter: "7"}}})
	t.Cleanup(s.Close)
	u, err := url.Parse(storage.RelayURL)
	if err != nil {
		t.Fatal(err)
	}
	a := s.Send(t.Context(), &Destination{TargetOptions: httpclient.TargetOptions{Organization: "acme", URL: u}, EndpointID: "ep_1", Timeout: patient}, &Request{ID: "msg_1"})
	if a.RetryAfter.Seconds() != 7 {
		t.Errorf("the attempt is %+v", a)
	}
}

// The sender keeps as much of a relayed response as the caller wants.
func TestSend_RelayedBody(t *testing.T) {
	u, err := url.Parse(storage.RelayURL)
	if err != nil {
		t.Fatal(err)
	}
	for status, want := range map[int]string{200: "1234", 299: "1234", 500: ""} {
		s := New(Options{IdlePerDestination: 1, Relay: &relayed{response: events.RelayResponse{Status: status, Body: "123456789"}}})
		a := s.Send(t.Context(), &Destination{TargetOptions: httpclient.TargetOptions{Organization: "acme", URL: u}, EndpointID: "ep_1", Timeout: patient}, &Request{ID: "msg_1", KeepResponse: 4})
		if string(a.Body) != want {
			t.Errorf("%d: the body is %q, want %q", status, a.Body, want)
		}
		s.Close()
	}
}
