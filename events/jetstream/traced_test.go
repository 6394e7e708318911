package jetstream

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/gridhook/gridhook/events"
)

// TestMessages_Traceparent checks the traceparent header of every message that follows
// from a trigger. Without a trace there is no header.
func TestMessages_Traceparent(t *testing.T) {
	t.Parallel()
	for _, place := range []events.Traceparent{"", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"} {
		t.Run(string(place), func(t *testing.T) {
			t.Parallel()
			b := newBus(t, t.TempDir())
			tr := newTrigger("org")
			tr.Traceparent = place
			seen := make(chan *nats.Msg, 9)
			for _, subject := range []string{triggerPrefix + ">", workPrefix + ">", retryWaitPrefix + ">"} {
				sub, err := b.nc.ChanSubscribe(subject, seen)
				must(t, err)
				defer sub.Unsubscribe()
			}
			_, err := b.Accept(within(t), tr)
			must(t, err)
			once := newTrigger("org")
			once.Traceparent, once.IdempotencyKey = place, "key"
			_, err = b.Accept(within(t), once)
			must(t, err)
			must(t, b.PutSlice(within(t), events.Slice{Trigger: tr}))
			must(t, putRetries(t, b, []events.Retry{newRetry(tr, 1, time.Now(), "home_1")}))
			for range 4 {
				told(t, receive(t, seen), place)
			}
			got := make(chan events.Retry, 1)
			consuming(t, b, func(ctx, taking contextT) error {
				return b.ConsumeRetries(ctx, taking, 1, func(_ contextT, r events.Retry, _ events.Taken) error {
					got <- r
					return nil
				})
			})
			if r := receive(t, got); r.Trigger.Traceparent != place {
				t.Errorf("traceparent of the consumed retry is %q", r.Trigger.Traceparent)
			}
		})
	}
}

func told(t *testing.T, m *nats.Msg, want events.Traceparent) {
	t.Helper()
	if got := m.Header.Get(events.TraceHeader); got != string(want) {
		t.Errorf("traceparent of %s is %q", m.Subject, got)
	}
}
