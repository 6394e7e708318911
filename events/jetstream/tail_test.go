package jetstream

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/events"
)

// While one message is decoded, the client reconnects, replaces its consumer and passes a later
// message. The first message is neither lost nor applied last.
func TestTail_ReplacedConsumer(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	nc, err := nats.Connect("", b.server.Option())
	must(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	must(t, err)
	publish := func(body string) {
		t.Helper()
		_, err := js.Publish(within(t), feedbackPrefix+body, []byte(body))
		must(t, err)
	}
	decoding, decode, applied := make(chan string, 1), make(chan struct{}), make(chan string, 100)
	var once sync.Once
	slow := func(m jetstream.Msg) (string, error) {
		once.Do(func() {
			decoding <- string(m.Data())
			<-decode
		})
		return string(m.Data()), nil
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- tail(ctx, b.Conn, feedbackStream, start{}, 0, slow, func(batch []events.Sequenced[string]) error {
			for _, m := range batch {
				applied <- m.Value
			}
			return nil
		})
	}()
	publish("first")
	receive(t, decoding)
	b.wire.cut() // the client replaces its consumer
	publish("second")
	<-time.After(2 * nakDelay) // in which the second may be passed
	close(decode)
	publish("third")
	var got []string
	for len(got) == 0 || got[len(got)-1] != "third" {
		got = append(got, receive(t, applied))
	}
	stop()
	must(t, receive(t, done))
	first, second := -1, -1 // where they were applied last
	for i, body := range got {
		switch body {
		case "first":
			first = i
		case "second":
			second = i
		}
	}
	if first < 0 || second < first {
		t.Errorf("applied %v", got)
	}
}

// The server ends the consumer of a followed stream, as a server that restarts does. The tail
// goes on without a gap.
func TestTail_ConsumerGone(t *testing.T) {
	t.Parallel()
	b := newBus(t, t.TempDir())
	applied := make(chan uint64, 100)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- b.TailReceipts(ctx, 0, func(batch []events.Sequenced[events.Receipt]) error {
			for i := range batch {
				applied <- batch[i].Sequence
			}
			return nil
		})
	}()
	s, err := b.handle(within(t), receiptsStream)
	must(t, err)
	for want := uint64(1); want <= 3; want++ {
		must(t, b.PutReceipt(within(t), newReceipt(newTrigger("org"), "s0")))
		if got := receive(t, applied); got != want {
			t.Fatalf("applied receipt %d, want %d", got, want)
		}
		for name := range s.ConsumerNames(within(t)).Name() {
			must(t, s.DeleteConsumer(within(t), name))
		}
	}
	stop()
	must(t, receive(t, done))
}
