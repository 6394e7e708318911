package jetstream

import (
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// TestResolve_DroppedRequest checks that a request that NATS drops, as it does while a stream
// has no leader, delays the start by one attempt only.
func TestResolve_DroppedRequest(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	var requests atomic.Int64
	forward := func(m *nats.Msg) {
		if requests.Add(1) > 1 {
			_ = b.nc.PublishRequest("$JS.API.STREAM.INFO."+m.Subject[len("lossy.STREAM.INFO."):], m.Reply, m.Data) // without a response it is repeated
		}
	}
	if _, err := b.nc.Subscribe("lossy.STREAM.INFO.*", forward); err != nil {
		t.Fatal(err)
	}
	lossy, err := jetstream.NewWithAPIPrefix(b.nc, "lossy")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = Resolve(within(t), lossy, Options{}); err != nil {
		t.Fatalf("%v", err)
	}
	if n := requests.Load(); n != 5 {
		t.Errorf("%d requests, want 5 for 4 streams, because the first was dropped", n)
	}
}
