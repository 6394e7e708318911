package jetstream

import (
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
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
	client, err := north.ListenRelay(within(t), "acme", "ep")
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

// TestListenRelay_Fails leaves no subscription, which would take requests from the clients
// that listen.
func TestListenRelay_Fails(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	before := b.nc.NumSubscriptions()
	if _, err := b.ListenRelay(t.Context(), "acme", "ep"); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("without a deadline: %v", err)
	}
	if after := b.nc.NumSubscriptions(); after != before {
		t.Errorf("%d subscriptions, want %d", after, before)
	}
}

// TestRelaySubscription_Drain returns the requests that were received before Drain.
func TestRelaySubscription_Drain(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	client, err := b.ListenRelay(within(t), "acme", "ep")
	must(t, err)
	defer client.Close()
	for _, line := range []string{"1", "2"} {
		must(t, b.nc.Publish(b.relaySubject(relayRequestPrefix, "acme", "ep"), []byte(line)))
	}
	must(t, b.nc.Flush())
	client.Drain()
	for _, want := range []string{"1", "2"} {
		if line, err := client.Next(within(t)); err != nil || string(line) != want {
			t.Errorf("the request is %q, %v, want %q", line, err, want)
		}
	}
	if line, err := client.Next(within(t)); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %q, %v", line, err)
	}
}

// TestRelay_Memory checks that an attempt does not allocate the channel of a subscription
// with default limits. It must not run in parallel.
func TestRelay_Memory(t *testing.T) {
	b := newBus(t, t.TempDir())
	const attempts, most = 32, 128 << 10
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range attempts {
		if _, err := b.Relay(within(t), "acme", "ep", events.RelayRequest{}); !errors.Is(err, events.ErrNoRelayClient) {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / attempts; each > most {
		t.Errorf("an attempt allocates %d bytes, want at most %d", each, most)
	}
}
