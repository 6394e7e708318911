package embedded_test

import (
	"context"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"
)

// A client continues after a restart without errors, with the stored data.
func TestServer_RestartUnderClient(t *testing.T) {
	defer goleak.VerifyNone(t)
	s := start(t, t.TempDir())
	defer stop(t, s)
	reconnected := make(chan struct{}, 1)
	nc, err := nats.Connect("", s.Option(), nats.MaxReconnects(-1),
		nats.ReconnectHandler(func(*nats.Conn) { reconnected <- struct{}{} }))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}}); err != nil {
		t.Fatal(err)
	}
	for round := uint64(1); round <= 3; round++ {
		ack, err := js.Publish(ctx, "s", nil)
		if err != nil || ack.Sequence != round {
			t.Fatalf("round %d: stored as %+v, %v", round, ack, err)
		}
		if err := s.Healthy(); err != nil {
			t.Fatal(err)
		}
		if err := s.Restart(patience); err != nil {
			t.Fatal(err)
		}
		select {
		case <-reconnected:
		case <-ctx.Done():
			t.Fatal("the client did not connect again")
		}
	}
}
