package jetstream

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/gridhook/gridhook/events"
)

// TestRelay_Prefix passes a request and its response between the connections of one
// installation. Another installation on the same server, another organization and another
// endpoint have no client.
func TestRelay_Prefix(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	o := streamOptions
	o.Prefix = "north"
	north, err := Connect(within(t), "", o, discard, b.server.Option())
	must(t, err)
	defer north.Close()
	client, err := north.ListenRelay("acme", "ep")
	must(t, err)
	defer client.Close()
	go func() {
		line, err := client.Next(t.Context())
		if err != nil {
			return // the test ended, or its relay fails below
		}
		var got events.RelayLine
		if json.Unmarshal(line, &got) == nil {
			_ = north.RespondRelay("acme", "ep", events.RelayResponse{ID: got.Request.ID, Status: 202, Body: got.Request.Body})
		}
	}()
	for _, to := range []struct {
		conn          *Conn
		org, endpoint string
	}{
		{b.Conn, "acme", "ep"}, {north, "bolt", "ep"}, {north, "acme", "other"},
	} {
		if _, err := to.conn.Relay(within(t), to.org, to.endpoint, events.RelayRequest{}); !errors.Is(err, events.ErrNoRelayClient) {
			t.Errorf("%s/%s: %v, want no client", to.org, to.endpoint, err)
		}
	}
	if r, err := north.Relay(within(t), "acme", "ep", events.RelayRequest{Body: "e30="}); err != nil || r.Status != 202 || r.Body != "e30=" {
		t.Errorf("the response is %+v, %v", r, err)
	}
}
